#include "sim/collectives/meeting.hpp"

#include <map>

namespace paceline {

std::shared_ptr<Barrier> meeting_of(const Rank& self) {
    auto& meetings = self.group().meetings;
    std::erase_if(meetings, [](const auto& meeting) { return meeting.second.expired(); });
    std::weak_ptr<Barrier>& found = meetings[{self.stream(), self.node(0)}];
    std::shared_ptr<Barrier> meeting = found.lock();
    if (!meeting) found = meeting = std::make_shared<Barrier>(self.size());
    return meeting;
}

Task<> meet(Rank self) {
    const std::shared_ptr<Barrier> meeting = meeting_of(self);
    co_await meeting->arrive();
}

}  // namespace paceline
