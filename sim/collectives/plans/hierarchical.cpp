#include "sim/collectives/plans/hierarchical.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Task<> hierarchical_all_reduce(Rank self, Bytes size, int devices) {
    PACELINE_CHECK(devices >= 1 && self.size() % devices == 0,
                   "machines have equally many devices");
    const int machines = self.size() / devices;
    const int machine = self.place() / devices;
    const int device = self.place() % devices;
    const Rank inside = self.part(machine * devices, 1, devices);
    const Rank between = self.part(device, devices, machines);

    co_await ring_reduce_scatter(inside, size);
    co_await ring_all_reduce(between, chunk(size, devices, device));
    co_await ring_all_gather_chunks(inside, size);
}

namespace {

using NestedPtr = std::shared_ptr<const NestedGroups>;

Task<> from_level(Rank self, Bytes size, NestedPtr groups, std::size_t level) {
    if (level == groups->sizes.size()) {
        co_await ring_all_reduce(self, size);
        co_return;
    }
    const int members = groups->sizes[level];
    PACELINE_CHECK(members >= 1 && self.size() % members == 0, "groups have equally many members");
    const int member = self.place() % members;
    const Rank inside = self.part(self.place() - member, 1, members);
    const Rank between = self.part(member, members, self.size() / members);

    co_await ring_reduce_scatter(inside, size);
    co_await from_level(between, chunk(size, members, member), groups, level + 1);
    co_await ring_all_gather_chunks(inside, size);
}

// Returns the group in the order of nested groups, which is made once.
GroupPtr in_order_of(const Group& group, const NestedPtr& groups) {
    for (const auto& [nested, ordered] : group.nested)
        if (nested == groups) return ordered;
    Group ordered;
    ordered.epoch = group.epoch;
    for (const int place : groups->order)
        ordered.members.push_back(group.members[static_cast<std::size_t>(place)]);
    return group.nested.emplace_back(groups, std::make_shared<const Group>(std::move(ordered)))
        .second;
}

}  // namespace

Task<> hierarchical_all_reduce(Rank self, Bytes size, std::shared_ptr<const NestedGroups> groups) {
    if (groups->order.empty()) return from_level(std::move(self), size, std::move(groups), 0);
    PACELINE_CHECK(std::cmp_equal(groups->order.size(), self.size()),
                   "nested groups have all members");
    const auto place = std::ranges::find(groups->order, self.place()) - groups->order.begin();
    const GroupPtr ordered = in_order_of(self.group(), groups);
    return from_level(self.in_order(ordered, static_cast<int>(place), self.stream()), size,
                      std::move(groups), 0);
}

}  // namespace paceline
