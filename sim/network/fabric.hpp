// The wires: hosts, directed links, and the route from one host to another.
//
// A Fabric is a plain value that topologies/fabrics build and the network reads. A link has a
// bandwidth, a one-way latency and an efficiency: the share of the bandwidth left for payload after
// headers (1448/1538 for TCP over Ethernet with 1500-byte frames). A full-duplex cable is two
// links, one each way. Where acknowledgements of the reverse traffic matter, `duplex_share` gives
// the share they leave. A link may lose a share of what it carries (sim/network/loss.hpp) and add a
// random delay to each message (sim/network/jitter.hpp). A link of unlimited bandwidth costs only
// its latency; what-if questions use such links.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sim/engine/machine_sizes.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/jitter.hpp"

namespace paceline {

using LinkId = std::uint32_t;
using Route = boost::container::small_vector<LinkId, 4>;

/// The bandwidth of a link on which nothing ever queues: a message of any size passes it at once. A
/// double represents it exactly.
inline constexpr Bandwidth unlimited{std::int64_t{3} << 61U};

struct Link {
    Bandwidth bandwidth;
    Duration latency{};  // one way
    double efficiency = 1;
    double duplex_share = 1;  // of the capacity, while the reverse link of the cable is busy
    double loss = 0;          // share of what is sent that is lost and sent again; below 1
    LinkJitter jitter{};      // on top of the latency

    /// Returns the rate available to payload, excluding retransmissions.
    [[nodiscard]] Bandwidth capacity() const { return (1 - loss) * efficiency * bandwidth; }
    bool operator==(const Link&) const = default;
};

/// What a link belongs to: a node's own cable, the links between switches, or the bus in a machine.
enum class LinkRole : std::uint8_t { node, core, bus };

/// A link's names in reports.
struct LinkLabel {
    LinkRole role = LinkRole::node;
    std::string kind;  // shared by all links with the same function: "node up", "leaf -> spine"
    std::string name;  // "node 3 up", "leaf 2 -> spine 0"
    int host = -1;     // host whose own cable it is; -1: none
};

struct Fabric {
    int hosts = 0;
    MachineSizes machines{};  // of the hosts; traffic inside a machine is not counted
    std::vector<Link> links;
    std::vector<LinkId> back;  // [link]: its cable's reverse link; empty: no reverse link matters
    /// Replaces `route` by the links from one host to another, in order. Pure. Called only for from
    /// != to.
    std::function<void(int from, int to, Route& route)> find_route;
    /// Returns the names of a link, for reports. Pure.
    std::function<LinkLabel(LinkId link)> label;
};

}  // namespace paceline
