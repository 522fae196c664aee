#include "app/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/devices.hpp"
#include "app/names.hpp"
#include "app/profiles.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 8> root_keys{"title",     "seed", "cluster", "workload",
                                                    "algorithm", "stop", "sweep",   "$schema"};
constexpr std::array<std::string_view, 11> workload_key_table{
    "profile", "gradient",     "step_time",    "gradient_time", "device",         "efficiency",
    "batch",   "global_batch", "accumulation", "update_time",   "dataset_samples"};
constexpr std::array<std::string_view, 3> stop_key_table{"iterations", "epochs", "time"};

constexpr std::int64_t most_entries = std::int64_t{1} << 50;
constexpr std::int64_t most_steps = std::int64_t{1} << 40;

// What to give where no throughput was measured.
std::string instead_of_measured(std::string_view device) {
    const std::vector<Device> devices = device_table();
    if (std::ranges::find(devices, device, &Device::name) == devices.end())
        return "give \"step_time\"";
    return fmt::format("give \"step_time\", or \"efficiency\": {} for an estimate",
                       default_efficiency);
}

// The first row measured with this batch, else the first whose batch is not stated.
Duration measured_step(const Profile& profile, const Place& place, std::int64_t batch) {
    const std::string device = as_string(place);
    std::vector<std::string_view> devices;
    std::vector<std::string> batches;
    std::optional<double> of_any_batch;  // measured with a batch that the source does not state
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
    place.refuse(unknown_name(device, "a device with a throughput of this profile", devices));
}

Duration step_by_peak(const Profile& profile, const Place& place, std::int64_t batch,
                      const Place& efficiency) {
    const double share = as_number_above(efficiency, 0, 1);
    const std::vector<Device> devices = device_table();
    const Device& device = devices[as_name(place, "a device of known peak", names_of(devices))];
    if (profile.macs() == 0)
        efficiency.refuse(fmt::format(
            "{} states no multiply-accumulates to estimate by; give \"step_time\"", profile.name));
    const Duration step = estimated_step(profile.macs(), batch, device.peak_flops, share);
    if (step == Duration::max()) efficiency.refuse("leaves a step beyond the clock; raise it");
    return step;
}

// Weak scaling states the samples of one gradient, strong scaling those of a step of all workers.
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

// How long one gradient of one worker takes.
Duration read_gradient_time(const ObjectReader& read, const ClusterChoice& cluster,
                            const std::optional<Profile>& profile, const Workload& workload) {
    read.not_both("step_time", "device");
    read.not_both("step_time", "gradient_time");
    read.not_both("gradient_time", "device");
    const std::optional<Place> efficiency = read.optional("efficiency");
    if (const auto device = read.optional("device")) {
        if (!profile) device->refuse("a device needs a \"profile\"; give \"step_time\"");
        if (!workload.batch) device->refuse("a device needs a \"batch\"");
        return efficiency ? step_by_peak(*profile, *device, *workload.batch, *efficiency)
                          : measured_step(*profile, *device, *workload.batch);
    }
    if (efficiency) efficiency->refuse("is the share of a device's peak; name a \"device\"");
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

Workload read_workload(const Place& place, const ClusterChoice& cluster) {
    const ObjectReader read(place, workload_key_table);
    read.not_both("profile", "gradient");
    Workload workload;
    std::optional<Profile> profile;
    if (const auto gradient = read.optional("gradient")) {
        const Bytes size = as_bytes(*gradient);
        if (size.count < 4 || size.count % 4 != 0)
            gradient->refuse("a gradient is a whole number of 4-byte entries, one at least");
        if (size.count / 4 > most_entries)
            gradient->refuse(fmt::format("a gradient has at most {} entries", most_entries));
        workload.name = to_string(size);
        workload.layout =
            std::make_shared<const Layout>(std::vector<Tensor>{{"gradient", {size.count / 4, 1}}});
    } else {
        profile = load_profile(read.required(
            "profile", "a net's name (paceline list profiles); or give \"gradient\""));
        workload.name = profile->name;
        workload.layout = profile->layout();
        workload.tensor_macs = profile->tensor_macs();
        workload.dataset = profile->dataset_samples;
    }
    if (workload.tensor_macs.empty())
        workload.tensor_macs.resize(workload.layout->tensors().size());
    if (const auto samples = read.optional("dataset_samples"))
        workload.dataset = as_integer(*samples, 1, std::int64_t{1} << 50);
    if (const auto update = read.optional("update_time")) workload.update = as_duration(*update);
    read_batch(read, cluster.workers, workload);
    workload.gradient = read_gradient_time(read, cluster, profile, workload);
    return workload;
}

StopConditions read_stop(const Place& place, const Workload& workload) {
    const ObjectReader read(place, stop_key_table);
    StopConditions stop;
    if (const auto p = read.optional("iterations")) stop.iterations = as_integer(*p, 1, most_steps);
    if (const auto p = read.optional("epochs")) {
        stop.epochs = as_number_above(*p, 0, 1e9);
        if (!workload.batch || !workload.dataset)
            p->refuse(
                "epochs need \"workload.batch\" and a data set's size "
                "(\"workload.dataset_samples\", or a profile that states it)");
    }
    if (const auto p = read.optional("time")) {
        stop.time = as_duration(*p);
        if (*stop.time == Duration::zero()) p->refuse("a time is above 0");
    }
    if (!stop.iterations && !stop.epochs && !stop.time)
        place.refuse("says nothing; give \"iterations\", \"epochs\" or \"time\"");
    return stop;
}

}  // namespace

