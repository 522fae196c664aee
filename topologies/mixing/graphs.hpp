// Graphs of decentralized averaging, and the weights on them.
//
//   graph          neighbors of a node                                    degree
//   star           everybody the first node, the first node everybody    1, n-1
//   grid           those beside it in a rectangle of rows x columns       2 to 4
//   torus          the same, with the sides joined                        up to 4
//   hypercube      n = 2^m; those whose number differs in one bit         m
//   exponential    directed: node i listens to i - 2^k mod n, 2^k < n     ceil(log2 n)
//   symmetric exponential   i +- 4^k mod n, 4^k <= n/2                    up to 2 ceil(log4 n)
//   (ring and complete: mixing.hpp)
//
// Weights: Metropolis-Hastings on undirected graphs, w_ij = 1 / (1 + max(d_i, d_j)), the rest to
// w_ii: symmetric and doubly stochastic whatever the graph; on regular graphs it is 1 / (d+1). The
// directed exponential has 1 / (d+1), doubly stochastic because every node has as many listeners.
// Uniform weights 1 / (d+1) on other graphs (star, grid) are what some frameworks do by default:
// their columns do not sum to 1, and averaging does not keep the mean.
// `lazy` halves the way: (I + W) / 2, whose eigenvalues are not negative.
//
// Second largest |eigenvalue|: star 1 - 1/n; exponential (n even) and hypercube 1 - 2/(1 +
// ceil(log2 n)). All are the node itself for n = 1. Sources: Xiao, Boyd, Systems & Control Letters
// 53, 2004 (weights); Ying et al., NeurIPS 2021 (exponential graphs); symmetric exponential:
// BlueFog's SymmetricExponentialGraph, base 4.
#pragma once

#include <vector>

#include "topologies/mixing/mixing.hpp"

namespace paceline {

/// Metropolis-Hastings weights. neighbors[i]: those of node i, without itself. Requires that
/// neighbors are mutual.
Mixing metropolis_hastings(const std::vector<std::vector<int>>& neighbors);

/// 1 / (d+1) for a node itself and each of those it listens to in `graph`, whose own weights do not
/// matter.
Mixing uniform_weights(const Mixing& graph);

/// The column of W whose sum is farthest from 1, and its sum.
struct ColumnSum {
    int column;
    double sum;
};
ColumnSum worst_column(const Mixing& mixing);

/// Whether w_ij = w_ji exactly.
bool is_symmetric(const Mixing& mixing);

/// (I + W) / 2
Mixing lazy(const Mixing& mixing);

Mixing make_star_mixing(int nodes);
/// Requires that rows x columns is the number of nodes one wants.
Mixing make_grid_mixing(int rows, int columns);
Mixing make_torus_mixing(int rows, int columns);
/// Requires a power of two.
Mixing make_hypercube_mixing(int nodes);
Mixing make_exponential_mixing(int nodes);
Mixing make_symmetric_exponential_mixing(int nodes);

/// The number of rows that makes n nodes a rectangle closest to a square: its largest divisor up to
/// the root of n.
int rows_for(int nodes);

}  // namespace paceline
