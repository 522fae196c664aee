#include "app/scenario/workload/device_time.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/workload/devices.hpp"
#include "models/profile.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr auto own_device_key_table =
    std::to_array<std::string_view>({"name", "peak_flops", "like", "efficiency"});

constexpr double most_own_peak = 1e18;

// Returns a hint on what to use if no throughput was measured.
std::string instead_of_measured(std::string_view device) {
    if (known_device(device) == nullptr) return "give \"step_time\"";
    return fmt::format("give \"step_time\", or \"efficiency\": {} for an estimate",
                       default_efficiency);
}

// What a profile was measured on.
struct Measured {
    std::vector<std::string_view> devices;
    std::vector<std::string_view> precisions;  // on the device in question
    std::vector<std::string> batches;          // on it in the precision in question
    std::optional<double>
        of_any_batch;  // samples per second, with a batch that the source does not state
};

template <class T>
void add_once(std::vector<T>& all, T one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

Measured measured_in(const Profile& profile, std::string_view device, Precision precision) {
    Measured measured;
    for (const MeasuredThroughput& row : profile.throughput) {
        add_once(measured.devices, std::string_view(row.device));
        if (row.device != device) continue;
        add_once(measured.precisions, name_of(row.precision));
        if (row.precision != precision) continue;
        if (row.batch) measured.batches.push_back(fmt::format("{}", *row.batch));
        if (!row.batch && !measured.of_any_batch) measured.of_any_batch = row.samples_per_s;
    }
    return measured;
}

[[noreturn]] void refuse_unmeasured(const Profile& profile, const Place& place,
                                    const Measured& measured, std::int64_t batch,
                                    Precision precision) {
    const std::string device = as_string(place);
    if (!measured.batches.empty())
        place.refuse(fmt::format("{} was measured with batch {} on {}, not with {}; {}",
                                 profile.name, fmt::join(measured.batches, ", "), device, batch,
                                 instead_of_measured(device)));
    if (!measured.precisions.empty())
        place.refuse(
            fmt::format("{} was measured in {} on {}, not in {}; state the \"precision\", or {}",
                        profile.name, fmt::join(measured.precisions, ", "), device,
                        name_of(precision), instead_of_measured(device)));
    if (known_device(device) != nullptr || measured.devices.empty())
        place.refuse(fmt::format("no throughput of {} is known{}; {}", profile.name,
                                 measured.devices.empty() ? "" : " on " + device,
                                 instead_of_measured(device)));
    Fault fault = unknown(device, "a device with a throughput of this profile", measured.devices);
    fault.problem += "; " + how_to_state_another(profile.macs(), batch);
    place.refuse(std::move(fault));
}

// Returns the time of a gradient on the line through those of the two measured batches that are
// nearest, of which the first row counts; empty where fewer were measured, or the line falls, or it
// has no time of its own at a batch of none.
std::optional<double> seconds_between_batches(const Profile& profile, std::string_view device,
                                              Precision precision, std::int64_t batch) {
    std::map<std::int64_t, double> seconds;  // by measured batch
    for (const MeasuredThroughput& row : profile.throughput)
        if (row.device == device && row.precision == precision && row.batch)
            seconds.try_emplace(*row.batch, static_cast<double>(*row.batch) / row.samples_per_s);
    if (seconds.size() < 2) return std::nullopt;
    auto high = seconds.lower_bound(batch);
    if (high == seconds.begin()) ++high;
    if (high == seconds.end()) --high;
    const auto low = std::prev(high);
    const double per_sample =
        (high->second - low->second) / static_cast<double>(high->first - low->first);
    const double floor = low->second - per_sample * static_cast<double>(low->first);
    if (per_sample <= 0 || floor < 0) return std::nullopt;
    return floor + per_sample * static_cast<double>(batch);
}

// Uses the first row measured with this batch, otherwise the first whose batch is not stated,
// otherwise the measured batches that are nearest.
Duration measured_step(const Profile& profile, const Place& place, std::int64_t batch,
                       Precision precision) {
    const std::string device = as_string(place);
    for (const MeasuredThroughput& row : profile.throughput)
        if (row.device == device && row.precision == precision && row.batch == batch)
            return from_seconds(static_cast<double>(batch) / row.samples_per_s);
    const Measured measured = measured_in(profile, device, precision);
    if (measured.of_any_batch)
        return from_seconds(static_cast<double>(batch) / *measured.of_any_batch);
    if (const auto seconds = seconds_between_batches(profile, device, precision, batch))
        return from_seconds(*seconds);
    refuse_unmeasured(profile, place, measured, batch, precision);
}

double macs_of(const TimedNet& net) {
    return std::accumulate(net.tensor_macs->begin(), net.tensor_macs->end(), 0.0);
}

// Returns the peak of a named device in the precision that the scenario asks for.
double peak_of(const DeviceChoice& choice, Precision precision, double macs, std::int64_t batch) {
    const std::string name = as_string(choice.device);
    const Device* const device = known_device(name);
    if (device == nullptr) {
        Fault fault = unknown(name, "a device of known peak", names_of(device_table()));
        fault.problem += "; " + how_to_state_another(macs, batch);
        choice.device.refuse(std::move(fault));
    }
    if (const auto peak = device->peak(precision)) return *peak;
    std::vector<std::string_view> known;
    for (const Peak& peak : device->peaks) known.push_back(name_of(peak.precision));
    choice.precision.value_or(choice.device)
        .refuse(fmt::format("{} has no peak in {}; it has one in {}", name, name_of(precision),
                            fmt::join(known, ", ")));
}

Duration step_by_peak(const DeviceChoice& choice, const TimedNet& net, Precision precision) {
    const Place& efficiency = *choice.efficiency;
    const double share = as_number_above(efficiency, 0, 1);
    const double macs = macs_of(net);
    const double peak = peak_of(choice, precision, macs, *net.batch);
    if (macs == 0)
        efficiency.refuse(fmt::format(
            "{} has no multiply-accumulates to estimate from; give \"step_time\"", net.name));
    const Duration step = estimated_step(macs, *net.batch, peak, share);
    if (step == Duration::max())
        efficiency.refuse("makes a step longer than the clock can represent; raise it");
    return step;
}

Duration time_like(const Place& like, const Place& efficiency, const TimedNet& net,
                   Precision precision) {
    constexpr double most = 1e6;
    if (!net.charged) like.refuse("needs a \"profile\", whose throughput was measured");
    const Duration step =
        from_seconds(to_seconds(measured_step(net.charged->profile, like, *net.batch, precision)) /
                     as_number_above(efficiency, 0, most));
    if (step == Duration::zero()) efficiency.refuse("makes a step take no time; lower it");
    return step;
}

// Returns the time on a device that the scenario describes: by its peak, or relative to a device on
// which the net was measured.
Duration time_on_own_device(const DeviceChoice& choice, const TimedNet& net, Precision precision) {
    const Place& device = choice.device;
    const ObjectReader read(device, own_device_key_table);
    read.not_both("peak_flops", "like");
    if (const auto name = read.optional("name")) static_cast<void>(as_string(*name));
    if (!net.batch) device.refuse("a device needs a \"batch\"");
    const Place efficiency = read.required(
        "efficiency",
        "the share of \"peak_flops\" that is reached, or the speed relative to \"like\"");
    if (const auto like = read.optional("like"))
        return time_like(*like, efficiency, net, precision);
    const Place peak = read.required(
        "peak_flops",
        "operations per second, such as 1.4e13; or name a measured device in \"like\"");
    if (choice.precision)
        choice.precision->refuse(
            "is for a named device; \"peak_flops\" is a peak in the precision that you mean");
    const double macs = macs_of(net);
    if (macs == 0)
        device.refuse(fmt::format(
            "{} has no multiply-accumulates to estimate from; give \"step_time\"", net.name));
    const Duration step = estimated_step(macs, *net.batch, as_number_above(peak, 0, most_own_peak),
                                         as_number_above(efficiency, 0, 1));
    if (step == Duration::max())
        efficiency.refuse("makes a step longer than the clock can represent; raise it");
    return step;
}

}  // namespace

Keys own_device_keys() {
    return own_device_key_table;
}

std::optional<double> peak_of_own_device(const Place& device) {
    const auto peak = ObjectReader(device, own_device_key_table).optional("peak_flops");
    if (!peak) return std::nullopt;
    return as_number_above(*peak, 0, most_own_peak);
}

Duration time_on_device(const DeviceChoice& choice, const TimedNet& net) {
    const Place& device = choice.device;
    const Precision precision = choice.precision ? as_precision(*choice.precision) : net.precision;
    if (device.json->is_object()) {
        if (choice.efficiency)
            choice.efficiency->refuse("is for a named device; write it into the \"device\"");
        return time_on_own_device(choice, net, precision);
    }
    if (!net.charged && macs_of(net) == 0)
        device.refuse("a device needs a \"profile\"; give \"step_time\"");
    if (!net.batch) device.refuse("a device needs a \"batch\"");
    if (choice.efficiency) return step_by_peak(choice, net, precision);
    if (!net.charged)
        device.refuse(
            fmt::format("no throughput of {} is known; give \"step_time\", or "
                        "\"efficiency\": {} for an estimate",
                        net.name, default_efficiency));
    return measured_step(net.charged->profile, device, *net.batch, precision);
}

}  // namespace paceline
