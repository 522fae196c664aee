// Progressive filling as textbooks describe it, independent of the product: all flows grow at one
// rate, and those on a link that is full stop. It uses no data structures and is slow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace paceline {

/// Returns a rate per flow; routes[f] are the links that flow f crosses.
inline std::vector<double> progressive_filling(
    const std::vector<double>& capacity, const std::vector<std::vector<std::uint32_t>>& routes) {
    std::vector<double> left = capacity;
    std::vector<double> rate(routes.size(), 0);
    std::vector<bool> grows(routes.size(), true);
    const auto is_full = [&](std::uint32_t link) { return left[link] <= 1e-12 * capacity[link]; };

    while (true) {
        std::vector<int> growing(capacity.size(), 0);
        for (std::size_t flow = 0; flow < routes.size(); ++flow)
            for (const std::uint32_t link : routes[flow]) growing[link] += grows[flow] ? 1 : 0;
        double growth = std::numeric_limits<double>::infinity();
        for (std::size_t link = 0; link < capacity.size(); ++link)
            if (growing[link] > 0) growth = std::min(growth, left[link] / growing[link]);
        if (growth == std::numeric_limits<double>::infinity()) return rate;

        for (std::size_t flow = 0; flow < routes.size(); ++flow)
            if (grows[flow]) rate[flow] += growth;
        for (std::size_t link = 0; link < capacity.size(); ++link)
            left[link] -= growth * growing[link];
        for (std::size_t flow = 0; flow < routes.size(); ++flow)
            if (std::ranges::any_of(routes[flow], is_full)) grows[flow] = false;
    }
}

}  // namespace paceline
