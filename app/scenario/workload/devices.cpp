#include "app/scenario/workload/devices.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/resources.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr auto all_device_keys =
    std::to_array<std::string_view>({"name", "title", "peak_flops", "source"});

constexpr double most_peak = 1e18;

std::vector<Peak> read_peaks(const Place& place) {
    const ObjectReader read(place, precision_names);
    std::vector<Peak> peaks{
        {Precision::fp32,
         as_number_above(read.required("fp32", "operations per second"), 0, most_peak)}};
    for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16})
        if (const auto peak = read.optional(name_of(precision)))
            peaks.push_back({precision, as_number_above(*peak, 0, most_peak)});
    return peaks;
}

}  // namespace

std::optional<double> Device::peak(Precision precision) const {
    const auto found = std::ranges::find(peaks, precision, &Peak::precision);
    if (found == peaks.end()) return std::nullopt;
    return found->flops;
}

std::vector<Device> device_table() {
    const std::string file = "models/devices.json";
    const Json json = parse_json(resource(file), file);
    std::vector<Device> devices;
    for (const Json& entry : json.at("devices")) {
        const ObjectReader read({&entry, &file, "devices"}, all_device_keys);
        devices.push_back({as_string(read.required("name", "the device's name")),
                           as_string(read.required("title", "its full name")),
                           read_peaks(read.required("peak_flops", "by precision")),
                           as_string(read.required("source", "where the peaks come from"))});
    }
    return devices;
}

Precision as_precision(const Place& place) {
    return static_cast<Precision>(as_name(place, "a precision", precision_names));
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
