// What nodes of different kinds compute: the samples of a gradient and how long it takes.
//
//   "cluster":  {"classes": [{"nodes": [2, 3], "device": "rtx-2080-ti", "efficiency": 0.3,
//                             "batch": 200, "device_memory": "11GB"}]}
//   "workload": {"batch": 300, "weigh": "samples", ...}         stated batches
//   "workload": {"batch": "by speed", "global_batch": 1000, ...}     batches that end together
//
// A class says how long its gradients take in the workload's own words ("device" with "efficiency"
// and "precision", "step_time" or "gradient_time"). One that does not is timed as the workload,
// with its batch. A time that is one number holds for one batch; {"floor": .., "per_sample": ..}
// and devices that were measured with two batches hold for any.
//
// "by speed" splits the samples G of all gradients in a step into whole numbers b_i >= 1, one for
// each of n workers, such that the last one to finish finishes first:
//
//   minimize max_i t_i(b_i)   subject to   sum_i b_i = G,     t_i(b) = time of b samples / speed_i
//
// t_i grows with b, so the least time T that does it is the least one with sum_i b_i(T) >= G, where
// b_i(T) is the most that i computes in T. It is found by bisection in picoseconds. What is beyond
// G then is taken, a sample each, from those of the highest rank that need all of T. Equal batches,
// which differ by a sample at most, are kept if they are no slower.
//
// The mean gradient of a step weighs workers, sum_i g_i / n, as frameworks do by default, or
// samples, sum_i b_i g_i / sum_i b_i: then the loss of worker i, without decay, is multiplied by
// n b_i / G. Methods that average something else than gradients train on these losses. Signs and
// the steps of Adam do not see a factor of a local gradient.
#pragma once

#include <optional>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/workload/workload.hpp"

namespace paceline {

/// Fills in what `cluster.classes` say of the workload, and splits its batch by speed. Requires
/// that the workload and the cluster's speeds have been read. `time_of` is that of the workload.
/// Throws ConfigError.
void read_class_work(const Place& cluster_text, const Place& workload_text,
                     const GradientTime& time_of, std::uint64_t seed, ClusterChoice& cluster,
                     Workload& workload);

}  // namespace paceline
