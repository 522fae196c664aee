// How busy links are: the time in which each carries something, and the bytes it has carried.
//
//   busy   time in which at least one message is on the link
//   bytes  of the messages that have drained over it. Messages cut short by the end of the run are
//          not included, nor is what an outage has lost
//
// A message is on its links from the time it sets out until it has drained, including the time it
// waits at rate 0. A network's observer (sim/network/network_observer.hpp) reports these times.
// Memory: O(links + messages in flight).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

class LinkUse {
  public:
    /// Message `id` of this owner, such as a job, has set out at that time. Times of a link must
    /// not decrease from call to call.
    void begins(std::uint32_t id, const Route& route, Time since, std::size_t owner = 0);
    /// Message `id` leaves its links, having moved `moved` bytes.
    void drains(std::uint32_t id, Bytes moved, Time now);

    /// Messages that met no other one have moved `moved` bytes over a route, in `busy` altogether.
    void carries(const Route& route, Bytes moved, Duration busy);

    /// Returns the busy time of a run until `end`.
    [[nodiscard]] Duration busy(LinkId link, Time end) const;
    [[nodiscard]] Bytes bytes(LinkId link) const;
    /// Returns the bytes of an owner's messages; those that are carried have no owner.
    [[nodiscard]] Bytes bytes_of(std::size_t owner, LinkId link) const;

  private:
    struct State {
        std::uint32_t messages = 0;
        Time since{};  // set while there are messages
        Duration busy{};
        Bytes bytes{};
    };

    State& state(LinkId link);
    Bytes& bytes_of_owner(std::size_t owner, LinkId link);

    std::vector<State> links_;                  // as many as have been used so far
    std::vector<Route> routes_;                 // [id], of messages that have not drained
    std::vector<std::size_t> owners_;           // [id], likewise
    std::vector<std::vector<Bytes>> of_owner_;  // [owner][link]
};

}  // namespace paceline
