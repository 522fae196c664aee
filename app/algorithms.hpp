// Algorithms by name: what a scenario's "algorithm" can be.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/worker.hpp"
#include "analysis/step_models.hpp"
#include "app/all_reduces.hpp"
#include "app/object_reader.hpp"

namespace paceline {

/// An algorithm whose options have been read and checked.
struct AlgorithmChoice {
    std::string label;
    std::function<Task<>(Worker&)> run;
    WireFormat wire = fp32;
    std::optional<Bytes> bucket;     // of the gradient; empty: one
    std::function<Mixing()> mixing;  // of a decentralized algorithm, else empty
    int server_nodes = 0;            // nodes it needs beside the workers'
    int servers_at_once = 0;         // to whom every worker sends at the same time
    bool meets_everybody = false;    // every worker sends to every other one in time
    bool needs_epochs = false;       // its options are stated in epochs
    /// Bytes of one worker's contribution to a (final) step, before aggregation.
    std::function<Bytes(const Layout&)> contribution;
    /// Closed form of step k on an idle network, where one is known.
    std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k, double epoch)>
        model_step;
    /// Messages of step k, among all workers.
    std::function<std::int64_t(const StepModelInput&, std::int64_t k)> messages;
    /// Steps of equal closed form have equal stages.
    std::function<double(std::int64_t k, double epoch)> stage;
};

struct AlgorithmEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    AlgorithmChoice (*read)(const ObjectReader& read, const WorkerShape& shape);
};

std::span<const AlgorithmEntry> algorithm_table();
Keys warm_up_keys();

AlgorithmChoice read_algorithm(const Place& place, const WorkerShape& shape);

}  // namespace paceline
