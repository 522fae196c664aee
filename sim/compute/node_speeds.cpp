#include "sim/compute/node_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/random/uniform_01.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

// Returns a uniform draw in [0, 1).
double uniform(RandomStream& random) {
    return boost::random::uniform_01<double>()(random);
}

// Draws once per node.
template <class Draw>
std::vector<double> draw_each(int nodes, RandomStreams streams, Draw draw) {
    std::vector<double> drawn;
    for (int node = 0; node < nodes; ++node) {
        RandomStream random = streams.stream("node speeds", static_cast<std::uint64_t>(node));
        drawn.push_back(draw(random));
    }
    return drawn;
}

double draw_jitter(Jitter jitter, RandomStream& random) {
    const double p = jitter.parameter;
    switch (jitter.law) {
        case JitterLaw::normal:
            for (;;) {
                const double factor = 1 + p * draw_normal(random);
                if (factor > 0 && factor < 2) return factor;
            }
        case JitterLaw::log_normal:
            return elementary::exp(p * draw_normal(random) - p * p / 2);
        case JitterLaw::exponential:
            return 1 + p * draw_exponential(random);
        case JitterLaw::pareto:
            return elementary::pow(1 - uniform(random), -1 / p);
    }
    PACELINE_CHECK(false, "every law of jitter has its case");
}

}  // namespace

std::vector<double> log_normal_speeds(int nodes, double sigma, RandomStreams streams) {
    return draw_each(nodes, streams,
                     [=](RandomStream& r) { return elementary::exp(sigma * draw_normal(r)); });
}

std::vector<double> uniform_speeds(int nodes, double low, double high, RandomStreams streams) {
    PACELINE_CHECK(low > 0 && low <= high, "speeds are above 0, from the lowest to the highest");
    return draw_each(nodes, streams,
                     [=](RandomStream& r) { return low + (high - low) * uniform(r); });
}

std::vector<double> two_class_speeds(int nodes, double share, double speed, RandomStreams streams) {
    PACELINE_CHECK(share >= 0 && share <= 1 && speed > 0, "a share of nodes has a speed");
    const std::vector<double> drawn = draw_each(nodes, streams, uniform);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t node = 0; node < drawn.size(); ++node) order.emplace_back(drawn[node], node);
    std::ranges::sort(order);
    order.resize(static_cast<std::size_t>(std::lround(share * nodes)));
    std::vector<double> speeds(drawn.size(), 1.0);
    for (const auto& [_, node] : order) speeds[node] = speed;
    return speeds;
}

StepFactor by_speed(std::vector<double> speeds, MachineSizes machines) {
    for (double& speed : speeds) {
        PACELINE_CHECK(speed > 0, "a speed is above 0");
        speed = 1 / speed;
    }
    return [factors = std::move(speeds), machines = std::move(machines)](int rank,
                                                                         std::int64_t /*k*/) {
        return factors[static_cast<std::size_t>(machines.machine_of(rank))];
    };
}

StepFactor jitter(Jitter jitter, RandomStreams streams) {
    return [jitter, streams](int rank, std::int64_t k) {
        constexpr unsigned step_bits = 40;
        const auto index =
            (static_cast<std::uint64_t>(rank) << step_bits) + static_cast<std::uint64_t>(k);
        RandomStream random = streams.stream("compute jitter", index);
        return draw_jitter(jitter, random);
    };
}

}  // namespace paceline
