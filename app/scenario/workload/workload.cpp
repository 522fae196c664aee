#include "app/scenario/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/own_parts.hpp"
#include "app/scenario/workload/device_time.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/own_problem.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "models/precision.hpp"
#include "models/recomputed_times.hpp"

namespace paceline {

namespace {

constexpr auto workload_key_table = std::to_array<std::string_view>(
    {"profile",       "gradient",     "tensors",      "model",         "data",
     "sampling",      "stand_in_for", "step_time",    "gradient_time", "device",
     "device_memory", "efficiency",   "precision",    "recompute",     "batch",
     "global_batch",  "weigh",        "accumulation", "update_time",   "dataset_samples"});
constexpr auto stand_in_key_table = std::to_array<std::string_view>(
    {"profile", "step_time", "gradient_time", "device", "device_memory", "efficiency", "precision",
     "recompute", "batch"});
constexpr auto time_by_batch_key_table = std::to_array<std::string_view>({"floor", "per_sample"});
constexpr auto samplings = std::to_array<Spelling<Sampling>>(
    {{"passes", Sampling::passes}, {"with-replacement", Sampling::with_replacement}});

enum class Weighed : std::uint8_t { workers, samples };
constexpr auto weighings = std::to_array<Spelling<Weighed>>(
    {{"workers", Weighed::workers}, {"samples", Weighed::samples}});

constexpr std::int64_t most_gradient_entries = std::int64_t{1} << 50;

// Weak scaling states the samples of one gradient, strong scaling those of one step of all workers.
// By speed, the workload's own batch is an equal share of them, rounded down.
void read_batch(const ObjectReader& read, int workers, Workload& workload) {
    const auto batch = read.optional("batch");
    workload.by_speed = batch && batch->json->is_string();
    if (workload.by_speed && *batch->json != "by speed")
        batch->refuse("is neither a number of samples nor \"by speed\"");
    if (!workload.by_speed) read.not_both("batch", "global_batch");
    if (const auto p = read.optional("accumulation"))
        workload.accumulation = static_cast<int>(as_integer(*p, 1, 1'000'000));
    if (batch && !workload.by_speed) workload.batch = as_integer(*batch, 1, 1'000'000'000);
    if (workload.by_speed)
        static_cast<void>(
            read.required("global_batch", "the samples of a step, which are split by speed"));
    if (const auto global = read.optional("global_batch")) {
        const std::int64_t samples = as_integer(*global, 1, std::int64_t{1} << 50);
        workload.global_batch = samples;
        const std::int64_t gradients = std::int64_t{workers} * workload.accumulation;
        if (workload.by_speed) {
            if (samples % workload.accumulation != 0 || samples < gradients)
                global->refuse(fmt::format(
                    "{} samples are not whole ones for {} gradients in a step, the same "
                    "on a worker in each; give a multiple of \"accumulation\"",
                    samples, gradients));
            workload.batch = samples / gradients;
            return;
        }
        if (samples % gradients != 0)
            global->refuse(fmt::format("{} samples are not equal shares of {} gradients in a step",
                                       samples, gradients));
        workload.batch = samples / gradients;
    }
}

// Reads a time, or a floor and the time of each further sample.
Duration as_gradient_time(const Place& place, std::optional<std::int64_t> batch) {
    if (!place.json->is_object()) return as_duration(place);
    const ObjectReader read(place, time_by_batch_key_table);
    const Duration floor = as_duration(read.required("floor", "the time that no batch goes below"));
    const Duration per_sample =
        as_duration(read.required("per_sample", "what each sample of the batch adds"));
    if (!batch) place.refuse("depends on the \"batch\", which is not given");
    const Duration time = sum(floor, multiple(*batch, per_sample));
    if (time == Duration::max())
        place.refuse("makes a gradient longer than the clock can represent");
    return time;
}

// Returns the time of a gradient that the scenario states, if it does.
std::optional<Duration> read_stated_time(const ObjectReader& read, const ClusterChoice& cluster,
                                         std::optional<std::int64_t> batch) {
    if (const auto p = read.optional("gradient_time")) return as_gradient_time(*p, batch);
    const auto step = read.optional("step_time");
    if (!step) return std::nullopt;
    if (cluster.bus)
        step->refuse(
            "includes the bus of the node, and the cluster has a \"bus\"; give \"gradient_time\", "
            "that of one device");
    return as_gradient_time(*step, batch);
}

// Layers that were measured decide the time of a gradient. A stated time scales theirs.
Duration read_measured_time(const ObjectReader& read, const ClusterChoice& cluster,
                            const ChargedNet& net, std::optional<std::int64_t> batch) {
    const std::string_view scale = cluster.bus ? "gradient_time" : "step_time";
    for (const char* key : {"device", "efficiency", "precision"})
        if (const auto p = read.optional(key))
            p->refuse(
                fmt::format("cannot be used with {}, whose layers have measured times of one "
                            "device; \"{}\" scales these times",
                            net.profile.name, scale));
    if (const auto stated = read_stated_time(read, cluster, batch)) return *stated;
    if (batch && net.profile.batch && *batch != *net.profile.batch)
        read.place().refuse(
            fmt::format("the layers of {} were measured with batch {}, not with {}; give the "
                        "\"{}\" of {}, which scales their times",
                        net.profile.name, *net.profile.batch, *batch, scale, *batch));
    return net.tensor_times->all();
}

// Reads how long a gradient of a net takes that keeps all activations.
Duration read_time_of(const ObjectReader& read, const ClusterChoice& cluster, const TimedNet& net) {
    read.not_both("step_time", "device");
    read.not_both("step_time", "gradient_time");
    read.not_both("gradient_time", "device");
    if (net.charged && net.charged->tensor_times)
        return read_measured_time(read, cluster, *net.charged, net.batch);
    if (const auto device = read.optional("device"))
        return time_on_device({*device, read.optional("efficiency"), read.optional("precision")},
                              net);
    for (const auto& [key, what] :
         {std::pair{"efficiency", "is the share of a device's peak; name a \"device\""},
          std::pair{"precision", "refers to a device's peak or measurement; name a \"device\""}})
        if (const auto p = read.optional(key)) p->refuse(what);
    if (const auto stated = read_stated_time(read, cluster, net.batch)) return *stated;
    if (!cluster.bus)
        return as_duration(
            read.required("step_time", "time of one gradient on one node, such as \"344ms\""));
    return as_duration(
        read.required("gradient_time", "time of one gradient on one device, such as \"344ms\""));
}

// Reads the time of a gradient that keeps all activations.
Duration read_plain_gradient_time(const ObjectReader& read, const ClusterChoice& cluster,
                                  const ChargedNetPtr& charged, Workload& workload,
                                  std::optional<std::int64_t> batch) {
    if (const auto precision = read.optional("precision"))
        workload.precision = as_precision(*precision);
    const TimedNet net{workload.name, workload.tensor_macs, charged, batch, workload.precision};
    workload.time_on = [net](const DeviceChoice& choice) { return time_on_device(choice, net); };
    return read_time_of(read, cluster, net);
}

// Reads what is known of the device beside how fast it is.
void read_device_facts(const ObjectReader& read, Workload& workload) {
    if (const auto p = read.optional("device_memory")) workload.device_memory = as_bytes(*p);
    const auto device = read.optional("device");
    if (!device) return;
    if (device->json->is_object()) {
        workload.peak_flops = peak_of_own_device(*device);
        return;
    }
    workload.device = known_device(as_string(*device));
    if (workload.device != nullptr) workload.peak_flops = workload.device->peak(workload.precision);
}

// Returns the time of a gradient that computes activations again, and when its layers are done.
Duration with_recomputation(Duration plain, const Profile& profile, Workload& workload) {
    const RecomputedTimes again = recomputed_times(profile, *workload.recompute);
    const auto longer = [factor = again.factor](Duration time) {
        return from_seconds(to_seconds(time) * factor);
    };
    workload.tensor_times = std::make_shared<const TensorTimes>(again.times);
    workload.time_on = [time_on = workload.time_on, longer](const DeviceChoice& choice) {
        return longer(time_on(choice));
    };
    return longer(plain);
}

Duration read_gradient_time(const ObjectReader& read, const ClusterChoice& cluster,
                            const ChargedNetPtr& charged, Workload& workload,
                            std::optional<std::int64_t> batch) {
    const Duration plain = read_plain_gradient_time(read, cluster, charged, workload, batch);
    read_device_facts(read, workload);
    const auto recompute = read.optional("recompute");
    if (!recompute) return plain;
    const auto way =
        static_cast<Recompute>(as_name(*recompute, "a way to keep activations", recompute_names));
    if (!charged || !charged->profile.decoder)
        recompute->refuse(
            "is for a transformer by its sizes, such as gpt2 or llama-7b; of another net, multiply "
            "\"step_time\" by what recomputation takes, 4/3 for a whole forward pass");
    if (!batch) recompute->refuse("needs the \"batch\" whose activations are kept");
    workload.recompute = way;
    if (way == Recompute::none) return plain;
    const Duration time = with_recomputation(plain, charged->profile, workload);
    if (time == Duration::max())
        recompute->refuse("makes a gradient longer than the clock can represent");
    return time;
}

// Refuses another batch where the time that is stated holds for one.
void check_any_batch(const ObjectReader& said, const Place& who) {
    for (const char* key : {"step_time", "gradient_time"})
        if (const auto p = said.optional(key); p && !p->json->is_object())
            who.refuse(fmt::format(
                "needs the time of other batches, and {} is that of one; write it as {{\"floor\": "
                "\"5ms\", \"per_sample\": \"1ms\"}}, or give a class its own",
                p->path));
}

// Returns how gradients of the workload are timed, also those of classes of nodes.
GradientTime gradient_times(const ObjectReader& read, const ClusterChoice& cluster,
                            const ChargedNetPtr& charged, const Workload& workload) {
    const TimedNet net{workload.name, workload.tensor_macs, charged, std::nullopt,
                       workload.precision};
    std::optional<double> longer;
    if (charged && workload.recompute && *workload.recompute != Recompute::none)
        longer = recomputed_times(charged->profile, *workload.recompute).factor;
    return [read, &cluster, net, longer](const GradientAsked& asked) {
        const ObjectReader said =
            asked.of_class ? ObjectReader(*asked.of_class, node_class_keys()) : read;
        if (asked.who) check_any_batch(said, *asked.who);
        TimedNet of_batch = net;
        of_batch.batch = asked.batch;
        const Duration plain = read_time_of(said, cluster, of_batch);
        return longer ? from_seconds(to_seconds(plain) * *longer) : plain;
    };
}

void charge_for(const ChargedNet& net, Workload& workload) {
    workload.name = net.profile.name;
    workload.tokens = net.profile.tokens;
    workload.decoder = net.profile.decoder;
    workload.layout = net.layout;
    workload.tensor_macs = net.tensor_macs;
    workload.tensor_times = net.tensor_times;
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
    for (const char* key : {"data", "sampling", "stand_in_for", "weigh"})
        if (const auto p = read.optional(key)) p->refuse("is for a workload with a \"model\"");
    read.not_both("profile", "gradient");
    if (const auto gradient = read.optional("gradient")) {
        const Bytes size = as_bytes(*gradient);
        if (size.count < 4 || size.count % 4 != 0)
            gradient->refuse("a gradient is a whole number of 4-byte entries, at least one");
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
        tensors->refuse("cuts a \"gradient\" of so many bytes; a net has its own tensors");
    ChargedNetPtr net = load_profile(
        read.required("profile",
                      "a net's name (paceline list profiles); or give \"gradient\", or "
                      "a \"model\" that trains"));
    charge_for(*net, workload);
    workload.dataset = net->profile.dataset_samples;
    if (!workload.batch) workload.batch = net->profile.batch;
    return net;
}

// Reads a net and its data, or a problem that the caller brings.
void read_model_and_data(const ObjectReader& read, const WorkloadSurroundings& around,
                         Training& training) {
    const Place model = read.required("model", "a net");
    const int workers = around.cluster.workers;
    if (const auto own = own_part_of(model, &OwnParts::problem, "a problem")) {
        const auto data = read.optional("data");
        OwnModel both =
            read_own_problem(*own, model, data ? &*data : nullptr, workers, around.seed);
        training.data = std::move(both.data);
        training.model = std::move(both.model);
        return;
    }
    training.data = read_data(read.required("data", "such as {\"kind\": \"gaussian-mixture\"}"),
                              workers, around.seed);
    training.model = read_model(model, training.data.shape);
}

// Reads the net and its data. The timing is that of the net itself or of the net that it stands in
// for.
ReadWorkload read_what_trains(const ObjectReader& read, const WorkloadSurroundings& around,
                              Workload& workload) {
    for (const char* key : {"profile", "gradient", "tensors", "dataset_samples"})
        if (const auto p = read.optional(key))
            p->refuse(
                "cannot be used with \"model\"; name a net that determines the time in "
                "\"stand_in_for\"");
    Training training;
    read_model_and_data(read, around, training);
    if (const auto p = read.optional("weigh"))
        workload.weighs_samples =
            as_choice(*p, "what the mean weighs", weighings) == Weighed::samples;
    if (const auto p = read.optional("sampling"))
        training.sampling = as_choice(*p, "a way to sample", samplings);
    if (!workload.batch)
        read.place().refuse("a \"batch\" is missing: samples of one gradient, such as 32");
    if (*workload.batch * workload.accumulation > most_trained_batch)
        read.place().refuse(
            fmt::format("a worker's step has at most {} samples", most_trained_batch));
    workload.dataset = training.data.shape.train;

    if (const auto stand_in = read.optional("stand_in_for")) {
        for (const char* key : {"step_time", "gradient_time", "device", "device_memory",
                                "efficiency", "precision", "recompute"})
            if (const auto p = read.optional(key))
                p->refuse("belongs in \"stand_in_for\", whose time it is");
        training.stand_in = true;
        const ObjectReader charged(*stand_in, stand_in_key_table);
        const ChargedNetPtr net =
            load_profile(charged.required("profile", "a net's name (paceline list profiles)"));
        charge_for(*net, workload);
        if (training.model.layout->entries() == training.model.layout->incompressible_entries())
            stand_in->refuse("the model has no tensor of two dimensions to measure a density on");
        if (const auto p = charged.optional("batch"))
            workload.stand_in_batch = as_integer(*p, 1, 1'000'000'000);
        else
            workload.stand_in_batch = net->profile.batch;
        workload.gradient =
            read_gradient_time(charged, around.cluster, net, workload,
                               workload.stand_in_batch ? workload.stand_in_batch : workload.batch);
        return {std::move(training), gradient_times(charged, around.cluster, net, workload)};
    }
    workload.name = training.model.name;
    workload.layout = training.model.layout;
    workload.tensor_macs = std::make_shared<const std::vector<double>>(training.model.tensor_macs);
    workload.gradient = read_gradient_time(read, around.cluster, nullptr, workload, workload.batch);
    return {std::move(training), gradient_times(read, around.cluster, nullptr, workload)};
}

}  // namespace

Keys workload_keys() {
    return workload_key_table;
}
Keys stand_in_keys() {
    return stand_in_key_table;
}
Keys time_by_batch_keys() {
    return time_by_batch_key_table;
}

std::optional<Bytes> Workload::memory_of_device() const {
    if (device_memory) return device_memory;
    return device != nullptr ? device->memory : std::nullopt;
}

double Workload::batches_of_step(int workers) const {
    if (batches.empty()) return workers;
    return static_cast<double>(*samples_of_step(workers)) / static_cast<double>(*step_batch());
}

std::optional<std::int64_t> Workload::samples_of_step(int workers) const {
    if (!batch) return std::nullopt;
    if (batches.empty()) return *step_batch() * workers;
    return std::accumulate(batches.begin(), batches.end(), std::int64_t{0}) * accumulation;
}

std::optional<std::int64_t> Workload::largest_step_batch() const {
    if (batches.empty()) return step_batch();
    return *std::ranges::max_element(batches) * accumulation;
}

std::optional<std::int64_t> Workload::step_batch() const {
    if (!batch) return std::nullopt;
    return *batch * accumulation;
}

std::optional<std::int64_t> Workload::charged_step_batch() const {
    if (!stand_in_batch) return step_batch();
    return *stand_in_batch * accumulation;
}

ReadWorkload read_workload(const Place& place, const WorkloadSurroundings& around,
                           Workload& workload) {
    const ObjectReader read(place, workload_key_table);
    if (const auto update = read.optional("update_time")) workload.update = as_duration(*update);
    read_batch(read, around.cluster.workers, workload);
    if (read.has("model")) return read_what_trains(read, around, workload);

    const ChargedNetPtr net = read_what_is_charged(read, workload);
    if (const auto samples = read.optional("dataset_samples"))
        workload.dataset = as_integer(*samples, 1, std::int64_t{1} << 50);
    workload.gradient = read_gradient_time(read, around.cluster, net, workload, workload.batch);
    return {std::nullopt, gradient_times(read, around.cluster, net, workload)};
}

}  // namespace paceline
