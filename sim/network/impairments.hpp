// What links do to messages beyond rate and latency: jitter and loss, of a whole network.
//
// Exists only where a link jitters or loses, so that ideal links cost nothing. Invariants:
//   (1) Each directed link draws its jitter from a stream of its own, in the order in which messages
//       begin to flow on it.
//   (2) Messages of a lane arrive in their order: one that would overtake arrives with the one
//       before it.
// Memory: O(links + flows + messages on their way).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sim/engine/random.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/mailboxes.hpp"

namespace paceline {

class Impairments {
  public:
    using Lane = std::tuple<int, int, Stream>;  // from, to, stream

    /// Null where no link jitters or loses.
    static std::unique_ptr<Impairments> make(std::span<const Link> links,
                                             const RandomStreams& streams);

    /// A flow begins: its bound is set anew. Returns what jitter adds to its latency.
    Duration begin(std::uint32_t flow, const Route& route);

    /// The most that loss leaves the flow.
    [[nodiscard]] Bandwidth bound(std::uint32_t flow) const {
        return bounds_.empty() ? unbounded : bounds_[flow];
    }

    /// When a message of the lane arrives that would arrive at that time, alone.
    Time in_order(const Lane& lane, Time arrival);
    /// A message of the lane has arrived.
    void arrived(const Lane& lane, Time now);

  private:
    static constexpr Bandwidth unbounded{std::numeric_limits<std::int64_t>::max()};

    Impairments(std::span<const Link> links, const RandomStreams& streams);

    std::vector<Link> links_;
    std::vector<RandomStream> streams_;   // [link], where a link jitters
    std::vector<Bandwidth> bounds_;       // [flow], where a link loses
    std::map<Lane, Time> last_arrivals_;  // of lanes with a message on its way
    bool loses_ = false;
};

}  // namespace paceline
