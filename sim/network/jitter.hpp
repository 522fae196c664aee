// Jitter: the delay a link adds to its latency, drawn per message from a named distribution.
//
//   law         parameters            density or law of the delay x >= 0       mean
//   normal      mean m, sd s          normal (m, s) given that x >= 0          m + s phi(a)/Phi(a),
//                                                                              a = m/s
//   log-normal  median q, sigma s     ln x normal with mean ln q and sd s      q exp(s^2/2)
//   pareto      scale q, shape a      P(X > x) = (q/x)^a for x >= q            q a/(a-1), a > 1
//
// phi and Phi are the density and the distribution function of the standard normal law. The normal
// law is drawn by rejecting negative values; at least every second draw is kept, as m >= 0. Means
// are finite, because round trips are computed from them. Draws use Boost.Random's algorithms and
// so are the same on every machine. A delay beyond the range of time is set to the end of that
// range.
#pragma once

#include <cstdint>

#include "sim/engine/random.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class LinkJitterLaw : std::uint8_t { none, normal, log_normal, pareto };

struct LinkJitter {
    LinkJitterLaw law = LinkJitterLaw::none;
    Duration typical{};  // mean, median or scale; above 0, except that a mean may be 0
    double spread = 0;   // sd in seconds, sigma, or shape: at least 0; a shape is above 1

    constexpr bool operator==(const LinkJitter&) const = default;
};

/// Draws the delay of a message on top of the latency. Advances the stream unless the law is none.
Duration draw_delay(const LinkJitter& jitter, RandomStream& stream);

/// Returns the mean of draw_delay(), from the closed form.
Duration mean_delay(const LinkJitter& jitter);

}  // namespace paceline
