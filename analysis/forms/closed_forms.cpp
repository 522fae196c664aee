#include "analysis/forms/closed_forms.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace paceline {

namespace {

// Returns ceil(S/n), the longest of n chunks.
Bytes longest_chunk(Bytes size, int n) {
    return {size.count / n + (size.count % n > 0 ? 1 : 0)};
}

// Returns the bytes of the last `count` of n chunks, of which the last S mod n are one byte longer.
Bytes last_chunks(Bytes size, int n, int count) {
    return {size.count / n * count + std::min<std::int64_t>(count, size.count % n)};
}

// n = 2^m + extra members: the first `extra` of 2^m survivors stand for two members each.
struct FoldedGroup {
    int doublings = 0;  // m
    int survivors = 1;  // 2^m
    int extra = 0;
};

FoldedGroup folded_group(int n) {
    FoldedGroup group;
    while (2 * group.survivors <= n) {
        group.survivors *= 2;
        ++group.doublings;
    }
    group.extra = n - group.survivors;
    return group;
}

// Returns how many members the block of 2^step survivors around x stands for.
int members_of_block(const FoldedGroup& group, int x, int step) {
    const int width = 1 << step;
    const int first = x / width * width;
    int members = width;
    for (int survivor = first; survivor < std::min(first + width, group.extra); ++survivor)
        ++members;
    return members;
}

// Returns the time of a collective among n members whose messages take this long.
Duration started(int n, const IdleStar& star, Duration messages) {
    return n == 1 ? messages : sum(star.start_up, messages);
}

// Returns the time of one message from host to host.
Duration message_time(Bytes size, const IdleStar& star) {
    return sum(star.latency, size / star.bandwidth);
}

}  // namespace

Duration ring_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    return started(n, star,
                   multiple(std::int64_t{2} * (n - 1), message_time(longest_chunk(size, n), star)));
}

Duration recursive_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    const FoldedGroup group = folded_group(n);
    const int messages = group.doublings + (group.extra > 0 ? 2 : 0);
    return started(n, star, multiple(messages, message_time(size, star)));
}

Duration halving_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    const FoldedGroup group = folded_group(n);
    Duration total{};
    for (int width = group.survivors / 2; width >= 1; width /= 2) {
        const Bytes half = last_chunks(size, group.survivors, width);
        total = sum(total, multiple(2, message_time(half, star)));
    }
    if (group.extra > 0) total = sum(total, multiple(2, message_time(size, star)));
    return started(n, star, total);
}

Duration ring_all_gather_time(int n, Bytes block, const IdleStar& star) {
    return started(n, star, multiple(n - 1, message_time(block, star)));
}

Duration bruck_all_gather_time(int n, Bytes block, const IdleStar& star) {
    Duration total{};
    for (int held = 1; held < n; held *= 2)
        total = sum(total, message_time(std::min(held, n - held) * block, star));
    return started(n, star, total);
}

Duration sparse_all_reduce_time(int n, const std::function<Bytes(int)>& weight,
                                const IdleStar& star) {
    const FoldedGroup group = folded_group(n);
    const auto survivors = static_cast<std::size_t>(group.survivors);
    const auto wire = [&](std::size_t x, int step) {
        return weight(members_of_block(group, static_cast<int>(x), step)) / star.bandwidth;
    };
    std::vector<Duration> ready(survivors);
    for (std::size_t x = 0; x < static_cast<std::size_t>(group.extra); ++x)
        ready[x] = message_time(weight(1), star);
    for (int step = 0; step < group.doublings; ++step) {
        const std::vector<Duration> before = ready;
        for (std::size_t x = 0; x < survivors; ++x) {
            const std::size_t other = x ^ (std::size_t{1} << static_cast<unsigned>(step));
            ready[x] = sum(std::max(before[x], before[other]),
                           std::max(wire(x, step), sum(wire(other, step), star.latency)));
        }
    }
    for (std::size_t x = 0; x < static_cast<std::size_t>(group.extra); ++x)
        ready[x] = sum(ready[x], message_time(weight(n), star));
    return started(n, star, *std::ranges::max_element(ready));
}

Duration ring_reduce_scatter_time(int n, Bytes size, const IdleStar& star) {
    return started(n, star, multiple(n - 1, message_time(longest_chunk(size, n), star)));
}

Duration all_to_all_time(AllToAll how, int n, Bytes block, const IdleStar& star) {
    if (n > 1 && how == AllToAll::grouped)
        return started(n, star, sum(star.latency, star.together(n - 1, block)));
    return started(n, star, multiple(n - 1, message_time(block, star)));
}

