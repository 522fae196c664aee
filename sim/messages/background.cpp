#include "sim/messages/background.hpp"

#include <algorithm>

#include <boost/random/uniform_01.hpp>

#include "sim/engine/check.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/messages/transfer.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

namespace {

constexpr Stream only_stream = 0;

// Returns a length with this mean, at least one tick so that time advances.
Duration length_of(Duration mean, bool drawn, RandomStream& random) {
    if (!drawn || mean == Duration::zero()) return mean;
    return std::max(from_seconds(draw_exponential(random) * to_seconds(mean)), Duration{1});
}

Task<> send_until(NetworkPart network, int from, int to, BackgroundSource source, Time end) {
    Simulation& simulation = network.simulation();
    while (simulation.now() < end) {
        const Time next = later(simulation.now(), source.message / source.rate);
        co_await Send(network, from, to, only_stream, source.message, Protocol::eager);
        co_await simulation.sleep(std::min(next, end) - simulation.now());
    }
}

}  // namespace

Task<> background_traffic(NetworkPart network, int from, int to, BackgroundSource source,
                          RandomStream random) {
    PACELINE_CHECK(source.rate.bits_per_second > 0, "background traffic has a rate");
    PACELINE_CHECK(source.message > Bytes{0}, "background traffic has messages of a byte or more");
    PACELINE_CHECK(source.on > Duration::zero(), "background traffic is on at times");
    Simulation& simulation = network.simulation();
    bool on = true;
    if (source.drawn) {
        const double share = to_seconds(source.on) / to_seconds(sum(source.on, source.off));
        on = boost::random::uniform_01<double>()(random) < share;
    }
    while (true) {
        const Duration length = length_of(on ? source.on : source.off, source.drawn, random);
        const Time end = later(simulation.now(), length);
        if (on) co_await send_until(network, from, to, source, end);
        co_await simulation.sleep(end - simulation.now());
        on = !on;
    }
}

}  // namespace paceline
