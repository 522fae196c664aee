// Jitter: what a link adds to its latency, message by message, as a named distribution.
//
//   law         parameters            density or law of the delay x >= 0         mean
//   normal      mean m, sd s          normal (m, s) given that x >= 0            m + s phi(a)/Phi(a),
//                                                                                a = m/s
//   log-normal  median q, sigma s     ln x normal with mean ln q and sd s        q exp(s^2/2)
//   pareto      scale q, shape a      P(X > x) = (q/x)^a for x >= q              q a/(a-1), a > 1
//
// phi and Phi: density and distribution function of the standard normal. The normal law is drawn by
// rejection of what is negative: at least every second draw is kept, as m >= 0. Means are finite, for
// round trips are made of them. Draws are Boost.Random's and so the same on every machine; beyond
// the range of time they are the end of it.
#pragma once

#include <cstdint>

#include "sim/engine/random.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class LinkJitterLaw : std::uint8_t { none, normal, log_normal, pareto };

struct LinkJitter {
    LinkJitterLaw law = LinkJitterLaw::none;
    Duration typical{};  // mean, median or scale; above 0 but for the mean
    double spread = 0;   // sd in seconds, sigma, or shape: at least 0; the shape above 1

    constexpr bool operator==(const LinkJitter&) const = default;
};

/// What a message waits on top of the latency. Advances the stream unless the law is none.
Duration draw_delay(const LinkJitter& jitter, RandomStream& stream);

/// Of many draws, by the closed form.
Duration mean_delay(const LinkJitter& jitter);

}  // namespace paceline
