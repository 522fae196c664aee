#include "app/scenario/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr auto workload_key_table = std::to_array<std::string_view>(
    {"profile", "gradient", "tensors", "model", "data", "sampling", "stand_in_for", "step_time",
     "gradient_time", "device", "efficiency", "batch", "global_batch", "accumulation",
     "update_time", "dataset_samples"});
constexpr auto stand_in_key_table = std::to_array<std::string_view>(
    {"profile", "step_time", "gradient_time", "device", "efficiency", "batch"});
constexpr auto own_device_key_table =
    std::to_array<std::string_view>({"name", "peak_flops", "like", "efficiency"});
constexpr auto samplings = std::to_array<Spelling<Sampling>>(
    {{"passes", Sampling::passes}, {"with-replacement", Sampling::with_replacement}});

constexpr std::int64_t most_gradient_entries = std::int64_t{1} << 50;
constexpr std::int64_t most_trained_batch = 1 << 20;

// Returns a hint on what to use if no throughput was measured.
std::string instead_of_measured(std::string_view device) {
    const std::vector<Device> devices = device_table();
    if (std::ranges::find(devices, device, &Device::name) == devices.end())
        return "give \"step_time\"";
    return fmt::format("give \"step_time\", or \"efficiency\": {} for an estimate",
                       default_efficiency);
}

// Uses the first row measured with this batch, otherwise the first whose batch is not stated.
Duration measured_step(const Profile& profile, const Place& place, std::int64_t batch) {
    const std::string device = as_string(place);
    std::vector<std::string_view> devices;
    std::vector<std::string> batches;
    std::optional<double> of_any_batch;  // with a batch that the source does not state
    for (const MeasuredThroughput& row : profile.throughput) {
        if (row.device == device && row.batch == batch)
            return from_seconds(static_cast<double>(batch) / row.samples_per_s);
        if (row.device == device && row.batch) batches.push_back(fmt::format("{}", *row.batch));
        if (row.device == device && !row.batch && !of_any_batch) of_any_batch = row.samples_per_s;
        if (std::ranges::find(devices, row.device) == devices.end()) devices.push_back(row.device);
    }
    if (of_any_batch) return from_seconds(static_cast<double>(batch) / *of_any_batch);
    if (!batches.empty())
        place.refuse(fmt::format("{} was measured with batch {} on {}, not with {}; {}",
                                 profile.name, fmt::join(batches, ", "), device, batch,
                                 instead_of_measured(device)));
    const std::vector<Device> known = device_table();
    if (std::ranges::find(known, device, &Device::name) != known.end() || devices.empty())
        place.refuse(fmt::format("no throughput of {} is known{}; {}", profile.name,
                                 devices.empty() ? "" : " on " + device,
                                 instead_of_measured(device)));
    Fault fault = unknown(device, "a device with a throughput of this profile", devices);
    fault.problem += "; " + how_to_state_another(profile.macs(), batch);
    place.refuse(std::move(fault));
}

// `macs` is the forward pass of one sample of the net called `name`.
Duration step_by_peak(std::string_view name, double macs, const Place& place, std::int64_t batch,
                      const Place& efficiency) {
    const double share = as_number_above(efficiency, 0, 1);
    const std::vector<Device> devices = device_table();
    const auto found = std::ranges::find(devices, as_string(place), &Device::name);
    if (found == devices.end()) {
        Fault fault = unknown(as_string(place), "a device of known peak", names_of(devices));
        fault.problem += "; " + how_to_state_another(macs, batch);
        place.refuse(std::move(fault));
    }
    if (macs == 0)
        efficiency.refuse(fmt::format(
            "{} states no multiply-accumulates to estimate by; give \"step_time\"", name));
    const Duration step = estimated_step(macs, batch, found->peak_flops, share);
    if (step == Duration::max()) efficiency.refuse("leaves a step beyond the clock; raise it");
    return step;
}

