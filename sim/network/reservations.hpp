// Links that are reserved for messages that the network never sees.
//
// A message that has the links of its route to itself does what its wire says
// (sim/network/wire.hpp). So the times of messages that never meet can be worked out without the
// network, as sim/ahead does. A Reserver that does so gives each link that they cross an owner, one
// of its hosts, and counts in `active` what it has under way.
//
// The network calls the Reserver before anything else touches an owned link, or a host. When the
// call returns, what was touched is not reserved any more: its messages are messages of the
// network, in the state of this instant (Network::adopt). They may touch other links in turn.
//
// Cost where nothing is reserved: one branch; otherwise a load per link of a route. Memory:
// O(links), from the first reservation on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sim/network/fabric.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

class Reserver {
  public:
    Reserver() = default;
    Reserver(const Reserver&) = delete;
    Reserver& operator=(const Reserver&) = delete;
    virtual ~Reserver() = default;

    /// A host is about to send by itself, or a flow is about to use a link of that owner.
    virtual void touch_host(int host) = 0;
    /// The bandwidth of a link is about to change.
    virtual void touch_bandwidth(LinkId link) = 0;
    /// A message is about to enter the lanes of a stream to a host.
    virtual void touch_lane(int to, Stream stream) = 0;
    /// Gives everything back.
    virtual void touch_all() = 0;
    /// Forgets what some of these hosts have begun on a stream and given up (Network::close).
    /// Called even if nothing is active.
    virtual void close(Stream stream, std::span<const int> hosts, int first) = 0;
};

struct Reservations {
    static constexpr int nobody = -1;

    std::unique_ptr<Reserver> reserver{};  // null before the first reservation
    std::size_t active = 0;                // 0: it need not be called
    std::vector<int>
        owners{};  // [link]: host, nobody, or what the reserver counts behind the hosts;
                   // complete if anything is active

    /// A flow is about to use a link.
    void touch(LinkId link) const {
        if (active > 0 && owners[link] >= 0) reserver->touch_host(owners[link]);
    }
    void touch_host(int host) const {
        if (active > 0) reserver->touch_host(host);
    }
};

}  // namespace paceline
