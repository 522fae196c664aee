// Partitions the training samples among nodes, one shard each.
//
// Every sample 0 .. samples-1 is in exactly one shard. Shard sizes differ by at most one sample,
// and the first shards are the larger ones, except with partition_dirichlet and partition_by_group.
// Two families range
// from alike to unlike: iid, partly shuffled with a share s, label-sorted; and Dirichlet with alpha
// from infinity to 0. Data that are in a meaningful order of their own may be partitioned
// contiguously.
//
// All functions require nodes >= 1 and at least as many samples as nodes.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "sim/engine/random.hpp"

namespace paceline {

using Shards = std::vector<std::vector<int>>;

/// Returns shards that are uniform random choices.
Shards partition_iid(int samples, int nodes, RandomStream& stream);

/// Returns blocks in the order of the samples.
Shards partition_contiguous(int samples, int nodes);

/// Returns blocks of the samples sorted by label, in their order within a label. A shard then holds
/// few labels.
Shards partition_label_sorted(const Eigen::VectorXi& labels, int nodes);

/// Distributes a random share of the samples as iid and the rest as label-sorted. Requires share in
/// [0, 1]: 0 is label-sorted, 1 is iid.
Shards partition_partly_shuffled(const Eigen::VectorXi& labels, int nodes, double share,
                                 RandomStream& stream);

/// Distributes the samples of each label at random over the nodes, in shares drawn from
/// Dirichlet(alpha, ..., alpha) (Yurochkin et al., "Bayesian Nonparametric Federated Learning of
/// Neural Networks", ICML 2019, section 4). A share of one label has mean 1/n and variance (1/n)(1
/// - 1/n)/(n alpha + 1), so shard sizes differ more for smaller alpha. A node that is left without
/// samples then takes one from the largest shard. Requires labels >= 0 and alpha > 0.
Shards partition_dirichlet(const Eigen::VectorXi& labels, int nodes, double alpha,
                           RandomStream& stream);

/// Gives node i the groups i, i + nodes, i + 2 nodes, .. whole, in the order of the samples.
/// Requires groups 0, 1, .., each with a sample, and at least as many groups as nodes.
Shards partition_by_group(std::span<const int> groups, int nodes);

}  // namespace paceline
