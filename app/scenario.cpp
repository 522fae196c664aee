#include "app/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/devices.hpp"
#include "app/names.hpp"
#include "app/profiles.hpp"
#include "models/step_estimate.hpp"
#include "topologies/fabrics/equal_cost.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 12> root_keys{
    "title",   "seed", "cluster", "workload",   "optimizer", "algorithm",
    "measure", "stop", "price",   "other_jobs", "sweep",     "$schema"};
constexpr std::array<std::string_view, 2> price_key_table{"up_per_gb", "down_per_gb"};
constexpr std::array<std::string_view, 5> other_job_key_table{"label", "nodes", "workload",
                                                              "algorithm", "stop"};
constexpr std::array<std::string_view, 15> workload_key_table{
    "profile",      "gradient",     "model",         "data",        "sampling",
    "stand_in_for", "step_time",    "gradient_time", "device",      "efficiency",
    "batch",        "global_batch", "accumulation",  "update_time", "dataset_samples"};
constexpr std::array<std::string_view, 6> stand_in_key_table{
    "profile", "step_time", "gradient_time", "device", "efficiency", "batch"};
constexpr std::array<std::string_view, 6> stop_key_table{
    "iterations", "epochs", "time", "target_loss", "target_test_loss", "target_accuracy"};
constexpr auto samplings = std::to_array<Spelling<Sampling>>(
    {{"passes", Sampling::passes}, {"with-replacement", Sampling::with_replacement}});

constexpr std::int64_t most_entries = std::int64_t{1} << 50;
constexpr std::int64_t most_steps = std::int64_t{1} << 40;
constexpr std::int64_t most_trained_batch = 1 << 20;

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

// `macs` of one sample forward of what is called `name`.
Duration step_by_peak(std::string_view name, double macs, const Place& place, std::int64_t batch,
                      const Place& efficiency) {
    const double share = as_number_above(efficiency, 0, 1);
    const std::vector<Device> devices = device_table();
    const Device& device = devices[as_name(place, "a device of known peak", names_of(devices))];
    if (macs == 0)
        efficiency.refuse(fmt::format(
            "{} states no multiply-accumulates to estimate by; give \"step_time\"", name));
    const Duration step = estimated_step(macs, batch, device.peak_flops, share);
    if (step == Duration::max()) efficiency.refuse("leaves a step beyond the clock; raise it");
    return step;
}

// What of a scenario a workload depends on.
struct Surroundings {
    const ClusterChoice& cluster;
    std::uint64_t seed;
    DataCache& cache;
};

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

// How long one gradient of one worker takes, by a device: measured for a profile, else estimated.
Duration time_on_device(const ObjectReader& read, const Place& device,
                        const std::optional<Profile>& profile, const Workload& workload,
                        std::optional<std::int64_t> batch) {
    const std::optional<Place> efficiency = read.optional("efficiency");
    const double macs = std::reduce(workload.tensor_macs.begin(), workload.tensor_macs.end());
    if (!profile && macs == 0) device.refuse("a device needs a \"profile\"; give \"step_time\"");
    if (!batch) device.refuse("a device needs a \"batch\"");
    if (efficiency) return step_by_peak(workload.name, macs, device, *batch, *efficiency);
    if (!profile)
        device.refuse(
            fmt::format("no throughput of {} is known; give \"step_time\", or "
                        "\"efficiency\": {} for an estimate",
                        workload.name, default_efficiency));
    return measured_step(*profile, device, *batch);
}

