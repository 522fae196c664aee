// How busy links are: what of the time each carries something, and what it has carried.
//
//   busy   time in which at least one message is on the link
//   bytes  of the messages that have drained over it; those that a run's end cuts short are not in
//          it, nor is what an outage has lost
//
// A message is on its links from when it sets out until it has drained, also while it waits at rate
// 0. Told of by a network's observer (sim/network/observer.hpp). Memory: O(links + messages on their
// way).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

class LinkUse {
  public:
    /// Message `id` sets out. Times do not fall from call to call.
    void begins(std::uint32_t id, const Route& route, Time now);
    /// It leaves its links, having moved so much.
    void drains(std::uint32_t id, Bytes moved, Time now);

    /// Of a run until `end`.
    [[nodiscard]] Duration busy(LinkId link, Time end) const;
    [[nodiscard]] Bytes bytes(LinkId link) const;

  private:
    struct State {
        std::uint32_t messages = 0;
        Time since{};  // while there are messages
        Duration busy{};
        Bytes bytes{};
    };

    std::vector<State> links_;   // as many as have been seen
    std::vector<Route> routes_;  // [id], of messages that have not drained
};

}  // namespace paceline
