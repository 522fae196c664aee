// The wires: hosts, directed links, and the way from one host to another.
//
// A plain value that topologies/fabrics build and the network reads. A link has a bandwidth, a
// one-way latency and an efficiency: the share of the bandwidth left for payload after headers
// (1448/1538 for TCP over Ethernet with 1500-byte frames). Full duplex is two links, one each way;
// where acknowledgements of the way back matter, a link knows the share they leave it. A link may
// lose a share of what it carries (sim/network/loss.hpp) and add a random delay to each message
// (sim/network/jitter.hpp). A link of unlimited bandwidth takes no time but its latency: what-ifs
// are made of such links.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sim/engine/units.hpp"
#include "sim/network/jitter.hpp"

namespace paceline {

using LinkId = std::uint32_t;
using Route = boost::container::small_vector<LinkId, 4>;

/// Of a link on which nothing ever queues: whatever its size, a message passes it at once. A double
/// has it exactly.
inline constexpr Bandwidth unlimited{std::int64_t{3} << 61U};

struct Link {
    Bandwidth bandwidth;
    Duration latency{};  // one way
    double efficiency = 1;
    double duplex_share = 1;  // of the capacity, while the way back of the cable is busy
    double loss = 0;          // share of what is sent, which is sent again; below 1
    LinkJitter jitter{};      // on top of the latency

    /// What payload can have of it, what is sent again left out.
    [[nodiscard]] Bandwidth capacity() const { return (1 - loss) * efficiency * bandwidth; }
};

/// What a link is a part of: a node's own cable, what joins switches, the bus in a machine.
enum class LinkRole : std::uint8_t { node, core, bus };

/// What people call a link.
struct LinkLabel {
    LinkRole role = LinkRole::node;
    std::string kind;  // of all that do the same: "node up", "leaf -> spine"
    std::string name;  // "node 3 up", "leaf 2 -> spine 0"
    int host = -1;     // whose own cable it is; -1: nobody's
};

struct Fabric {
    int hosts = 0;
    int hosts_per_node =
        1;  // consecutive ones are devices of one machine: traffic is counted by it
    std::vector<Link> links;
    std::vector<LinkId>
        back;  // [link]: the other way of its cable; empty: no way matters to another
    /// Replaces `route` by the links from one host to another, in order. Pure. Called for from !=
    /// to only.
    std::function<void(int from, int to, Route& route)> find_route;
    /// Names a link, for reports. Pure.
    std::function<LinkLabel(LinkId link)> label;
};

}  // namespace paceline