// Weak scaling states the samples of one gradient, strong scaling those of one step of all workers.
void read_batch(const ObjectReader& read, int workers, Workload& workload) {
    read.not_both("batch", "global_batch");
    if (const auto p = read.optional("accumulation"))
        workload.accumulation = static_cast<int>(as_integer(*p, 1, 1'000'000));
    if (const auto batch = read.optional("batch"))
        workload.batch = as_integer(*batch, 1, 1'000'000'000);
    if (const auto global = read.optional("global_batch")) {
        const std::int64_t samples = as_integer(*global, 1, std::int64_t{1} << 50);
        const std::int64_t gradients = std::int64_t{workers} * workload.accumulation;
        if (samples % gradients != 0)
            global->refuse(fmt::format("{} samples are not equal shares of {} gradients in a step",
                                       samples, gradients));
        workload.batch = samples / gradients;
    }
}

// A net whose gradient is timed.
struct TimedNet {
    std::string name;
    TensorMacs tensor_macs;
    ChargedNetPtr charged;  // null: a net that trains, or a number of bytes
};

// Returns the same on a device that the scenario describes: by its peak, or relative to a device on which
// the net was measured.
Duration time_on_own_device(const Place& device, const TimedNet& net,
                            std::optional<std::int64_t> batch) {
    const ObjectReader read(device, own_device_key_table);
    read.not_both("peak_flops", "like");
    if (const auto name = read.optional("name")) static_cast<void>(as_string(*name));
    if (!batch) device.refuse("a device needs a \"batch\"");
    const Place efficiency = read.required(
        "efficiency",
        "the share of \"peak_flops\" that is reached, or the speed relative to \"like\"");
    constexpr double most = 1e6;
    if (const auto like = read.optional("like")) {
        if (!net.charged) like->refuse("needs a \"profile\", whose throughput was measured");
        const Duration step =
            from_seconds(to_seconds(measured_step(net.charged->profile, *like, *batch)) /
                         as_number_above(efficiency, 0, most));
        if (step == Duration::zero()) efficiency.refuse("leaves a step of no time; lower it");
        return step;
    }
    const Place peak = read.required(
        "peak_flops",
        "operations per second, such as 1.4e13; or name a measured device in \"like\"");
    const double macs = std::accumulate(net.tensor_macs->begin(), net.tensor_macs->end(), 0.0);
    if (macs == 0)
        device.refuse(fmt::format(
            "{} states no multiply-accumulates to estimate by; give \"step_time\"", net.name));
    const Duration step = estimated_step(macs, *batch, as_number_above(peak, 0, 1e18),
                                         as_number_above(efficiency, 0, 1));
    if (step == Duration::max()) efficiency.refuse("leaves a step beyond the clock; raise it");
    return step;
}

// Returns how long one gradient of one worker takes on a device: measured if the profile has it,
// otherwise estimated.
Duration time_on_device(const Place& device, const std::optional<Place>& efficiency,
                        const TimedNet& net, std::optional<std::int64_t> batch) {
    if (device.json->is_object()) {
        if (efficiency)
            efficiency->refuse("is for a device that is named; write it into the \"device\"");
        return time_on_own_device(device, net, batch);
    }
    const double macs = std::accumulate(net.tensor_macs->begin(), net.tensor_macs->end(), 0.0);
    if (!net.charged && macs == 0)
        device.refuse("a device needs a \"profile\"; give \"step_time\"");
    if (!batch) device.refuse("a device needs a \"batch\"");
    if (efficiency) return step_by_peak(net.name, macs, device, *batch, *efficiency);
    if (!net.charged)
        device.refuse(
            fmt::format("no throughput of {} is known; give \"step_time\", or "
                        "\"efficiency\": {} for an estimate",
                        net.name, default_efficiency));
    return measured_step(net.charged->profile, device, *batch);
}

Duration read_gradient_time(const ObjectReader& read, const ClusterChoice& cluster,
                            const ChargedNetPtr& charged, Workload& workload,
                            std::optional<std::int64_t> batch) {
    workload.time_on = [net = TimedNet{workload.name, workload.tensor_macs, charged}, batch](
                           const Place& device, const std::optional<Place>& efficiency) {
        return time_on_device(device, efficiency, net, batch);
    };
    read.not_both("step_time", "device");
    read.not_both("step_time", "gradient_time");
    read.not_both("gradient_time", "device");
    if (const auto device = read.optional("device"))
        return workload.time_on(*device, read.optional("efficiency"));
    if (const auto efficiency = read.optional("efficiency"))
        efficiency->refuse("is the share of a device's peak; name a \"device\"");
    if (const auto p = read.optional("gradient_time")) return as_duration(*p);
    if (!cluster.bus)
        return as_duration(
            read.required("step_time", "time of one gradient on one node, such as \"344ms\""));
    if (const auto step = read.optional("step_time"))
        step->refuse(
            "includes the bus of the node, and the cluster has a \"bus\"; give \"gradient_time\", "
            "that of one device");
    return as_duration(
        read.required("gradient_time", "time of one gradient on one device, such as \"344ms\""));
}

void charge_for(const ChargedNet& net, Workload& workload) {
    workload.name = net.profile.name;
    workload.layout = net.layout;
    workload.tensor_macs = net.tensor_macs;
}

// Returns k matrices with one column, the last entries mod k of them with one entry more.
std::vector<Tensor> equal_tensors(const std::optional<Place>& number, std::int64_t entries) {
    if (!number) return {{"gradient", {entries, 1}}};
    const std::int64_t k = as_integer(*number, 1, 1'000'000);
    if (k > entries)
        number->refuse(fmt::format("a tensor has an entry or more; the gradient has {}", entries));
    if (k == 1) return {{"gradient", {entries, 1}}};
    std::vector<Tensor> tensors;
    for (std::int64_t i = 0; i < k; ++i)
        tensors.push_back(
            {fmt::format("gradient.{}", i), {entries / k + (i >= k - entries % k ? 1 : 0), 1}});
    return tensors;
}

// Reads a workload without values: a published net, or a number of bytes.
// Returns null for a number of bytes.
ChargedNetPtr read_what_is_charged(const ObjectReader& read, Workload& workload) {
    for (const char* key : {"data", "sampling", "stand_in_for"})
        if (const auto p = read.optional(key)) p->refuse("is for a workload with a \"model\"");
    read.not_both("profile", "gradient");
    if (const auto gradient = read.optional("gradient")) {
        const Bytes size = as_bytes(*gradient);
        if (size.count < 4 || size.count % 4 != 0)
            gradient->refuse("a gradient is a whole number of 4-byte entries, one at least");
        if (size.count / 4 > most_gradient_entries)
            gradient->refuse(
                fmt::format("a gradient has at most {} entries", most_gradient_entries));
        workload.name = to_string(size);
        const std::vector<Tensor> tensors = equal_tensors(read.optional("tensors"), size.count / 4);
        workload.layout = std::make_shared<const Layout>(tensors);
        workload.tensor_macs = std::make_shared<const std::vector<double>>(tensors.size());
        return nullptr;
    }
    if (const auto tensors = read.optional("tensors"))
        tensors->refuse("cuts a \"gradient\" of so many bytes; a net has tensors of its own");
    ChargedNetPtr net = load_profile(
        read.required("profile",
                      "a net's name (paceline list profiles); or give \"gradient\", or "
                      "a \"model\" that trains"));
    charge_for(*net, workload);
    workload.dataset = net->profile.dataset_samples;
    return net;
}

// Reads the net and its data. The timing is that of the net itself or of the net that it stands in
// for.
Training read_what_trains(const ObjectReader& read, const WorkloadSurroundings& around,
                          Workload& workload) {
    for (const char* key : {"profile", "gradient", "tensors", "dataset_samples"})
        if (const auto p = read.optional(key))
            p->refuse(
                "has no place beside \"model\"; a net that the clock is charged for is named "
                "in \"stand_in_for\"");
    Training training;
    training.data = read_data(read.required("data", "such as {\"kind\": \"gaussian-mixture\"}"),
                              around.cluster.workers, around.seed);
    training.model = read_model(read.required("model", "a net"), *training.data.set);
    if (const auto p = read.optional("sampling"))
        training.sampling = as_choice(*p, "a way to sample", samplings);
    if (!workload.batch)
        read.place().refuse("a \"batch\" is missing: samples of one gradient, such as 32");
    if (*workload.batch * workload.accumulation > most_trained_batch)
        read.place().refuse(
            fmt::format("a worker's step has at most {} samples", most_trained_batch));
    workload.dataset = training.data.set->train.count();

    if (const auto stand_in = read.optional("stand_in_for")) {
        for (const char* key : {"step_time", "gradient_time", "device", "efficiency"})
            if (const auto p = read.optional(key))
                p->refuse("belongs into \"stand_in_for\", whose time it is");
        training.stand_in = true;
        const ObjectReader charged(*stand_in, stand_in_key_table);
        const ChargedNetPtr net =
            load_profile(charged.required("profile", "a net's name (paceline list profiles)"));
        charge_for(*net, workload);
        if (training.model.layout->entries() == training.model.layout->incompressible_entries())
            stand_in->refuse("the model has no tensor of two dimensions to measure a density on");
        if (const auto p = charged.optional("batch"))
            workload.stand_in_batch = as_integer(*p, 1, 1'000'000'000);
        workload.gradient =
            read_gradient_time(charged, around.cluster, net, workload,
                               workload.stand_in_batch ? workload.stand_in_batch : workload.batch);
        return training;
    }
    workload.name = training.model.name;
    workload.layout = training.model.layout;
    workload.tensor_macs = std::make_shared<const std::vector<double>>(training.model.tensor_macs);
    workload.gradient = read_gradient_time(read, around.cluster, nullptr, workload, workload.batch);
    return training;
}

}  // namespace

Keys workload_keys() {
    return workload_key_table;
}
Keys own_device_keys() {
    return own_device_key_table;
}
Keys stand_in_keys() {
    return stand_in_key_table;
}

std::optional<std::int64_t> Workload::step_batch() const {
    if (!batch) return std::nullopt;
    return *batch * accumulation;
}

std::optional<std::int64_t> Workload::charged_step_batch() const {
    if (!stand_in_batch) return step_batch();
    return *stand_in_batch * accumulation;
}

std::optional<Training> read_workload(const Place& place, const WorkloadSurroundings& around,
                                      Workload& workload) {
    const ObjectReader read(place, workload_key_table);
    if (const auto update = read.optional("update_time")) workload.update = as_duration(*update);
    read_batch(read, around.cluster.workers, workload);
    if (read.has("model")) return read_what_trains(read, around, workload);

    const ChargedNetPtr net = read_what_is_charged(read, workload);
    if (const auto samples = read.optional("dataset_samples"))
        workload.dataset = as_integer(*samples, 1, std::int64_t{1} << 50);
    workload.gradient = read_gradient_time(read, around.cluster, net, workload, workload.batch);
    return std::nullopt;
}

}  // namespace paceline
