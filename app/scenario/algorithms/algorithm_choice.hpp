// An algorithm as a scenario chose it: what a run needs of it, and what reports say about it.
//
// Everything that runs a scenario includes this header, so it only declares what an algorithm runs
// on. The readers of the families include the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/runtime/kept_bytes.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Layout;
class Worker;
struct StepModelInput;

/// What an algorithm requires of its mixing for the workers to reach consensus. A violation causes
/// a warning, never an error.
enum class MixingNeed : std::uint8_t {
    none,
    symmetric_and_static,
    least_eigenvalue_above_minus_third,  // and symmetric and static
    strongly_connected,                  // for push-sum, on any directed graph
};

/// What happens to a run when a worker dies (algorithms/lives/failures.hpp).
enum class WhenNodesDie : std::uint8_t {
    cannot_go_on,     // all nodes restart, or the run ends
    reruns_replicas,  // the survivors rerun collectives; the model is the same on all
    reruns_models,    // the survivors rerun collectives; each worker has its own model
    renormalizes,     // averages cover the neighbors that are present
    loses_shares,     // shares go to the neighbors that are present; those of the dead are lost
    skips,            // exchanges with absent workers do not take place
    server_goes_on,   // a server continues with the workers that are present
};

/// What holds for an algorithm whatever its options are.
struct AlgorithmTraits {
    WhenNodesDie when_nodes_die = WhenNodesDie::cannot_go_on;
    MixingNeed mixing_need = MixingNeed::none;
    bool trains = true;             // can make use of values
    bool has_server = false;        // always has a server, on a node of its own
    bool runs_freely = false;       // its workers need not take equally many steps
    bool decays_by_itself = false;  // applies weight decay itself, not in the gradient
    bool supports_nesterov_and_clipping = false;  // supports the optimizer's "nesterov" and "clip"
};

/// An algorithm whose options have been read and checked. `read_algorithm` sets its traits.
struct AlgorithmChoice : AlgorithmTraits {
    std::string label;
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};  // run by each server, for algorithms with server code
    WireFormat wire = fp32;
    bool wire_is_default = false;               // it has a "wire", and the scenario leaves it out
    std::optional<Bytes> bucket;                // bucket size of the gradient; empty: one bucket
    bool merges_pieces = false;                 // buckets are merged by MG-WFBP's rule
    std::optional<ExchangeOptions> exchange{};  // of methods that choose one
    std::string_view why_survivors_cannot_go_on{};  // with that exchange; empty: they can
    std::optional<AllReducePlan> all_reduce{};      // flat, of all workers
    bool goes_around = false;         // vectors pass from each machine to the next, in a ring
    bool names_hierarchy = false;     // its all-reduce is "hierarchical"
    bool could_have_leaders = false;  // that exchange is flat, and could go by machine
    std::vector<std::vector<int>> islands{};  // the devices of each; empty: none
    bool islands_keep_shards = false;         // their devices keep the model in shards
    MixingChoice mixing;                      // set by decentralized algorithms
    int server_nodes = 0;                     // nodes it needs besides the workers'
    bool has_rings_of_cards = false;  // its collectives have a ring for each card of a machine
    int sends_at_once = 0;            // messages that a worker sends at once, beyond one
    bool is_replicated = false;       // its options make the model equal on all workers
    bool meets_everybody = false;     // over time, every worker sends to every other worker
    bool averages_all = false;        // besides its mixing, it averages all workers now and then
    bool needs_epochs = false;        // its options are stated in epochs
    bool ends_in_flight = false;  // a run ends with messages on their way, whose time no step has
    /// Returns the bytes that one worker contributes to step k, before aggregation; where steps of
    /// a stage differ, their mean over a period.
    std::function<Bytes(const Layout&, std::int64_t k, double epoch)> contribution;
    /// Returns the closed form of step k on an idle network, where one is known.
    std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k, double epoch)>
        model_step;
    /// Returns the number of messages of step k, over all workers; empty: it is not known.
    std::function<std::int64_t(const StepModelInput&, std::int64_t k)> messages;
    /// Returns the stage that step k belongs to. Steps within a stage are contiguous. They all cost
    /// the same, or their cost repeats every `period` steps.
    std::function<double(std::int64_t k, double epoch)> stage = [](std::int64_t, double) {
        return 0.0;
    };
    std::int64_t period = 1;  // in steps, the longest of all stages
    /// Returns the period of the stage of step k; empty: `period` in all stages.
    std::function<std::int64_t(std::int64_t k)> period_at{};
    /// Returns the closed form of step k if it exchanged all tensors as one; empty if it does, or
    /// if there is no such option.
    std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k)> fused_step{};
    /// Vectors in fp32 that optimizer and codec keep on a device (analysis/forms/memory_forms.hpp);
    /// empty: not known.
    std::optional<double> kept{};
    /// Returns what parameters, gradient and optimizer take on a device, if it is not what
    /// follows from `kept`.
    std::function<KeptBytes(const StepModelInput&)> memory{};
    /// Of `collective`: returns the bus bandwidth, as nccl-tests define it, as a share of the bytes
    /// of the collective per second.
    std::function<double(int workers)> bus_share{};
    /// The least share of its entries that a sparse method sends; 1: not sparse.
    double least_density = 1;
    /// Vectors of the model's size that each worker holds where it trains: models, momenta,
    /// gradients and messages on their way. `read_algorithm` sets that of its family if the reader
    /// does not.
    std::optional<double> vectors{};
    double computing = 1;  // share of the workers that compute in a step
    bool encodes = false;  // workers send a code of their own, which is meant to weigh less than a
                           // dense gradient; codecs of `exchange` know theirs
};

}  // namespace paceline
