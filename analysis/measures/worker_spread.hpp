// How unevenly the workers of a job are loaded: quantiles over its workers of what each of them
// sends, receives, computes and spends on transfers in a whole run. A mean hides the phone on the
// slow plan.
//
//   symbol    meaning
//   sent_i, received_i   bytes of worker i, from the network's own counts
//   computing_i          time that it computes                  } of its account
//   transfer_i           time that it waits for the network     } (algorithms/runtime/time_use.hpp)
//
// A quantile of n values x_(0) <= ... <= x_(n-1) at p lies at place p (n - 1), by a straight line
// between the two values beside it: Hyndman and Fan's definition 7 (The American Statistician 50,
// 1996), the default of numpy.quantile. The sum over workers of bytes is that of total_sent_gb.
//
// Limits: a worker counts as its account says. A client that no round has drawn has nothing of all
// four.
#pragma once

#include <vector>

#include "sim/network/network_part.hpp"

namespace paceline {

class Cluster;
class Simulation;

struct Quantiles {
    double p10 = 0;
    double p50 = 0;
    double p90 = 0;
    double max = 0;
};

/// Returns the quantiles of these values. Requires one or more.
[[nodiscard]] Quantiles quantiles_of(std::vector<double> values);

struct WorkerSpread {
    Quantiles sent_gb;  // 1e9 bytes
    Quantiles received_gb;
    Quantiles computing_s;
    Quantiles transfer_s;
};

/// Returns the quantiles over the workers of a job whose run is over.
[[nodiscard]] WorkerSpread spread_over_workers(const Simulation& simulation, NetworkPart network,
                                               const Cluster& cluster);

}  // namespace paceline
