#include "sim/network/jitter.hpp"

#include <cmath>
#include <numbers>

#include <boost/random/uniform_01.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

double draw_seconds(const LinkJitter& jitter, RandomStream& stream) {
    const double typical = to_seconds(jitter.typical);
    switch (jitter.law) {
        case LinkJitterLaw::normal: {
            double delay = draw_normal(stream, typical, jitter.spread);
            while (delay < 0) delay = draw_normal(stream, typical, jitter.spread);
            return delay;
        }
        case LinkJitterLaw::log_normal:
            return draw_log_normal(stream, elementary::log(typical), jitter.spread);
        case LinkJitterLaw::pareto: {
            const double above = 1 - boost::random::uniform_01<double>()(stream);  // in (0, 1]
            return typical * elementary::pow(above, -1 / jitter.spread);
        }
        case LinkJitterLaw::none:
            break;
    }
    return 0;
}

double mean_seconds(const LinkJitter& jitter) {
    const double typical = to_seconds(jitter.typical);
    switch (jitter.law) {
        case LinkJitterLaw::normal: {
            if (jitter.spread == 0) return typical;
            const double a = typical / jitter.spread;
            const double density = elementary::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi);
            return typical +
                   jitter.spread * density / ((1 + elementary::erf(a / std::numbers::sqrt2)) / 2);
        }
        case LinkJitterLaw::log_normal:
            return typical * elementary::exp(jitter.spread * jitter.spread / 2);
        case LinkJitterLaw::pareto:
            return typical * jitter.spread / (jitter.spread - 1);
        case LinkJitterLaw::none:
            break;
    }
    return 0;
}

void check(const LinkJitter& jitter) {
    PACELINE_CHECK(jitter.typical >= Duration::zero() && jitter.spread >= 0,
                   "jitter has no negative figures");
    PACELINE_CHECK(jitter.law != LinkJitterLaw::log_normal || jitter.typical > Duration::zero(),
                   "a log-normal delay has a median above 0");
    PACELINE_CHECK(jitter.law != LinkJitterLaw::pareto || jitter.spread > 1,
                   "a Pareto delay has a shape above 1, so that it has a mean");
}

}  // namespace

Duration draw_delay(const LinkJitter& jitter, RandomStream& stream) {
    if (jitter.law == LinkJitterLaw::none) return {};
    check(jitter);
    return from_seconds(draw_seconds(jitter, stream));
}

Duration mean_delay(const LinkJitter& jitter) {
    if (jitter.law == LinkJitterLaw::none) return {};
    check(jitter);
    return from_seconds(mean_seconds(jitter));
}

}  // namespace paceline
