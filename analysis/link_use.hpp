// How busy links are: what of the time each carries something, and what it has carried.
//
//   busy   time in which at least one message flows on the link
//   bytes  of the messages that have drained over it; those that a run's end cuts short are not in
//          it, nor is what an outage has lost
//
// A message flows from when it enters its links until it has drained, also while it waits at rate
// 0. Memory: O(links).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/observer.hpp"

namespace paceline {

class LinkUse : public NetworkObserver {
  public:
    void flow_begins(const Route& route, Time now) override;
    void flow_ends(const Route& route, Bytes moved, Time now) override;

    /// Of a run until `end`.
    [[nodiscard]] Duration busy(LinkId link, Time end) const;
    [[nodiscard]] Bytes bytes(LinkId link) const;

  private:
    struct State {
        std::uint32_t flows = 0;
        Time since{};  // while there are flows
        Duration busy{};
        Bytes bytes{};
    };

    std::vector<State> links_;  // as many as have been seen
};

}  // namespace paceline
