#include "sim/collectives/double_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

struct Half {
    TreePlace at;
    Bytes size;
    int slices;
    TreeEnds ends{};
};

Task<> receive_one(Rank self, int from) {
    co_await self.receive(from);
}
Task<> send_one(Rank self, int to, Bytes size) {
    co_await self.send(to, size);
}

Task<> receive_from_below(Rank self, const Half& half) {
    std::vector<Task<>> all;
    for (const int child : half.at.below) all.push_back(receive_one(self, child));
    co_await when_all(std::move(all));
}
Task<> send_below(Rank self, const Half& half, Bytes slice) {
    std::vector<Task<>> all;
    for (const int child : half.at.below) all.push_back(send_one(self, child, slice));
    co_await when_all(std::move(all));
}

// Slices lane, lane + lanes, ...: sums go up, and at the root they turn.
Task<> carry_up(Rank self, Half half, int lane, int lanes) {
    for (int j = lane; j < half.slices; j += lanes) {
        const Bytes slice = chunk(half.size, half.slices, j);
        co_await receive_from_below(self, half);
        if (half.at.above >= 0)
            co_await self.send(half.at.above, slice);
        else
            co_await send_below(self, half, slice);
    }
}
Task<> carry_down(Rank self, Half half, int lane, int lanes) {
    for (int j = lane; j < half.slices; j += lanes) {
        co_await self.receive(half.at.above);
        co_await send_below(self, half, chunk(half.size, half.slices, j));
    }
}

// With slots: a slice goes on when it has come from all places below, or from above.
Task<> pass_up(Rank self, Half half, std::array<Received, 3>& below) {
    for (int j = 0; j < half.slices; ++j) {
        const Bytes slice = chunk(half.size, half.slices, j);
        for (std::size_t child = 0; child < half.at.below.size(); ++child)
            co_await below[child].get();
        if (half.ends.gathered != nullptr) co_await half.ends.gathered->get();
        if (half.at.above >= 0) {
            co_await self.send(half.at.above, slice);
        } else {
            if (half.ends.summed != nullptr) half.ends.summed->put(true);
            co_await send_below(self, half, slice);
        }
    }
}
Task<> pass_down(Rank self, Half half, Received& above) {
    for (int j = 0; j < half.slices; ++j) {
        co_await above.get();
        if (half.ends.summed != nullptr) half.ends.summed->put(true);
        co_await send_below(self, half, chunk(half.size, half.slices, j));
    }
}

Task<> half_in_slots(Rank self, Half half, int slots) {
    std::array<Received, 3> below;
    Received above;
    std::vector<Task<>> all;
    for (std::size_t child = 0; child < half.at.below.size(); ++child)
        all.push_back(
            receive_in_slots(self, half.at.below[child], half.slices, slots, below[child]));
    all.push_back(pass_up(self, half, below));
    if (half.at.above >= 0) {
        all.push_back(receive_in_slots(self, half.at.above, half.slices, slots, above));
        all.push_back(pass_down(self, half, above));
    }
    co_await when_all(std::move(all));
}

void add_lanes(const Rank& self, const Half& half, int in_flight, std::vector<Task<>>& all) {
    const int lanes = std::min(in_flight, half.slices);
    for (int lane = 0; lane < lanes; ++lane) {
        all.push_back(carry_up(self, half, lane, lanes));
        if (half.at.above >= 0) all.push_back(carry_down(self, half, lane, lanes));
    }
}

}  // namespace

TreePlace place_in_tree_a(int place, int n) {
    TreePlace at;
    if (place == 0) {
        if (n > 1)
            at.below.push_back(static_cast<int>(std::bit_floor(static_cast<unsigned>(n - 1))));
        return at;
    }
    const int bit = place & -place;
    const int up = (place ^ bit) | (2 * bit);
    at.above = up < n ? up : place ^ bit;
    int half = bit / 2;
    if (half > 0) at.below.push_back(place - half);
    while (half > 0 && place + half >= n) half /= 2;
    if (half > 0) at.below.push_back(place + half);
    return at;
}

TreePlace place_in_tree_b(int place, int n) {
    const auto there = [n](int p) { return n % 2 == 0 ? n - 1 - p : wrapped(p + n - 1, n); };
    const auto back = [n](int p) { return n % 2 == 0 ? n - 1 - p : wrapped(p + 1, n); };
    TreePlace at = place_in_tree_a(there(place), n);
    if (at.above >= 0) at.above = back(at.above);
    for (int& child : at.below) child = back(child);
    return at;
}

namespace {

// Returns a place of a tree of machines, below whose first devices stand chains of the others.
TreePlace over_machines(TreePlace (&tree)(int, int), int place, int n, int devices) {
    const int device = place % devices;
    TreePlace at;
    if (device == 0) {
        at = tree(place / devices, n / devices);
        at.above *= at.above < 0 ? 1 : devices;
        for (int& child : at.below) child *= devices;
    } else {
        at.above = place - 1;
    }
    if (device + 1 < devices) at.below.push_back(place + 1);
    return at;
}

}  // namespace

Task<> double_tree_all_reduce(Rank self, Bytes size, Slices cut, int devices) {
    const int n = self.size();
    if (n == 1) co_return;
    const Bytes first = chunk(size, 2, 0);
    const Bytes second = chunk(size, 2, 1);
    const auto half = [&](TreePlace (&tree)(int, int), Bytes part) {
        return Half{over_machines(tree, self.place(), n, devices), part, slices_of(part, cut)};
    };
    const Half a = half(place_in_tree_a, first);
    const Half b = half(place_in_tree_b, second);
    std::vector<Task<>> all;
    if (cut.slots > 0) {
        all.push_back(half_in_slots(self, a, cut.slots));
        all.push_back(half_in_slots(self.on_second_stream(), b, cut.slots));
    } else {
        add_lanes(self, a, cut.in_flight, all);
        add_lanes(self.on_second_stream(), b, cut.in_flight, all);
    }
    co_await when_all(std::move(all));
}

Task<> double_tree_of_slices(Rank self, Bytes size, int slices, int slots,
                             std::array<TreeEnds, 2> ends) {
    const int n = self.size();
    PACELINE_CHECK(n > 1 && slots > 0, "a tree with slots joins two members or more");
    const Half a{place_in_tree_a(self.place(), n), chunk(size, 2, 0), slices, ends[0]};
    const Half b{place_in_tree_b(self.place(), n), chunk(size, 2, 1), slices, ends[1]};
    co_await when_all(half_in_slots(self, a, slots),
                      half_in_slots(self.on_second_stream(), b, slots));
}

}  // namespace paceline
