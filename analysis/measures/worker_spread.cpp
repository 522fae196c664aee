#include "analysis/measures/worker_spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "algorithms/runtime/cluster.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

namespace {

double gb(Bytes bytes) {
    return static_cast<double>(bytes.count) * 1e-9;
}

double quantile(const std::vector<double>& sorted, double p) {
    const double place = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Quantiles quantiles_of(std::vector<double> values) {
    PACELINE_CHECK(!values.empty(), "nothing has no quantiles");
    std::ranges::sort(values);
    return {.p10 = quantile(values, 0.1),
            .p50 = quantile(values, 0.5),
            .p90 = quantile(values, 0.9),
            .max = values.back()};
}

WorkerSpread spread_over_workers(const Simulation& simulation, NetworkPart network,
                                 const Cluster& cluster) {
    const auto of_workers = [&](auto value) {
        std::vector<double> values;
        for (int rank = 0; rank < cluster.workers(); ++rank) values.push_back(value(rank));
        return quantiles_of(std::move(values));
    };
    const Time end = simulation.now();
    return {
        .sent_gb = of_workers([&](int i) { return gb(network.traffic(i).sent); }),
        .received_gb = of_workers([&](int i) { return gb(network.traffic(i).received); }),
        .computing_s =
            of_workers([&](int i) { return to_seconds(cluster.time_use(i).computed()); }),
        .transfer_s = of_workers(
            [&](int i) { return to_seconds(cluster.time_use(i).waited_for_network(end)); }),
    };
}

}  // namespace paceline
