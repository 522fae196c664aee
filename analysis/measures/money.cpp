#include "analysis/measures/money.hpp"

namespace paceline {

double energy_kwh(const Power& power, const DeviceUse& use, Equipment beside) {
    constexpr double joules = 3.6e6;
    const double present_s = use.computing_s + use.communicating_s + use.waiting_s;
    const double devices_s = present_s + use.away_s;
    const double hosts_s = devices_s > 0 ? use.time_s * (present_s / devices_s) : 0;
    const double devices_j = power.computing * use.computing_s +
                             power.communicating * use.communicating_s +
                             power.waiting * use.waiting_s;
    const double hosts_j = power.host * static_cast<double>(beside.hosts) * hosts_s;
    const double ports_j = power.port * static_cast<double>(beside.ports) * use.time_s;
    return power.overhead * (devices_j + hosts_j + ports_j) / joules;
}

double cost(const Price& price, const DeviceUse& use, double kwh) {
    return price.up_per_gb * use.sent_gb + price.down_per_gb * use.received_gb +
           price.per_device_hour * use.device_hours() + price.per_kwh * kwh;
}

}  // namespace paceline
