#include "sim/network/jitter.hpp"

#include <cmath>
#include <numbers>

#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

double draw_seconds(const LinkJitter& jitter, RandomStream& stream) {
    const double typical = to_seconds(jitter.typical);
    switch (jitter.law) {
        case LinkJitterLaw::normal: {
            boost::random::normal_distribution<double> normal(typical, jitter.spread);
            double delay = normal(stream);
            while (delay < 0) delay = normal(stream);
            return delay;
        }
        case LinkJitterLaw::log_normal:
            return boost::random::lognormal_distribution<double>(std::log(typical),
                                                                 jitter.spread)(stream);
        case LinkJitterLaw::pareto: {
            const double above = 1 - boost::random::uniform_01<double>()(stream);  // in (0, 1]
            return typical * std::pow(above, -1 / jitter.spread);
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
            const double density = std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi);
            return typical + jitter.spread * density / (std::erfc(-a / std::numbers::sqrt2) / 2);
        }
        case LinkJitterLaw::log_normal:
            return typical * std::exp(jitter.spread * jitter.spread / 2);
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
