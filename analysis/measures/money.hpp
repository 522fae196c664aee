// Energy and money of a job, from what its machines have done (device_use.hpp).
//
//   energy  =  overhead (P_c t_c + P_m t_m + P_w t_w  +  P_h H t_h  +  P_p p T)
//   cost    =  c_up up + c_down down + c_h device-hours + c_e energy
//
//   symbol          unit         meaning
//   t_c, t_m, t_w   device-s     computing, communicating, waiting; sums over devices
//   t_h             s            the time of the job, less the share in which devices were away
//   T               s            the time of the job
//   P_c, P_m, P_w   W            of a device in these states
//   P_h, H          W, hosts     of a host beside its devices: processors, memory, fans, disks
//   P_p, p          W, ports     of a switch's port that has a cable
//   overhead        1            power usage effectiveness: all that a site draws / what its
//                                machines draw
//   up, down        GB           1e9 bytes that the workers send and receive
//   c_up .. c_e     a currency   of a GB, an hour of a device, a kWh
//
// Published totals are of this form with one state: LLaMA's energy is GPU-hours x 400 W x 1.1
// (Touvron et al., arXiv 2302.13971, table 15). Not modeled: that power depends on how well a
// computation uses the device, and follows a change of state late; disks and machines beside the
// job.
#pragma once

#include <cstdint>

#include "analysis/measures/device_use.hpp"

namespace paceline {

/// Watts, and the factor of the site.
struct Power {
    double computing = 0;
    double communicating = 0;
    double waiting = 0;
    double host = 0;
    double port = 0;
    double overhead = 1;
};

/// What draws power beside devices.
struct Equipment {
    std::int64_t hosts = 0;
    std::int64_t ports = 0;  // of switches
};

/// In any currency.
struct Price {
    double up_per_gb = 0;
    double down_per_gb = 0;
    double per_device_hour = 0;
    double per_kwh = 0;
};

double energy_kwh(const Power& power, const DeviceUse& use, Equipment beside);

double cost(const Price& price, const DeviceUse& use, double kwh);

}  // namespace paceline
