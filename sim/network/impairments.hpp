// Jitter and loss of a whole network, and the limits of its flows: what happens to messages beyond
// the rates and latencies of links.
//
// The object exists only if some link jitters or loses, or if flows are limited, so ideal links
// cost nothing. Invariants:
//   (1) Each directed link draws its jitter from its own stream, in the order in which messages
//       begin to flow on it.
//   (2) Messages of a lane arrive in order: a message that would overtake its predecessor arrives
//       together with it.
// Memory: O(links + flows + lanes), at their peaks.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sim/engine/random.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/flow_limits.hpp"

namespace paceline {

class Impairments {
  public:
    /// Returns null if no link jitters or loses and no flow is limited.
    static std::unique_ptr<Impairments> make(std::span<const Link> links, const FlowLimits& limits,
                                             const RandomStreams& streams);

    /// Starts a flow: sets its bound anew and returns the delay that jitter adds to its latency.
    /// Limits hold between machines.
    Duration begin(std::uint32_t flow, const Route& route, bool between_machines);

    [[nodiscard]] bool has_jitter() const { return !streams_.empty(); }
    /// Returns the highest rate that loss and its limits allow a flow on a route.
    [[nodiscard]] Bandwidth bound_of(const Route& route, bool between_machines) const;
    /// Returns the highest rate that loss and its limits allow the flow.
    [[nodiscard]] Bandwidth bound(std::uint32_t flow) const {
        return bounds_.empty() ? unbounded : bounds_[flow];
    }

    /// Returns when a message of the lane arrives that would arrive at `arrival` if it were alone.
    /// A lane with nothing in flight may give its number to another one.
    Time in_order(std::uint32_t lane, Time arrival);

  private:
    static constexpr Bandwidth unbounded{std::numeric_limits<std::int64_t>::max()};

    Impairments(std::span<const Link> links, const FlowLimits& limits,
                const RandomStreams& streams);

    FlowLimits limits_;
    std::vector<Link> links_;
    std::vector<RandomStream> streams_;  // [link], if any link jitters
    std::vector<Bandwidth> bounds_;      // [flow], if any link loses or flows are limited
    std::vector<Time> last_arrivals_;    // [lane], if any link jitters
    bool loses_ = false;
};

}  // namespace paceline
