#include "sim/collectives/all_to_all.hpp"

#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/staging.hpp"

namespace paceline {

Task<> all_to_all(AllToAll how, Rank self, Bytes block) {
    const BlockWeight equal = [block](int) { return block; };
    return all_to_all(how, std::move(self), equal);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as in the other collectives
Task<> all_to_all(AllToAll how, Rank self, const BlockWeight& block) {
    const int n = self.size();
    const auto who = [n](int place, int round) -> RoundOfMember {
        return {wrapped(place + round + 1, n), wrapped(place + n - round - 1, n)};
    };
    const auto sent = [n, block](int place, int round) {
        return block(wrapped(place + round + 1, n));
    };
    MessageRounds rounds{n, n - 1, Partners::everybody, who, sent, {}};
    if (how == AllToAll::grouped) {
        rounds.in_flight = n - 1;
        rounds.grouped = true;
    }
    Task<> messages = in_rounds(self, std::move(rounds));
    if (!self.staging()) return messages;
    Bytes all;
    for (int place = 0; place < n; ++place) all += block(place);
    const Bytes received = n * block(self.place());
    return staged(self, all, [received] { return received; }, std::move(messages));
}

}  // namespace paceline
