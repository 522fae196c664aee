#include "algorithms/waiting.hpp"

#include <algorithm>

namespace paceline {

void TimeUse::change_under_way(int by) {
    computed_ = computed();
    counted_until_ = now();
    under_way_ += by;
}

void TimeUse::wait_for_stragglers(Duration time, Time until) {
    if (time <= Duration::zero()) return;
    stragglers_ += std::max(until - std::max(until - time, waited_until_), Duration::zero());
    waited_until_ = std::max(waited_until_, until);
}

Duration TimeUse::waited_for_stragglers(Time end) const {
    return stragglers_ +
           std::max(end - std::max(last_step_ended_, waited_until_), Duration::zero());
}

Duration TimeUse::waited_for_network(Time end) const {
    return std::max(
        end.time_since_epoch() - computed() - waited_for_stragglers(end) - dead_ - away_ - writing_,
        Duration::zero());
}

InRound::InRound(RoundEntries& all, TimeUse& mine, Stream key, std::size_t members)
    : all_(all),
      mine_(mine),
      key_(key),
      members_(members),
      entered_(mine.now()),
      computed_(mine.computed()) {
    RoundEntries::Entries& round = all_.rounds_[key];
    ++round.entered;
    round.last = entered_;
}

InRound::InRound(RoundEntries& all, TimeUse& mine, Stream key, std::size_t members, int rank,
                 std::span<const int> on)
    : InRound(all, mine, key, members) {
    on_ = on;
    std::vector<Time>& times = all_.rounds_[key].of_member;
    times.resize(members, never);
    times[static_cast<std::size_t>(rank)] = entered_;
}

InRound::~InRound() {
    const auto round = all_.rounds_.find(key_);
    RoundEntries::Entries& entries = round->second;
    const Time now = mine_.now();
    Time last = entries.entered == members_ ? entries.last : now;
    if (!entries.of_member.empty()) {
        last = entered_;
        for (const int other : on_)
            last = std::max(last, entries.of_member[static_cast<std::size_t>(other)]);
    }
    const Time until = std::min(last, now);
    mine_.wait_for_stragglers(until - entered_ - (mine_.computed() - computed_), until);
    if (++entries.left == members_) all_.rounds_.erase(round);
}

}  // namespace paceline
