// Closed forms for one training step on an idle network: computation, then the algorithm's
// exchange, then the optimizer's update.
//
// These are predictions to compare with simulated step times. They assume that all workers begin
// the step together. If workers leave a collective at different times (groups that are not a power
// of two), consecutive steps overlap a little, and the simulated step can be shorter. Known for
// workers on a star, and for the ring and the hierarchical all-reduce over machines with several
// devices on a star. Empty otherwise, and for several broadcasts in a row, which run into each
// other.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/runtime/wire_format.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "analysis/forms/idle_network.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline {

struct AggregationPlan;
struct CollectiveOptions;
struct DgcOptions;
struct GradientDroppingOptions;

/// Returns the time of copying `in` to the host and `out` back, by all workers of a machine of n; 0
/// for n = 1.
Duration staging_time(int n, Bytes in, Bytes out, const IdleNetwork& network);

/// What the step models need to know about a run.
struct StepModelInput {
    int workers;
    IdleNetwork network;
    StepTiming timing;  // of one gradient
    Duration update;    // of the optimizer
    LayoutPtr layout;
    WireFormat wire;
};

std::optional<Duration> all_reduce_time(AllReducePlan plan, int n, Bytes size,
                                        const IdleNetwork& network);
std::optional<Duration> all_gather_time(AllGather how, int n, Bytes block,
                                        const IdleNetwork& network);
/// Returns the time of an all-to-all of equal blocks; empty where the workers are not on one star
/// or bus.
std::optional<Duration> all_to_all_time(AllToAll how, int n, Bytes block,
                                        const IdleNetwork& network);

std::optional<Duration> collective_step_time(const CollectiveOptions& options,
                                             const StepModelInput& in);
/// A dense gradient, whole and after backward.
std::optional<Duration> dense_step_time(AllReducePlan plan, const StepModelInput& in);
/// Returns the step time of a decentralized algorithm that sends `vectors` vectors to each
/// neighbor, after the gradient or (`beside`) concurrently with it: T1 + L + d v t(S), or the
/// longer of T1 and the rest, where d is the degree. Known if all workers have the same degree,
/// both ways, in this step and in those before it.
std::optional<Duration> neighbor_step_time(const Mixing& mixing, int vectors, bool beside,
                                           const StepModelInput& in);
/// Returns the time of an exchange of sparse messages among n workers: sparse, or dense where that
/// is less.
std::optional<Duration> sparse_travel_time(const DgcOptions& options,
                                           const AggregationPlan& aggregation, double density,
                                           const Layout& layout, int n, const IdleNetwork& network);
/// Returns whether n workers exchange dense vectors at this density (sparse_forms.hpp).
bool form_exchanges_dense(const DgcOptions& options, const AggregationPlan& aggregation,
                          const Layout& layout, double density, int n);
std::optional<Duration> gradient_dropping_step_time(const GradientDroppingOptions& options,
                                                    std::int64_t step, const StepModelInput& in);

}  // namespace paceline
