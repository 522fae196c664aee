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

constexpr auto all_device_keys = std::to_array<std::string_view>(
    {"name", "title", "peak_flops", "source", "memory", "memory_source", "watts", "price"});
constexpr auto watt_keys = std::to_array<std::string_view>({"most", "idle", "source"});
constexpr auto list_price_keys =
    std::to_array<std::string_view>({"per_hour", "currency", "date", "source"});

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

Watts read_watts(const Place& place) {
    constexpr double most = 1e6;
    const ObjectReader read(place, watt_keys);
    Watts watts;
    watts.most = as_number_above(read.required("most", "the limit of the board"), 0, most);
    if (const auto idle = read.optional("idle")) watts.idle = as_number_above(*idle, 0, most);
    watts.source = as_string(read.required("source", "where they come from"));
    return watts;
}

ListPrice read_list_price(const Place& place) {
    const ObjectReader read(place, list_price_keys);
    return {as_number_above(read.required("per_hour", "of one device"), 0, 1e6),
            as_string(read.required("currency", "such as \"USD\"")),
            as_string(read.required("date", "when it was listed")),
            as_string(read.required("source", "who listed it, and where"))};
}

Device read_device(const Place& place) {
    const ObjectReader read(place, all_device_keys);
    Device device{as_string(read.required("name", "the device's name")),
                  as_string(read.required("title", "its full name")),
                  read_peaks(read.required("peak_flops", "by precision")),
                  as_string(read.required("source", "where the peaks come from"))};
    if (const auto memory = read.optional("memory")) {
        device.memory = as_bytes(*memory);
        device.memory_source =
            as_string(read.required("memory_source", "where the memory's size comes from"));
    }
    if (const auto watts = read.optional("watts")) device.watts = read_watts(*watts);
    if (const auto price = read.optional("price")) device.price = read_list_price(*price);
    return device;
}

}  // namespace

std::optional<double> Device::peak(Precision precision) const {
    const auto found = std::ranges::find(peaks, precision, &Peak::precision);
    if (found == peaks.end()) return std::nullopt;
    return found->flops;
}

namespace {

std::vector<Device> read_device_table() {
    const std::string file = "models/devices.json";
    const Json json = parse_json(resource(file), file);
    std::vector<Device> devices;
    for (const Json& entry : json.at("devices"))
        devices.push_back(read_device({&entry, &file, "devices"}));
    return devices;
}

}  // namespace

// Each point of a study asks for its device several times, and reading the table takes four times
// as long as reading a point.
const std::vector<Device>& device_table() {
    static const std::vector<Device> table = read_device_table();
    return table;
}

const Device* known_device(std::string_view name) {
    const std::vector<Device>& devices = device_table();
    const auto found = std::ranges::find(devices, name, &Device::name);
    return found == devices.end() ? nullptr : &*found;
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