Duration binomial_broadcast_time(int n, Bytes size, const IdleStar& star) {
    if (n == 1) return Duration::zero();
    const auto last = static_cast<unsigned>(n - 1);
    const auto m = static_cast<int>(std::bit_width(last));
    // The place below n with the most ones is n-1, or n-1 with one bit cleared and all lower bits
    // set.
    int most = std::popcount(last);
    for (unsigned bit = 0; bit + 1 < static_cast<unsigned>(m); ++bit)
        if ((last >> bit & 1U) != 0)
            most = std::max(most, std::popcount(last >> (bit + 1)) + static_cast<int>(bit));
    const Duration wire = size / star.bandwidth;
    return started(n, star,
                   std::max(multiple(m - 1, sum(star.latency, wire)),
                            sum(multiple(m, wire), multiple(most, star.latency))));
}

Duration binomial_reduce_time(int n, Bytes size, const IdleStar& star) {
    return started(
        n, star, multiple(std::bit_width(static_cast<unsigned>(n - 1)), message_time(size, star)));
}

Duration broadcast_at_once_time(int n, Bytes size, const IdleStar& star) {
    std::vector<Duration> there(static_cast<std::size_t>(n));
    Duration latest{};
    int width = 1;  // 2^i: places below it have places width, 2 width, ... further on
    for (int place = 0; place < n; ++place) {
        while (place >= width) width *= 2;
        std::vector<int> below;
        for (int step = place == 0 ? 1 : width; place + step < n; step *= 2)
            below.push_back(place + step);
        for (const int child : below) {
            Duration& at = there[static_cast<std::size_t>(child)];
            at = sum(
                there[static_cast<std::size_t>(place)],
                sum(star.latency, star.together(static_cast<std::int64_t>(below.size()), size)));
            latest = std::max(latest, at);
        }
    }
    return started(n, star, latest);
}

namespace {

// k, the slices of the longest of n chunks.
std::int64_t slices_of_chunk(int n, Bytes size, const Slices& cut) {
    const std::int64_t longest = longest_chunk(size, n).count;
    return std::max<std::int64_t>(
        1, longest / cut.slice.count + (longest % cut.slice.count > 0 ? 1 : 0));
}

// Returns the most of i a + j b with i x + j y <= room, i and j >= 0. Of the pair that gains less
// per room there are fewer than the other one needs, since so many of it could be exchanged.
Duration most_of_two(std::int64_t room, std::int64_t x, Duration a, std::int64_t y, Duration b) {
    if (static_cast<double>(a.count()) * static_cast<double>(y) <
        static_cast<double>(b.count()) * static_cast<double>(x)) {
        std::swap(x, y);
        std::swap(a, b);
    }
    Duration most{};
    for (std::int64_t j = 0; (j == 0 || b > Duration{}) && j < x && j * y <= room; ++j)
        most = std::max(most, sum(multiple(j, b), multiple((room - j * y) / x, a)));
    return most;
}

// What grants and data that have not come hold up the last of `last + 1` slices.
Duration held_up(std::int64_t last, std::int64_t k, Duration t, const Slices& cut,
                 const IdleStar& star) {
    const Duration there = sum(star.latency, star.message_delay);
    const Duration data = there - multiple(k - 1, t);
    const Duration grant = sum(there, star.latency) - multiple(cut.slots - 1, t);
    return most_of_two(last, k, std::max(data, Duration{}), cut.slots, std::max(grant, Duration{}));
}

Duration pipeline_time(std::int64_t steps, int n, Bytes size, const Slices& cut,
                       const IdleStar& star) {
    const std::int64_t k = slices_of_chunk(n, size, cut);
    const std::int64_t w = std::min<std::int64_t>(cut.in_flight, k);
    const Bytes slice = longest_chunk(longest_chunk(size, n), static_cast<int>(k));
    const Duration t = sum(star.message_cost, slice / star.bandwidth);
    const std::int64_t last = steps * k - 1;
    if (cut.slots > 0)
        return sum(sum(multiple(last + 1, t), held_up(last, k, t, cut, star)),
                   sum(star.latency, star.message_delay));
    const Duration period = std::max(multiple(w, t), sum(t, star.latency));
    return sum(sum(multiple(last / w, period), multiple(last % w, t)), sum(t, star.latency));
}

}  // namespace

Duration pipelined_ring_all_reduce_time(int n, Bytes size, const Slices& cut,
                                        const IdleStar& star) {
    if (n == 1) return {};
    return started(n, star, pipeline_time(std::int64_t{2} * (n - 1), n, size, cut, star));
}

