#include "app/scenario/money.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

constexpr auto price_key_table =
    std::to_array<std::string_view>({"up_per_gb", "down_per_gb", "per_device_hour", "per_kwh"});
constexpr auto power_key_table = std::to_array<std::string_view>(
    {"computing", "communicating", "waiting", "host", "port", "overhead"});
constexpr double most_price = 1e12;
constexpr double most_watts = 1e9;

double per_device_hour(const Place& place, const Device* device) {
    if (!place.json->is_string()) return as_number_up_to(place, most_price);
    if (as_string(place) != "list")
        place.refuse("is neither a price nor \"list\", the list price of the workload's device");
    if (device == nullptr)
        place.refuse(
            "the workload names no device of paceline list devices, or nodes have several; state "
            "the price");
    if (!device->price)
        place.refuse(fmt::format("no list price of {} is known; state the price", device->name));
    return device->price->per_hour;
}

}  // namespace

Keys price_keys() {
    return price_key_table;
}
Keys power_keys() {
    return power_key_table;
}

Power read_power(const Place& place, const Device* device) {
    const ObjectReader read(place, power_key_table);
    Power power;
    if (device != nullptr && device->watts && !read.has("computing"))
        power.computing = device->watts->most;
    else
        power.computing = as_number_up_to(
            read.required("computing", "watts of a device while it computes, such as 400"),
            most_watts);
    power.communicating = power.computing;
    if (const auto p = read.optional("communicating"))
        power.communicating = as_number_up_to(*p, most_watts);
    power.waiting = power.communicating;
    if (const auto p = read.optional("waiting")) power.waiting = as_number_up_to(*p, most_watts);
    if (const auto p = read.optional("host")) power.host = as_number_up_to(*p, most_watts);
    if (const auto p = read.optional("port")) power.port = as_number_up_to(*p, most_watts);
    if (const auto p = read.optional("overhead")) {
        power.overhead = as_number_up_to(*p, 100);
        if (power.overhead < 1)
            p->refuse("is below 1; a site draws at least what its machines draw");
    }
    return power;
}

Price read_price(const Place& place, const Device* device, bool power_is_known) {
    const ObjectReader read(place, price_key_table);
    Price price;
    if (const auto p = read.optional("up_per_gb"))
        price.up_per_gb = as_number_up_to(*p, most_price);
    if (const auto p = read.optional("down_per_gb"))
        price.down_per_gb = as_number_up_to(*p, most_price);
    if (const auto p = read.optional("per_device_hour"))
        price.per_device_hour = per_device_hour(*p, device);
    if (const auto p = read.optional("per_kwh")) {
        price.per_kwh = as_number_up_to(*p, most_price);
        if (!power_is_known) p->refuse("needs \"power\", which is what the machines draw");
    }
    return price;
}

}  // namespace paceline
