#include "analysis/closed_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/collectives/schedule.hpp"

namespace paceline {

namespace {

/// One message from host to host.
Duration message_time(Bytes size, const IdleStar& star) {
    return sum(star.latency, size / star.bandwidth);
}

}  // namespace

Duration ring_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    return multiple(std::int64_t{2} * (n - 1), message_time(chunk(size, n, n - 1), star));
}

Duration recursive_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    const Fold fold(n);
    const int messages = fold.steps + (fold.extra > 0 ? 2 : 0);
    return multiple(messages, message_time(size, star));
}

Duration halving_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    const Fold fold(n);
    Duration total{};
    for (int width = fold.survivors / 2; width >= 1; width /= 2) {
        const Bytes half = chunks(size, fold.survivors, fold.survivors - width, width);
        total = sum(total, multiple(2, message_time(half, star)));
    }
    if (fold.extra > 0) total = sum(total, multiple(2, message_time(size, star)));
    return total;
}

Duration ring_all_gather_time(int n, Bytes block, const IdleStar& star) {
    return multiple(n - 1, message_time(block, star));
}

Duration bruck_all_gather_time(int n, Bytes block, const IdleStar& star) {
    Duration total{};
    for (int held = 1; held < n; held *= 2)
        total = sum(total, message_time(std::min(held, n - held) * block, star));
    return total;
}

Duration sparse_all_reduce_time(int n, const std::function<Bytes(int)>& weight,
                                const IdleStar& star) {
    const Fold fold(n);
    const auto survivors = static_cast<std::size_t>(fold.survivors);
    const auto wire = [&](std::size_t x, int step) {
        return weight(fold.contributions(static_cast<int>(x), step)) / star.bandwidth;
    };
    std::vector<Duration> ready(survivors);
    for (std::size_t x = 0; x < static_cast<std::size_t>(fold.extra); ++x)
        ready[x] = message_time(weight(1), star);
    for (int step = 0; step < fold.steps; ++step) {
        const std::vector<Duration> before = ready;
        for (std::size_t x = 0; x < survivors; ++x) {
            const std::size_t other = x ^ (std::size_t{1} << static_cast<unsigned>(step));
            ready[x] = sum(std::max(before[x], before[other]),
                           std::max(wire(x, step), sum(wire(other, step), star.latency)));
        }
    }
    for (std::size_t x = 0; x < static_cast<std::size_t>(fold.extra); ++x)
        ready[x] = sum(ready[x], message_time(weight(n), star));
    return *std::ranges::max_element(ready);
}

}  // namespace paceline
