#include "app/scenario/workload/devices.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/resources.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr auto all_device_keys =
    std::to_array<std::string_view>({"name", "title", "peak_flops", "source"});

}  // namespace

std::vector<Device> device_table() {
    const std::string file = "models/devices.json";
    const Json json = parse_json(resource(file), file);
    std::vector<Device> devices;
    for (const Json& entry : json.at("devices")) {
        const ObjectReader read({&entry, &file, "devices"}, all_device_keys);
        devices.push_back(
            {as_string(read.required("name", "the device's name")),
             as_string(read.required("title", "its full name")),
             as_number_above(read.required("peak_flops", "fp32 operations per second"), 0, 1e18),
             as_string(read.required("source", "where the peak comes from"))});
    }
    return devices;
}

std::string how_to_state_another(double macs, std::int64_t batch) {
    std::string text = fmt::format(
        "for another device give \"step_time\" instead: {} samples / its samples per second",
        batch);
    if (macs > 0)
        text += fmt::format(
            ", or {:.3g} TFLOP / (its peak * efficiency), whose median is {} of measured nets",
            estimated_step_flops(macs, batch) * 1e-12, default_efficiency);
    return text;
}

}  // namespace paceline
