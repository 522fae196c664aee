// Who trains on what: the training samples dealt to nodes, one shard each.
//
// Every sample 0 .. samples-1 is in exactly one shard. Shards are of equal size to within one
// sample, the first ones being the larger, except those of partition_dirichlet. From alike to
// unlike: iid, partly shuffled with a share s, label-sorted; or Dirichlet with alpha from infinity
// to 0. The rest of a file that is in an order of its own may be dealt contiguously.
//
// All require nodes >= 1 and as many samples as nodes.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "sim/engine/random.hpp"

namespace paceline {

using Shards = std::vector<std::vector<int>>;

/// Every shard is a uniform random choice.
Shards partition_iid(int samples, int nodes, RandomStream& stream);

/// Blocks in the order of the samples.
Shards partition_contiguous(int samples, int nodes);

/// Blocks of the samples sorted by label, in their order within a label: a shard holds few labels.
Shards partition_label_sorted(const Eigen::VectorXi& labels, int nodes);

/// A share of the samples, chosen at random, is dealt as iid; the rest as label-sorted.
/// Requires share in [0, 1]: 0 is label-sorted, 1 is iid.
Shards partition_partly_shuffled(const Eigen::VectorXi& labels, int nodes, double share,
                                 RandomStream& stream);

/// For every label its samples are dealt at random in shares over the nodes that are drawn from
/// Dirichlet(alpha, ..., alpha) (Yurochkin et al., "Bayesian Nonparametric Federated Learning of
/// Neural Networks", ICML 2019, section 4). A share of one label has mean 1/n and variance
/// (1/n)(1 - 1/n)/(n alpha + 1), so shards differ in size, the more the smaller alpha; a node left
/// without any then takes one sample of the largest shard. Requires labels >= 0 and alpha > 0.
Shards partition_dirichlet(const Eigen::VectorXi& labels, int nodes, double alpha,
                           RandomStream& stream);

}  // namespace paceline
