// Random wires for property tests: few links with random routes over them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : rng_(seed) {}

    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(rng_() % static_cast<std::uint64_t>(n));
    }
    bool one_in(std::int64_t n) { return below(n) == 0; }
    Duration instant() {  // often a whole millisecond, when others start, drain and change, too
        return one_in(2) ? below(5) * Duration{std::chrono::milliseconds{1}}
                         : Duration{below(6'000'000'000)};
    }
    Bytes size() {
        constexpr std::array<std::int64_t, 6> round{0, 1, 1000, 125'000, 250'000, 625'000};
        return {one_in(2) ? round[static_cast<std::size_t>(below(6))] : below(1'000'000)};
    }
    Bandwidth bandwidth() {
        return {one_in(2) ? 500'000'000 * (1 + below(3)) : 100'000'000 + below(4'000'000'000)};
    }
    std::mt19937_64& rng() { return rng_; }

  private:
    std::mt19937_64 rng_;
};

struct RandomNetwork {
    int hosts = 0;
    std::vector<Link> links;
    std::vector<std::vector<std::uint32_t>> routes;  // [from * hosts + to]

    [[nodiscard]] const std::vector<std::uint32_t>& route(int from, int to) const {
        return routes[static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts) +
                      static_cast<std::size_t>(to)];
    }
    void draw(Dice& dice) {
        hosts = static_cast<int>(2 + dice.below(5));
        const std::int64_t count = 2 + dice.below(9);
        for (std::int64_t i = 0; i < count; ++i)
            links.push_back({.bandwidth = dice.bandwidth(),
                             .latency = dice.below(3) * Duration{std::chrono::microseconds{100}} +
                                        Duration{dice.below(2)},
                             .efficiency = dice.one_in(4) ? 1448.0 / 1538 : 1.0});
        std::vector<std::uint32_t> all(links.size());
        for (std::size_t link = 0; link < all.size(); ++link)
            all[link] = static_cast<std::uint32_t>(link);
        for (int pair = 0; pair < hosts * hosts; ++pair) {
            std::ranges::shuffle(all, dice.rng());
            const std::int64_t length = std::min(count, 1 + dice.below(4));
            routes.emplace_back(all.begin(), all.begin() + length);
        }
    }
    /// The network must outlive the fabric.
    [[nodiscard]] Fabric fabric() const {
        return {.hosts = hosts,
                .links = links,
                .back = {},
                .find_route =
                    [this](int from, int to, Route& found) {
                        const auto& way = route(from, to);
                        found.assign(way.begin(), way.end());
                    },
                .label = {}};
    }
};

/// Returns how far apart two times are, in multiples of what rounding may do: 1e-9 of the time and
/// 100 ticks, the time of an 80th of a byte. (A drain is up to a tick late, and so is what waits
/// for it. A link that becomes ten times slower makes ten of each tick.)
inline double distance_in_roundings(double time, double expected) {
    return std::abs(time - expected) / (1e-9 * std::abs(expected) + 100);
}

}  // namespace paceline