Duration pipelined_ring_reduce_time(int n, Bytes size, const Slices& cut, const IdleStar& star) {
    if (n == 1) return {};
    const Duration gathered = sum(star.latency, star.together(n - 1, longest_chunk(size, n)));
    return started(n, star, sum(pipeline_time(n - 1, n, size, cut, star), gathered));
}

std::optional<Duration> chain_time(int n, Bytes size, const Slices& cut, const IdleStar& star) {
    if (n == 1) return Duration{};
    const std::int64_t k = slices_of_chunk(1, size, cut);
    const Duration t =
        sum(star.message_cost, longest_chunk(size, static_cast<int>(k)) / star.bandwidth);
    const Duration hop = sum(sum(star.latency, star.message_delay), t);
    const Duration steady = sum(multiple(n - 1, hop), multiple(k - 1, t));
    if (cut.slots > 0) return started(n, star, sum(steady, held_up(k - 1, k, t, cut, star)));
    const bool stalls = multiple(cut.in_flight, t) < sum(multiple(2, t), star.latency);
    if (stalls && k > cut.in_flight) return std::nullopt;
    return started(n, star, steady);
}

Duration tree_all_reduce_time(int n, Bytes size, const IdleStar& star) {
    return sum(binomial_reduce_time(n, size, star), binomial_broadcast_time(n, size, begun(star)));
}

Duration parameter_server_all_reduce_time(int n, Bytes size, int servers, bool on_workers,
                                          const IdleStar& star) {
    const int senders = on_workers ? n - 1 : n;
    if (senders == 0) return Duration::zero();
    return started(
        n, star,
        multiple(2, sum(star.latency, star.together(senders, longest_chunk(size, servers)))));
}

Duration hierarchical_all_reduce_time(int machines, int devices, Bytes size, const IdleStar& bus,
                                      const IdleStar& network, int sharing) {
    const Bytes part = longest_chunk(size, devices);
    const Bytes piece = longest_chunk(part, machines);
    const Duration drain = std::max(network.together(sharing, piece), piece / bus.bandwidth);
    return started(machines * devices, network,
                   sum(multiple(std::int64_t{2} * (devices - 1), message_time(part, bus)),
                       multiple(std::int64_t{2} * (machines - 1), sum(network.latency, drain))));
}

Duration nested_all_reduce_time(const NestedGroups& groups, int n, Bytes size,
                                const IdleStar& star) {
    Duration total{};
    Bytes part = size;
    const auto ring = [&](int members) {
        part = longest_chunk(part, members);
        total = sum(total, multiple(std::int64_t{2} * (members - 1), message_time(part, star)));
    };
    for (const int members : groups.sizes) ring(members);
    ring(groups.groups(n));
    return started(n, star, total);
}

Duration ring_over_machines_time(int n, Bytes size, const IdleStar& bus, const IdleStar& network) {
    const IdleStar across = capped(network, bus.bandwidth);
    return std::max(ring_all_reduce_time(n, size, bus), ring_all_reduce_time(n, size, across));
}

std::optional<Duration> rings_of_cards_time(int n, Bytes size, int cards, const IdleStar& bus,
                                            const IdleStar& network) {
    if (network.bandwidth.bits_per_second > bus.bandwidth.bits_per_second / cards)
        return std::nullopt;
    const Bytes piece = longest_chunk(longest_chunk(size, cards), n);
    return started(n, network, multiple(std::int64_t{2} * (n - 1), message_time(piece, network)));
}

Duration sparse_doubling_over_machines_time(int machines, int devices,
                                            const std::function<Bytes(int)>& weight,
                                            const IdleStar& bus, const IdleStar& network,
                                            int sharing) {
    Duration total{};
    for (int merged = 1; merged < machines * devices; merged *= 2) {
        const Bytes size = weight(merged);
        const Duration drain = std::max(network.together(sharing, size), size / bus.bandwidth);
        total =
            sum(total, merged < devices ? message_time(size, bus) : sum(network.latency, drain));
    }
    return started(machines * devices, network, total);
}

Duration recursive_doubling_over_machines_time(int machines, int devices, Bytes size,
                                               const IdleStar& bus, const IdleStar& network,
                                               int sharing) {
    return sparse_doubling_over_machines_time(
        machines, devices, [size](int) { return size; }, bus, network, sharing);
}

Duration ring_all_gather_over_machines_time(int n, Bytes block, const IdleStar& bus,
                                            const IdleStar& network) {
    const IdleStar across = capped(network, bus.bandwidth);
    return std::max(ring_all_gather_time(n, block, bus), ring_all_gather_time(n, block, across));
}

}  // namespace paceline
