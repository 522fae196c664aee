// Algorithms by name: what a scenario's "algorithm" can be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/worker.hpp"
#include "analysis/step_models.hpp"
#include "app/all_reduces.hpp"
#include "app/mixings.hpp"
#include "app/object_reader.hpp"
#include "app/optimizer.hpp"

namespace paceline {

/// What an algorithm must have of its mixing for workers to come to agree. Told, never demanded.
enum class MixingNeed {
    none,
    symmetric_and_static,
    least_eigenvalue_above_minus_third,  // and symmetric and static
};

/// What becomes of a run when a worker dies (algorithms/failures.hpp).
enum class WhenNodesDie : std::uint8_t {
    cannot_go_on,     // all restart, or nothing goes on
    reruns_replicas,  // collectives are run again by those left; the model is equal on all
    reruns_models,    // collectives are run again by those left; models are their own
    renormalizes,     // averages are of the neighbors that are there
    skips,            // exchanges with who is away do not take place
    server_goes_on,   // a server does with those that are there
};

/// An algorithm whose options have been read and checked.
struct AlgorithmChoice {
    std::string label;
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};  // of each server, if it has any of its own
    WireFormat wire = fp32;
    std::optional<Bytes> bucket;  // of the gradient; empty: one
    MixingChoice mixing;          // of a decentralized algorithm
    MixingNeed mixing_need = MixingNeed::none;
    int server_nodes = 0;                // nodes it needs beside the workers'
    int sends_at_once = 0;               // messages of a worker that set out together, beyond one
    bool meets_everybody = false;        // every worker sends to every other one in time
    bool needs_epochs = false;           // its options are stated in epochs
    bool trains = true;                  // has a use for values
    bool decays_by_itself = false;       // weight decay is its own, and not in the gradient
    bool looks_ahead_and_clips = false;  // takes "nesterov" and "clip" of the optimizer
    /// Bytes of one worker's contribution to a (final) step, before aggregation.
    std::function<Bytes(const Layout&)> contribution;
    /// Closed form of step k on an idle network, where one is known.
    std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k, double epoch)>
        model_step;
    /// Messages of step k, among all workers.
    std::function<std::int64_t(const StepModelInput&, std::int64_t k)> messages;
    /// Steps of one stage, which lie behind one another, cost the same, or the same as those a
    /// period before.
    std::function<double(std::int64_t k, double epoch)> stage = [](std::int64_t, double) {
        return 0.0;
    };
    std::int64_t period = 1;  // of steps
    WhenNodesDie when_nodes_die = WhenNodesDie::cannot_go_on;
    double computing = 1;  // share of the workers that compute in a step
};

/// What the options of an algorithm depend on.
struct AlgorithmInput : WorkerShape {
    Optimizer optimizer{};  // of runs that train
};

struct AlgorithmEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    AlgorithmChoice (*read)(const ObjectReader& read, const AlgorithmInput& in);
};

std::span<const AlgorithmEntry> algorithm_table();
Keys warm_up_keys();

/// The algorithm's own "optimizer", if it has one.
std::optional<Place> algorithm_optimizer(const Place& algorithm);

AlgorithmChoice read_algorithm(const Place& place, const AlgorithmInput& in);

}  // namespace paceline
