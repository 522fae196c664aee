// The groups of a job's workers that have collectives of their own.
//
// Each list of members has one group on each channel, whichever member asks first. The epoch of a
// group is part of the streams of its rounds (worker_state.hpp); epochs count up from 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/collectives/rank.hpp"

namespace paceline {

class Groups {
  public:
    explicit Groups(int workers) : everybody_(of(whole_group(workers)->members)) {}

    /// Returns the group of these members on a channel.
    [[nodiscard]] GroupPtr of(std::vector<int> members, int channel = 0) {
        const auto epoch = static_cast<std::uint32_t>(groups_.size() + 1);
        GroupPtr& group = groups_[{members, channel}];
        if (group == nullptr)
            group = std::make_shared<const Group>(Group{std::move(members), epoch});
        return group;
    }
    /// Returns the group of all workers, on channel 0.
    [[nodiscard]] const GroupPtr& everybody() const { return everybody_; }
    [[nodiscard]] std::size_t size() const { return groups_.size(); }
    /// Returns the groups that `is_one` accepts.
    template <class IsOne>
    [[nodiscard]] std::vector<GroupPtr> all(const IsOne& is_one) const {
        std::vector<GroupPtr> found;
        for (const auto& [key, group] : groups_)
            if (is_one(*group)) found.push_back(group);
        return found;
    }

  private:
    std::map<std::pair<std::vector<int>, int>, GroupPtr> groups_{};  // by members and channel
    GroupPtr everybody_;
};

}  // namespace paceline