Duration read_gradient_time(const ObjectReader& read, const ClusterChoice& cluster,
                            const std::optional<Profile>& profile, const Workload& workload,
                            std::optional<std::int64_t> batch) {
    read.not_both("step_time", "device");
    read.not_both("step_time", "gradient_time");
    read.not_both("gradient_time", "device");
    if (const auto device = read.optional("device"))
        return time_on_device(read, *device, profile, workload, batch);
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

void use_profile(const Profile& profile, Workload& workload) {
    workload.name = profile.name;
    workload.layout = profile.layout();
    workload.tensor_macs = profile.tensor_macs();
}

// A workload without values: a published net, or so many bytes.
std::optional<Profile> read_what_is_charged(const ObjectReader& read, Workload& workload) {
    for (const char* key : {"data", "sampling", "stand_in_for"})
        if (const auto p = read.optional(key)) p->refuse("is for a workload with a \"model\"");
    read.not_both("profile", "gradient");
    if (const auto gradient = read.optional("gradient")) {
        const Bytes size = as_bytes(*gradient);
        if (size.count < 4 || size.count % 4 != 0)
            gradient->refuse("a gradient is a whole number of 4-byte entries, one at least");
        if (size.count / 4 > most_entries)
            gradient->refuse(fmt::format("a gradient has at most {} entries", most_entries));
        workload.name = to_string(size);
        workload.layout =
            std::make_shared<const Layout>(std::vector<Tensor>{{"gradient", {size.count / 4, 1}}});
        return std::nullopt;
    }
    Profile profile = load_profile(
        read.required("profile",
                      "a net's name (paceline list profiles); or give \"gradient\", or "
                      "a \"model\" that trains"));
    use_profile(profile, workload);
    workload.dataset = profile.dataset_samples;
    return profile;
}

// The net and its data. Its clock is its own, or that of the net it stands in for.
Training read_what_trains(const ObjectReader& read, const Surroundings& around,
                          Workload& workload) {
    for (const char* key : {"profile", "gradient", "dataset_samples"})
        if (const auto p = read.optional(key))
            p->refuse(
                "has no place beside \"model\"; a net that the clock is charged for is named "
                "in \"stand_in_for\"");
    Training training;
    training.data = read_data(read.required("data", "such as {\"kind\": \"gaussian-mixture\"}"),
                              around.cluster.workers, around.seed, around.cache);
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
        const Profile profile =
            load_profile(charged.required("profile", "a net's name (paceline list profiles)"));
        use_profile(profile, workload);
        if (training.model.layout->entries() == training.model.layout->incompressible_entries())
            stand_in->refuse("the model has no tensor of two dimensions to measure a density on");
        if (const auto p = charged.optional("batch"))
            workload.stand_in_batch = as_integer(*p, 1, 1'000'000'000);
        workload.gradient =
            read_gradient_time(charged, around.cluster, profile, workload,
                               workload.stand_in_batch ? workload.stand_in_batch : workload.batch);
        return training;
    }
    workload.name = training.model.name;
    workload.layout = training.model.layout;
    workload.tensor_macs = training.model.tensor_macs;
    workload.gradient =
        read_gradient_time(read, around.cluster, std::nullopt, workload, workload.batch);
    return training;
}

// Fills in the workload; returns what trains, if anything does.
std::optional<Training> read_workload(const Place& place, const Surroundings& around,
                                      Workload& workload) {
    const ObjectReader read(place, workload_key_table);
    if (const auto update = read.optional("update_time")) workload.update = as_duration(*update);
    read_batch(read, around.cluster.workers, workload);
    if (read.has("model")) return read_what_trains(read, around, workload);

    const std::optional<Profile> profile = read_what_is_charged(read, workload);
    if (workload.tensor_macs.empty())
        workload.tensor_macs.resize(workload.layout->tensors().size());
    if (const auto samples = read.optional("dataset_samples"))
        workload.dataset = as_integer(*samples, 1, std::int64_t{1} << 50);
    workload.gradient = read_gradient_time(read, around.cluster, profile, workload, workload.batch);
    return std::nullopt;
}

StopConditions read_stop(const ObjectReader& read, const Workload& workload) {
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
    const bool ends = stop.iterations || stop.epochs || stop.time;
    if (!ends && read_target(read).given())
        read.place().refuse(
            "its target may never be reached; give \"iterations\", \"epochs\" or \"time\", too");
    if (!ends) read.place().refuse("says nothing; give \"iterations\", \"epochs\" or \"time\"");
    return stop;
}

// The scenario's, but for what the algorithm has of its own.
Optimizer read_optimizer_of(const ObjectReader& read, const Place& algorithm) {
    Optimizer optimizer = read_optimizer(
        read.required("optimizer", "step size and momentum, such as {\"learning_rate\": 0.1}"));
    const auto own = algorithm_optimizer(algorithm);
    return own ? read_optimizer(*own, std::move(optimizer)) : optimizer;
}

void check_accuracy_wanted(const ObjectReader& read, const Dataset& data) {
    const auto p = read.optional("target_accuracy");
    if (p && data.predicts == Prediction::number)
        p->refuse("is for classes and text; a predicted number is neither right nor wrong");
}

// "optimizer", "measure" and the targets of "stop": of runs that train alone.
void read_learning(const ObjectReader& read, const ObjectReader& stop, Scenario& scenario) {
    if (!scenario.training) {
        const Place algorithm = *read.optional("algorithm");
        for (const auto& p :
             {read.optional("optimizer"), read.optional("measure"), algorithm_optimizer(algorithm)})
            if (p) p->refuse("nothing is trained; give the workload a \"model\" and \"data\"");
        if (read_target(stop).given())
            stop.place().refuse(
                "has a target, and nothing is trained; give the workload a "
                "\"model\" and \"data\"");
        return;
    }
    Training& training = *scenario.training;
    const Place optimizer = *read.optional("optimizer");
    const Schedule& schedule = training.optimizer.schedule;
    if (!scenario.steps() && (schedule.decay != Decay::constant || schedule.warm_up > 0))
        optimizer.refuse(
            "its schedule goes by shares of the run; stop at \"iterations\" or \"epochs\"");
    const bool wants_the_rule = training.optimizer.nesterov || training.optimizer.clip > 0;
    if (wants_the_rule && !scenario.algorithm.looks_ahead_and_clips)
        algorithm_optimizer(*read.optional("algorithm"))
            .value_or(optimizer)
            .refuse(
                "\"nesterov\" and \"clip\" are for algorithms whose step is that of momentum SGD, "
                "such as \"dense\", \"dgc\" and \"local-sgd\"");
    if (const auto p = read.optional("measure")) {
        training.measurement = read_measurement(*p);
        check_accuracy_wanted({*p, measurement_keys()}, *training.data.set);
    }
    training.stop = read_target(stop);
    check_accuracy_wanted(stop, *training.data.set);
}

void check_servers(const Scenario& scenario, const Place& algorithm) {
    if (scenario.cluster.fabric.takes_servers) return;
    if (scenario.algorithm.serve)
        algorithm.refuse(
            "its server stands on a node of its own, which needs a \"star\" or a \"cell\"");
    if (scenario.algorithm.server_nodes > 0)
        algorithm.refuse(
            "servers on nodes of their own need a \"star\" or a \"cell\"; on this fabric set "
            "\"all_reduce\" to {\"kind\": \"parameter-server\", \"placement\": \"workers\"}");
}

void check_epochs(const Scenario& scenario, const Place& algorithm) {
    if (scenario.algorithm.needs_epochs && scenario.steps_per_epoch() == 0)
        algorithm.refuse(
            "its warm-up counts epochs, which need \"workload.batch\" and a data set's "
            "size; or use \"steps_each\"");
}

Price read_price(const Place& place) {
    const ObjectReader read(place, price_key_table);
    constexpr double most = 1e12;
    Price price;
    if (const auto p = read.optional("up_per_gb")) price.up_per_gb = as_number_up_to(*p, most);
    if (const auto p = read.optional("down_per_gb")) price.down_per_gb = as_number_up_to(*p, most);
    return price;
}

// The wires are those of the main job. What befalls its nodes does not befall this job's.
ClusterChoice cluster_beside(const ClusterChoice& main, const Place& nodes) {
    ClusterChoice cluster;
    cluster.devices_per_node = main.devices_per_node;
    cluster.workers = main.fabric_nodes * main.devices_per_node;
    cluster.fabric_nodes = main.fabric_nodes;
    cluster.bus = main.bus;
    cluster.fabric = main.fabric;
    cluster.tcp = main.tcp;
    place_job(nodes, cluster);
    return cluster;
}

Scenario read_other_job(const Place& place, const Scenario& main, DataCache& cache) {
    const ObjectReader read(place, other_job_key_table);
    Scenario job;
    job.job = as_string(read.required("label", "the job's name in the results"));
    job.price = main.price;
    job.seed = mix_bits(main.seed + main.other_jobs.size());
    job.cluster = cluster_beside(
        main.cluster, read.required("nodes", "where it runs, such as \"odd\" or [4, 5]"));
    const Place workload = read.required("workload", "such as {\"profile\": \"alexnet\", ...}");
    if (read_workload(workload, {job.cluster, job.seed, cache}, job.workload))
        workload.refuse("has a \"model\"; jobs beside the main one train nothing: give a profile");
    const Place algorithm = read.required("algorithm", "such as {\"kind\": \"dense\"}");
    if (const auto p = algorithm_optimizer(algorithm))
        p->refuse("nothing is trained by a job beside the main one");
    job.algorithm =
        read_algorithm(algorithm, {{job.cluster.workers, job.cluster.devices_per_node}, {}});
    check_servers(job, algorithm);
    if (const auto p = read.optional("stop")) {
        const ObjectReader stop(*p, stop_key_table);
        job.stop = read_stop(stop, job.workload);
        if (read_target(stop).given()) p->refuse("has a target, and nothing is trained");
    }
    check_epochs(job, algorithm);
    return job;
}

void read_other_jobs(const Place& place, DataCache& cache, Scenario& scenario) {
    if (!place.json->is_array()) place.refuse("is not a list of jobs, such as [{\"label\": ...}]");
    std::set<std::string> names{scenario.job};
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const Place one{&(*place.json)[i], place.file, fmt::format("{}[{}]", place.path, i)};
        Scenario job = read_other_job(one, scenario, cache);
        if (!names.insert(job.job).second)
            one.refuse(fmt::format("\"{}\" is another job's label; each has its own", job.job));
        scenario.other_jobs.push_back(std::move(job));
    }
}

}  // namespace

