#include "sim/numeric/draws.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <doctest/doctest.h>

namespace paceline {

namespace {

using Draw = std::function<double(RandomStream&)>;

struct Law {
    std::string name;
    Draw ours;
    Draw boosts;
    double tolerance = 1e-15;  // relative
};

const std::vector<Law> laws{
    {"normal", [](RandomStream& s) { return draw_normal(s); },
     boost::random::normal_distribution<double>()},
    {"normal about 3", [](RandomStream& s) { return draw_normal(s, 3, 0.25); },
     boost::random::normal_distribution<double>(3, 0.25)},
    {"log-normal", [](RandomStream& s) { return draw_log_normal(s, -2, 1.5); },
     boost::random::lognormal_distribution<double>(-2, 1.5)},
    {"exponential", [](RandomStream& s) { return draw_exponential(s); },
     boost::random::exponential_distribution<double>()},
    {"exponential of a rate", [](RandomStream& s) { return draw_exponential(s, 0.3); },
     boost::random::exponential_distribution<double>(0.3)},
    {"gamma 0.3", [](RandomStream& s) { return draw_gamma(s, 0.3); },
     boost::random::gamma_distribution<double>(0.3), 1e-13},
    {"gamma 1", [](RandomStream& s) { return draw_gamma(s, 1); },
     boost::random::gamma_distribution<double>(1)},
    {"gamma 1.1", [](RandomStream& s) { return draw_gamma(s, 1.1); },
     boost::random::gamma_distribution<double>(1.1), 1e-13},
};

}  // namespace

// The oracle calls the C library, so results may differ in last bits; a gamma draw's x + alpha - 1
// cancels, and keeps an absolute error of a tangent's last bit.
TEST_CASE("draws: a million of each law are Boost's, and leave the stream where Boost leaves it") {
    constexpr int each = 200'000;
    for (const Law& law : laws) {
        CAPTURE(law.name);
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(seed);
            RandomStream stream = RandomStreams(seed).stream("draws");
            RandomStream same = stream;
            double worst = 0;
            for (int i = 0; i < each; ++i) {
                const double theirs = law.boosts(same);
                const double difference = std::abs(law.ours(stream) - theirs);
                worst = std::max(worst, difference / std::max(std::abs(theirs), 0.01));
            }
            CHECK(worst <= law.tolerance);
            CHECK(stream == same);
        }
    }
}

TEST_CASE("draws: means and variances are those of the laws") {
    constexpr int each = 100'000;
    const auto check_moments = [&](const Draw& draw, double mean, double variance) {
        RandomStream stream = RandomStreams(7).stream("moments");
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < each; ++i) {
            const double x = draw(stream) - mean;
            sum += x;
            squares += x * x;
        }
        CHECK(std::abs(sum / each) < 5 * std::sqrt(variance / each));
        CHECK(squares / each == doctest::Approx(variance).epsilon(0.03));
    };
    check_moments([](RandomStream& s) { return draw_normal(s, 1, 2); }, 1, 4);
    check_moments([](RandomStream& s) { return draw_exponential(s, 0.5); }, 2, 4);
    check_moments([](RandomStream& s) { return draw_gamma(s, 0.5); }, 0.5, 0.5);
    check_moments([](RandomStream& s) { return draw_gamma(s, 3); }, 3, 3);
}

}  // namespace paceline
