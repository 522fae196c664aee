// The "price" and the "power" of a scenario: what its bytes, devices and energy cost, and what its
// machines draw (analysis/measures/money.hpp).
//
//   power.computing       default: the limit of the device's board, if models/devices.json has it
//   power.communicating   default: as computing
//   power.waiting         default: as communicating; a collective of NCCL waits by computing
//   price.per_device_hour a number, or "list": the list price of the device in models/devices.json
//
// With the defaults, a device draws its limit for as long as the job lasts, as published accounts
// of training runs assume (Touvron et al., arXiv 2302.13971, table 15).
#pragma once

#include "analysis/measures/money.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/workload/devices.hpp"

namespace paceline {

Keys price_keys();
Keys power_keys();

/// `device` is the workload's; null: the table does not have it. Throw ConfigError.
Power read_power(const Place& place, const Device* device);
Price read_price(const Place& place, const Device* device, bool power_is_known);

}  // namespace paceline