Keys price_keys() {
    return price_key_table;
}
Keys other_job_keys() {
    return other_job_key_table;
}
Keys scenario_keys() {
    return root_keys;
}
Keys workload_keys() {
    return workload_key_table;
}
Keys stand_in_keys() {
    return stand_in_key_table;
}
Keys stop_keys() {
    return stop_key_table;
}

std::optional<std::int64_t> Workload::step_batch() const {
    if (!batch) return std::nullopt;
    return *batch * accumulation;
}

std::optional<std::int64_t> Workload::charged_step_batch() const {
    if (!stand_in_batch) return step_batch();
    return *stand_in_batch * accumulation;
}

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

Scenario read_scenario(const Json& resolved, const std::string& file, DataCache& cache) {
    const ObjectReader read({&resolved, &file, ""}, root_keys);
    Scenario scenario;
    if (const auto p = read.optional("$schema")) as_string(*p);
    if (const auto p = read.optional("title")) scenario.title = as_string(*p);
    if (const auto p = read.optional("seed"))
        scenario.seed =
            static_cast<std::uint64_t>(as_integer(*p, 0, std::numeric_limits<std::int64_t>::max()));

    scenario.cluster =
        read_cluster(read.required("cluster", "the nodes and the fabric between them"));
    scenario.training = read_workload(
        read.required("workload", "what is trained, such as {\"profile\": \"alexnet\", ...}"),
        {scenario.cluster, scenario.seed, cache}, scenario.workload);
    const Place algorithm =
        read.required("algorithm", "how it is trained, such as {\"kind\": \"dense\"}");
    if (scenario.training) scenario.training->optimizer = read_optimizer_of(read, algorithm);
    scenario.algorithm =
        read_algorithm(algorithm, {{scenario.cluster.workers, scenario.cluster.devices_per_node},
                                   scenario.training ? scenario.training->optimizer : Optimizer{}});
    if (scenario.training && !scenario.algorithm.trains)
        algorithm.refuse("trains nothing, and the workload has a \"model\"; give it a \"profile\"");
    check_servers(scenario, algorithm);
    const ObjectReader stop(read.required("stop", "when to end, such as {\"iterations\": 3}"),
                            stop_key_table);
    scenario.stop = read_stop(stop, scenario.workload);
    read_learning(read, stop, scenario);
    check_epochs(scenario, algorithm);
    if (const auto p = read.optional("price")) scenario.price = read_price(*p);
    if (const auto p = read.optional("other_jobs")) read_other_jobs(*p, cache, scenario);
    return scenario;
}

