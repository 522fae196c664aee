#include "app/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/names.hpp"
#include "app/profiles.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 8> root_keys{"title",     "seed", "cluster", "workload",
                                                    "algorithm", "stop", "sweep",   "$schema"};
constexpr std::array<std::string_view, 2> cluster_key_table{"nodes", "fabric"};
constexpr std::array<std::string_view, 6> workload_key_table{
    "profile", "gradient", "step_time", "device", "batch", "dataset_samples"};
constexpr std::array<std::string_view, 3> stop_key_table{"iterations", "epochs", "time"};

constexpr std::int64_t most_nodes = 100'000'000;
constexpr std::int64_t most_entries = std::int64_t{1} << 50;
constexpr std::int64_t most_steps = std::int64_t{1} << 40;

// The first row measured with this batch, else the first whose batch is not stated.
Duration device_step(const Profile& profile, const Place& place, std::int64_t batch) {
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
        place.refuse(
            fmt::format("{} was measured with batch {} on {}, not with {}; give \"step_time\"",
                        profile.name, fmt::join(batches, ", "), device, batch));
    if (devices.empty())
        place.refuse(fmt::format("no throughput of {} is known; give \"step_time\"", profile.name));
    place.refuse(unknown_name(device, "a device with a throughput of this profile", devices));
}

Workload read_workload(const Place& place) {
    const ObjectReader read(place, workload_key_table);
    read.not_both("profile", "gradient");
    read.not_both("step_time", "device");
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
        workload.dataset = profile->dataset_samples;
    }
    if (const auto batch = read.optional("batch"))
        workload.batch = as_integer(*batch, 1, 1'000'000'000);
    if (const auto samples = read.optional("dataset_samples"))
        workload.dataset = as_integer(*samples, 1, std::int64_t{1} << 50);
    if (const auto device = read.optional("device")) {
        if (!profile) device->refuse("a device needs a \"profile\"; give \"step_time\"");
        if (!workload.batch) device->refuse("a device needs a \"batch\"");
        workload.step = device_step(*profile, *device, *workload.batch);
    } else {
        workload.step = as_duration(
            read.required("step_time", "time of one gradient on one node, such as \"344ms\""));
    }
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
Keys cluster_keys() {
    return cluster_key_table;
}
Keys workload_keys() {
    return workload_key_table;
}
Keys stop_keys() {
    return stop_key_table;
}

double Scenario::steps_per_epoch() const {
    if (!workload.batch || !workload.dataset) return 0;
    return static_cast<double>(*workload.dataset) / (static_cast<double>(*workload.batch) * nodes);
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

    const ObjectReader cluster(read.required("cluster", "the nodes and the fabric between them"),
                               cluster_key_table);
    scenario.nodes =
        static_cast<int>(as_integer(cluster.required("nodes", "how many nodes"), 1, most_nodes));
    scenario.fabric = read_fabric(
        cluster.required("fabric", "the wires, such as {\"kind\": \"star\", \"link\": ...}"),
        scenario.nodes);
    scenario.workload = read_workload(
        read.required("workload", "what is trained, such as {\"profile\": \"alexnet\", ...}"));
    const Place algorithm =
        read.required("algorithm", "how it is trained, such as {\"kind\": \"dense\"}");
    scenario.algorithm = read_algorithm(algorithm);
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
    return base + scenario.nodes * per_node + scenario.fabric.memory;
}

}  // namespace paceline