Keys scenario_keys() {
    return root_keys;
}
Keys workload_keys() {
    return workload_key_table;
}
Keys stop_keys() {
    return stop_key_table;
}

std::optional<std::int64_t> Workload::step_batch() const {
    if (!batch) return std::nullopt;
    return *batch * accumulation;
}

namespace {

// Of messages that all set out at once, and of connections that slow start remembers.
Bytes memory_under_way(const Scenario& scenario) {
    constexpr Bytes per_message{1500};  // a flow, two coroutines and their awaiters; measured
    constexpr Bytes per_connection{64};
    const std::int64_t workers = scenario.cluster.workers;
    Bytes memory = workers * (scenario.algorithm.servers_at_once * per_message);
    if (scenario.cluster.tcp && scenario.algorithm.meets_everybody)
        memory += workers * (workers * per_connection);
    return memory;
}

}  // namespace

double Scenario::steps_per_epoch() const {
    const std::optional<std::int64_t> batch = workload.step_batch();
    if (!batch || !workload.dataset) return 0;
    return static_cast<double>(*workload.dataset) / (static_cast<double>(*batch) * cluster.workers);
}

std::optional<std::int64_t> Scenario::steps() const {
    std::optional<std::int64_t> least = stop.iterations;
    if (stop.epochs) {
        const double exact = std::ceil(*stop.epochs * steps_per_epoch() * (1 - 1e-12));
        const double capped = std::clamp(exact, 1.0, static_cast<double>(most_steps));
        const auto steps = static_cast<std::int64_t>(capped);
        least = least ? std::min(*least, steps) : steps;
    }
    return least;
}

Scenario read_scenario(const Json& resolved, const std::string& file) {
    const ObjectReader read({&resolved, &file, ""}, root_keys);
    Scenario scenario;
    if (const auto p = read.optional("$schema")) as_string(*p);
    if (const auto p = read.optional("title")) scenario.title = as_string(*p);
    if (const auto p = read.optional("seed"))
        scenario.seed =
            static_cast<std::uint64_t>(as_integer(*p, 0, std::numeric_limits<std::int64_t>::max()));

    scenario.cluster =
        read_cluster(read.required("cluster", "the nodes and the fabric between them"));
    scenario.workload = read_workload(
        read.required("workload", "what is trained, such as {\"profile\": \"alexnet\", ...}"),
        scenario.cluster);
    const Place algorithm =
        read.required("algorithm", "how it is trained, such as {\"kind\": \"dense\"}");
    scenario.algorithm =
        read_algorithm(algorithm, {scenario.cluster.workers, scenario.cluster.devices_per_node});
    if (scenario.algorithm.server_nodes > 0 && !scenario.cluster.fabric.takes_servers)
        algorithm.refuse(
            "servers on nodes of their own need a \"star\"; on this fabric set \"all_reduce\" to "
            "{\"kind\": \"parameter-server\", \"placement\": \"workers\"}");
    scenario.stop = read_stop(read.required("stop", "when to end, such as {\"iterations\": 3}"),
                              scenario.workload);
    if (scenario.algorithm.needs_epochs && scenario.steps_per_epoch() == 0)
        algorithm.refuse(
            "its warm-up counts epochs, which need \"workload.batch\" and a data set's "
            "size; or use \"steps_each\"");
    return scenario;
}

Bytes estimated_memory(const Scenario& scenario) {
    constexpr Bytes base{16 << 20};
    constexpr Bytes per_node{3 << 10};  // measured by bench/: worker, frames, links, flows
    const ClusterChoice& cluster = scenario.cluster;
    return base + cluster.workers * per_node + cluster.fabric.memory + cluster.bus_memory() +
           memory_under_way(scenario);
}

}  // namespace paceline
