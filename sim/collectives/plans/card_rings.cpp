#include "sim/collectives/plans/card_rings.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// Returns the first place behind those on the machine of `first`.
int end_of_machine(const Rank& self, int first) {
    const auto machine = [&self](int place) { return self.network().machine_of(self.node(place)); };
    int end = first + 1;
    while (end < self.size() && machine(end) == machine(first)) ++end;
    return end;
}

GroupPtr order_of_ring(const Rank& self, int cards, int ring) {
    Group order;
    order.members.reserve(self.group().members.size());
    for (int first = 0; first < self.size();) {
        const int end = end_of_machine(self, first);
        const int here = end - first;
        const int enters = ring * here / cards;
        for (int i = 0; i < here; ++i)
            order.members.push_back(self.node(first + wrapped(enters + here - i, here)));
        first = end;
    }
    return std::make_shared<const Group>(std::move(order));
}

const std::vector<GroupPtr>& orders_of_rings(const Rank& self, int cards) {
    std::vector<GroupPtr>& rings = self.group().rings;
    if (rings.empty())
        for (int ring = 0; ring < cards; ++ring) rings.push_back(order_of_ring(self, cards, ring));
    PACELINE_CHECK(std::cmp_equal(rings.size(), cards), "a group's machines keep their cards");
    return rings;
}

Task<> on_all_rings(Rank self, Bytes size, int cards, RingOfPart messages) {
    const std::vector<GroupPtr>& orders = orders_of_rings(self, cards);
    std::vector<Task<>> all;
    for (int ring = 0; ring < cards; ++ring) {
        const GroupPtr& order = orders[static_cast<std::size_t>(ring)];
        const auto place = std::ranges::find(order->members, self.node(self.place()));
        all.push_back(
            messages(self.in_order(order, static_cast<int>(place - order->members.begin()),
                                   ring_stream(self.stream(), ring)),
                     chunk(size, cards, ring)));
    }
    co_await when_all(std::move(all));
}

}  // namespace

Task<> on_rings_of_cards(Rank self, Bytes size, int cards, RingOfPart messages) {
    PACELINE_CHECK(cards >= 1, "a machine has a card or more");
    if (cards == 1 || end_of_machine(self, 0) == self.size())
        return messages(std::move(self), size);
    PACELINE_CHECK(std::cmp_equal(self.size(), self.group().members.size()),
                   "rings go through whole groups");
    return on_all_rings(std::move(self), size, cards, std::move(messages));
}

}  // namespace paceline