namespace {

// Of messages that all set out at once, and of connections that slow start remembers.
Bytes memory_under_way(const Scenario& scenario) {
    constexpr Bytes per_message{1500};  // a flow, two coroutines and their awaiters; measured
    constexpr Bytes per_connection{64};
    const std::int64_t workers = scenario.cluster.workers;
    Bytes memory = workers * (scenario.algorithm.sends_at_once * per_message);
    if (scenario.cluster.tcp && scenario.algorithm.meets_everybody)
        memory += workers * (workers * per_connection);
    return memory;
}

// Models, momenta, gradients and what is under way, in doubles.
Bytes memory_of_values(const Scenario& scenario) {
    constexpr std::int64_t vectors_per_worker = 8;
    if (!scenario.training) return {};
    return scenario.cluster.workers *
           (vectors_per_worker * scenario.training->model.layout->entries() * Bytes{8});
}

}  // namespace

Bytes estimated_memory(const Scenario& scenario) {
    constexpr Bytes base{16 << 20};
    constexpr Bytes per_node{3 << 10};  // measured by bench/: worker, frames, links, flows
    const ClusterChoice& cluster = scenario.cluster;
    Bytes memory = base + cluster.workers * per_node + cluster.fabric.memory +
                   cluster.bus_memory() + memory_under_way(scenario) + memory_of_values(scenario);
    for (const Scenario& job : scenario.other_jobs)
        memory += job.cluster.workers * per_node + job.cluster.bus_memory() + memory_under_way(job);
    return memory;
}

}  // namespace paceline
