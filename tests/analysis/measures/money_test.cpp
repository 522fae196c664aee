// Energy and money against published accounts of training runs, and a sum by hand.
#include "analysis/measures/money.hpp"

#include <cmath>

#include <doctest/doctest.h>

namespace paceline::money_test {
namespace {

using doctest::Approx;

DeviceUse computing_for(double device_hours) {
    DeviceUse use;
    use.computing_s = device_hours * 3600;
    use.time_s = use.computing_s;
    return use;
}

double megawatt_hours(double device_hours, Power power) {
    return energy_kwh(power, computing_for(device_hours), {}) * 1e-3;
}

// BLOOM: 1,082,990 A100-hours at 400 W are 433,196 kWh (Luccioni et al., arXiv 2211.02001). LLaMA,
// table 15 (arXiv 2302.13971), which prints whole MWh at 400 W and 1.1; GPU-hours from memory.
TEST_CASE("energy: device-hours at a board's power are the published energy of training runs") {
    CHECK(megawatt_hours(1'082'990, {.computing = 400}) == Approx(433.196).epsilon(1e-9));
    CHECK(std::abs(megawatt_hours(82'432, {.computing = 400, .overhead = 1.1}) - 36) < 0.5);
    CHECK(std::abs(megawatt_hours(135'168, {.computing = 400, .overhead = 1.1}) - 59) < 0.5);
    CHECK(std::abs(megawatt_hours(530'432, {.computing = 400, .overhead = 1.1}) - 233) < 0.5);
    CHECK(std::abs(megawatt_hours(809'472, {.computing = 400, .overhead = 1.1}) - 356) < 0.5);
}

// Four devices on two hosts for an hour, a quarter of which they are away: 4 x 2700 s there.
TEST_CASE("energy and money: each state, host, port, byte, hour and kWh counts once") {
    DeviceUse use;
    use.time_s = 3600;
    use.computing_s = 6000;
    use.communicating_s = 3000;
    use.waiting_s = 1800;
    use.away_s = 3600;
    use.sent_gb = 7;
    use.received_gb = 5;
    const Power power{300, 120, 60, 500, 10, 1.25};
    const double joules =
        300 * 6000.0 + 120 * 3000.0 + 60 * 1800.0 + 500 * 2 * 2700.0 + 10 * 8 * 3600.0;
    const double kwh = energy_kwh(power, use, {2, 8});
    CHECK(kwh == Approx(1.25 * joules / 3.6e6).epsilon(1e-12));
    CHECK(use.device_hours() == Approx(3));
    CHECK(cost({2, 3, 1.5, 0.1}, use, kwh) == Approx(2 * 7 + 3 * 5 + 1.5 * 3 + 0.1 * kwh));
}

TEST_CASE("energy: a job of no time takes none") {
    CHECK(energy_kwh({400, 400, 400, 1000, 10, 1.2}, {}, {4, 4}) == 0);
}

}  // namespace
}  // namespace paceline::money_test
