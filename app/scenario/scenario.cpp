#include "app/scenario/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/cluster/cluster_memory.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/money.hpp"
#include "app/scenario/pieces.hpp"
#include "app/scenario/sweep.hpp"
#include "app/scenario/testbed.hpp"
#include "app/scenario/workload/class_work.hpp"
#include "sim/engine/split_mix64.hpp"

namespace paceline {

namespace {

constexpr auto root_keys = std::to_array<std::string_view>(
    {"version", "title", "seed", "cluster", "workload", "optimizer", "algorithm", "measure", "stop",
     "price", "power", "other_jobs", "sweep", "$schema"});
constexpr auto other_job_key_table =
    std::to_array<std::string_view>({"label", "nodes", "workload", "algorithm", "stop"});
constexpr auto stop_key_table =
    std::to_array<std::string_view>({"iterations", "epochs", "samples", "tokens", "time",
                                     "target_loss", "target_test_loss", "target_accuracy"});
constexpr std::int64_t most_stop_steps = std::int64_t{1} << 40;
constexpr std::int64_t most_stop_tokens = std::int64_t{1} << 60;

// Tokens end a run as the samples that have so many do.
void read_stop_at_tokens(const ObjectReader& read, const Workload& workload, StopConditions& stop) {
    const auto p = read.optional("tokens");
    if (!p) return;
    stop.tokens = as_integer(*p, 1, most_stop_tokens);
    if (!workload.batch) p->refuse("tokens need \"workload.batch\"");
    if (!workload.tokens)
        p->refuse(
            "the number of tokens in a sample of this workload is not known; give \"samples\"");
    const std::int64_t samples = (*stop.tokens + *workload.tokens - 1) / *workload.tokens;
    if (samples > most_stop_steps)
        p->refuse(fmt::format("are {} samples; at most {}", samples, most_stop_steps));
    stop.samples = std::min(stop.samples.value_or(samples), samples);
}

StopConditions read_stop(const ObjectReader& read, const Workload& workload) {
    StopConditions stop;
    if (const auto p = read.optional("iterations"))
        stop.iterations = as_integer(*p, 1, most_stop_steps);
    if (const auto p = read.optional("epochs")) {
        stop.epochs = as_number_above(*p, 0, 1e9);
        if (!workload.batch || !workload.dataset)
            p->refuse(
                "epochs need \"workload.batch\" and a data set's size "
                "(\"workload.dataset_samples\", or a profile that states it)");
    }
    if (const auto p = read.optional("samples")) {
        stop.samples = as_integer(*p, 1, most_stop_steps);
        if (!workload.batch) p->refuse("samples need \"workload.batch\"");
    }
    read_stop_at_tokens(read, workload, stop);
    if (const auto p = read.optional("time")) {
        stop.time = as_duration(*p);
        if (*stop.time == Duration::zero()) p->refuse("must be above 0");
    }
    const bool ends = stop.iterations || stop.epochs || stop.samples || stop.time;
    if (!ends && read_target(read).given())
        read.place().refuse(
            "its target may never be reached; give \"iterations\", \"epochs\", \"samples\" or "
            "\"time\", too");
    if (!ends)
        read.place().refuse(
            "does not say when the run ends; give \"iterations\", \"epochs\", \"samples\", "
            "\"tokens\" or \"time\"");
    return stop;
}

// Returns the scenario's optimizer, overridden by the algorithm's own keys.
Optimizer read_optimizer_of(const ObjectReader& read, const Place& algorithm) {
    Optimizer optimizer = read_optimizer(
        read.required("optimizer", "step size and momentum, such as {\"learning_rate\": 0.1}"));
    const auto own = algorithm_optimizer(algorithm);
    return own ? read_optimizer(*own, std::move(optimizer)) : optimizer;
}

void check_accuracy_wanted(const ObjectReader& read, const DataShape& data) {
    const auto p = read.optional("target_accuracy");
    if (p && data.predicts == Prediction::number)
        p->refuse("is for classes and text; a predicted number has no accuracy");
}

// What "measure" says of runs that do not train, too.
constexpr auto measured_without_training =
    std::to_array<std::string_view>({"skip", "alone", "resources", "spread", "interval", "draws"});

// Refuses what "measure" says of values.
void refuse_evaluations(const Place& measure) {
    for (const auto& [key, value] : measure.json->items())
        if (std::ranges::find(measured_without_training, key) == measured_without_training.end())
            measure.child(key, value)
                .refuse("nothing is trained; give the workload a \"model\" and \"data\"");
}

void read_rating(const Place& measure, Scenario& scenario) {
    const Measurement measurement = read_measurement(measure);
    scenario.alone = measurement.alone;
    scenario.spread = measurement.spread;
    scenario.interval = measurement.interval;
    scenario.resources = measurement.resources;
    scenario.skip = measurement.skip;
    if (scenario.skip == 0) return;
    const Place skip = *ObjectReader(measure, measurement_keys()).optional("skip");
    if (const auto steps = scenario.steps(); steps && scenario.skip >= *steps)
        skip.refuse(
            fmt::format("leaves out all {} steps of the run, and rates need some of them", *steps));
    if (scenario.cluster.failures)
        skip.refuse(
            "a run with failing nodes is rated as a whole, because steps are repeated; leave it "
            "out or leave out \"cluster.failures\"");
}

// "optimizer", the evaluations of "measure" and the targets of "stop" apply only to runs that
// train.
void read_learning(const ObjectReader& read, const ObjectReader& stop, Scenario& scenario) {
    if (!scenario.training) {
        const Place algorithm = *read.optional("algorithm");
        for (const auto& p : {read.optional("optimizer"), algorithm_optimizer(algorithm)})
            if (p) p->refuse("nothing is trained; give the workload a \"model\" and \"data\"");
        if (const auto p = read.optional("measure")) refuse_evaluations(*p);
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
            "its schedule uses shares of the run; stop at \"iterations\", \"epochs\" or "
            "\"samples\"");
    const bool wants_the_rule = training.optimizer.nesterov || training.optimizer.clip > 0;
    if (wants_the_rule && !scenario.algorithm.supports_nesterov_and_clipping)
        algorithm_optimizer(*read.optional("algorithm"))
            .value_or(optimizer)
            .refuse(
                "\"nesterov\" and \"clip\" are for algorithms whose step is that of momentum SGD, "
                "such as \"dense\", \"dgc\" and \"local-sgd\"");
    if (const auto p = read.optional("measure")) {
        training.measurement = read_measurement(*p);
        check_accuracy_wanted({*p, measurement_keys()}, training.data.shape);
    }
    training.stop = read_target(stop);
    check_accuracy_wanted(stop, training.data.shape);
    // A target that is judged at the end alone would neither stop a run nor have a time.
    const bool has_target = training.stop.given() || training.measurement.target.given();
    if (has_target && !training.measurement.every_is_given) training.measurement.every_epochs = 1;
}

void check_servers(const Scenario& scenario, const Place& algorithm) {
    if (scenario.cluster.fabric.takes_servers) return;
    if (scenario.algorithm.serve)
        algorithm.refuse("its server has its own node, which needs a \"star\" or a \"cell\"");
    if (scenario.algorithm.server_nodes > 0)
        algorithm.refuse(
            "servers on their own nodes need a \"star\" or a \"cell\"; on this fabric set "
            "\"all_reduce\" to {\"kind\": \"parameter-server\", \"placement\": \"workers\"}");
}

// Classes may have larger batches than the workload. Rounds of clients weigh each model by the
// samples that its client has.
void check_weighing(const Scenario& scenario, const Place& workload) {
    const AlgorithmTraits& traits = scenario.algorithm;
    if (scenario.training && *scenario.workload.largest_step_batch() > most_trained_batch)
        workload.refuse(fmt::format("a worker's step has at most {} samples", most_trained_batch));
    if (!scenario.workload.weighs_samples || !traits.has_server || traits.runs_freely) return;
    ObjectReader(workload, workload_keys())
        .optional("weigh")
        ->refuse("does not apply here: rounds of clients weigh each by the samples of its shard");
}

void check_epochs(const Scenario& scenario, const Place& algorithm) {
    if (scenario.algorithm.needs_epochs && scenario.steps_per_epoch() == 0)
        algorithm.refuse(
            "its warm-up counts epochs, which need \"workload.batch\" and a data set's "
            "size; or use \"steps_each\"");
}

// Requires that cluster and workload have been read, and what trains with its optimizer.
AlgorithmInput algorithm_input(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    AlgorithmInput input{
        {cluster.workers, cluster.devices_per_node, cluster.library_all_reduce, cluster.cards()}};
    input.uneven = !cluster.uneven.empty();
    input.levels = cluster.levels();
    input.sizes = cluster.sizes;
    input.steps_per_epoch = scenario.steps_per_epoch();
    if (!scenario.training) return input;
    input.optimizer = scenario.training->optimizer;
    input.shards_are_even = scenario.training->data.shards_are_even;
    return input;
}

// The job shares the wires of the main job. Failures and stragglers of the main job's nodes do not
// affect it.
ClusterChoice cluster_beside(const ClusterChoice& main, const Place& nodes) {
    ClusterChoice cluster;
    cluster.devices_per_node = main.devices_per_node;
    cluster.sizes = main.sizes;
    cluster.workers = main.fabric_nodes * main.devices_per_node;
    cluster.fabric_nodes = main.fabric_nodes;
    cluster.bus = main.bus;
    cluster.fabric = main.fabric;
    cluster.fabric.ports = 0;  // the main job's, on the same wires
    cluster.tcp = main.tcp;
    cluster.sites = main.sites;
    place_job(nodes, cluster);
    return cluster;
}

Scenario read_other_job(const Place& place, const Scenario& main) {
    const ObjectReader read(place, other_job_key_table);
    Scenario job;
    job.job = as_string(read.required("label", "the job's name in the results"));
    job.price = main.price;
    job.power = main.power;
    job.resources = main.resources;
    job.seed = split_mix64(main.seed + main.other_jobs.size());
    job.cluster = cluster_beside(
        main.cluster, read.required("nodes", "where it runs, such as \"odd\" or [4, 5]"));
    const Place workload = read.required("workload", "such as {\"profile\": \"alexnet\", ...}");
    if (read_workload(workload, {job.cluster, job.seed}, job.workload).training)
        workload.refuse("has a \"model\"; only the main job trains: give a profile");
    if (job.workload.by_speed)
        workload.refuse("has identical devices; give it a \"batch\" or a \"global_batch\"");
    const Place algorithm = read.required("algorithm", "such as {\"kind\": \"dense\"}");
    if (const auto p = algorithm_optimizer(algorithm)) p->refuse("only the main job trains");
    job.algorithm = read_algorithm(algorithm, algorithm_input(job));
    check_host_work(algorithm, job.cluster.library, job.algorithm);
    check_left_out(algorithm, *job.workload.layout, nullptr);
    check_servers(job, algorithm);
    check_pieces(job.algorithm, *job.workload.layout, job.cluster.workers, algorithm);
    if (const auto p = read.optional("stop")) {
        const ObjectReader stop(*p, stop_key_table);
        job.stop = read_stop(stop, job.workload);
        if (read_target(stop).given()) p->refuse("has a target, and nothing is trained");
    }
    check_epochs(job, algorithm);
    return job;
}

void read_other_jobs(const Place& place, Scenario& scenario) {
    if (!place.json->is_array()) place.refuse("is not a list of jobs, such as [{\"label\": ...}]");
    std::set<std::string> names{scenario.job};
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const Place one = place.element(i);
        Scenario job = read_other_job(one, scenario);
        if (!names.insert(job.job).second)
            one.refuse(fmt::format("\"{}\" is already another job's label; each job needs its own",
                                   job.job));
        scenario.other_jobs.push_back(std::move(job));
    }
}

// Refuses a net that trains in place of a published one and is too small for the density: it would
// send ceil(rho n) of n entries, far more than rho n, and its unions would be those of that
// density.
void check_density_of_stand_in(const Scenario& scenario, const Place& algorithm) {
    constexpr double most = 1.5;
    const double density = scenario.algorithm.least_density;
    if (!scenario.training || !scenario.training->stand_in || density == 1) return;
    double entries = 0;
    double sent = 0;
    for (const Tensor& tensor : scenario.training->model.layout->tensors()) {
        if (!tensor.compressible()) continue;
        const auto n = static_cast<double>(tensor.entries());
        entries += n;
        sent += std::ceil(density * n);
    }
    if (sent <= most * density * entries) return;
    algorithm.refuse(
        fmt::format("at density {:g} the model sends {:g} of its {:g} compressible entries, a "
                    "share of {:.3g}, so it cannot stand in for another net; give \"model\" "
                    "larger tensors or raise the density",
                    density, sent, entries, sent / entries));
}

}  // namespace

Keys other_job_keys() {
    return other_job_key_table;
}
Keys scenario_keys() {
    return root_keys;
}
Keys stop_keys() {
    return stop_key_table;
}

double Scenario::steps_per_epoch() const {
    const std::optional<std::int64_t> batch = workload.step_batch();
    if (!batch || !workload.dataset) return 0;
    return static_cast<double>(*workload.dataset) /
           (static_cast<double>(*batch) * workload.batches_of_step(cluster.workers));
}

namespace {

std::optional<std::int64_t> lesser(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
    if (!a) return b;
    return b ? std::min(*a, *b) : *a;
}

// Returns the least number of parts that cover `whole`, at least 1.
std::int64_t parts_of(double whole, double part) {
    const double exact = std::ceil(whole / part * (1 - 1e-12));
    return static_cast<std::int64_t>(std::clamp(exact, 1.0, static_cast<double>(most_stop_steps)));
}

std::optional<std::int64_t> gradients_of(const Scenario& scenario) {
    if (!scenario.stop.samples) return std::nullopt;
    const Workload& workload = scenario.workload;
    const int workers = scenario.cluster.workers;
    const auto batch = static_cast<double>(*workload.step_batch());  // in the mean over workers
    return parts_of(static_cast<double>(*scenario.stop.samples),
                    batch * (workload.batches_of_step(workers) / workers));
}

// Returns the steps of each worker that compute so many gradients, if all take equally many.
std::optional<std::int64_t> steps_for(const Scenario& scenario,
                                      std::optional<std::int64_t> gradients) {
    if (!gradients) return std::nullopt;
    return parts_of(static_cast<double>(*gradients),
                    scenario.cluster.workers * scenario.algorithm.computing);
}

}  // namespace

std::optional<std::int64_t> Scenario::gradients_of_all() const {
    return algorithm.runs_freely ? gradients_of(*this) : std::nullopt;
}

std::optional<std::int64_t> Scenario::steps_of_each() const {
    std::optional<std::int64_t> least = stop.iterations;
    if (stop.epochs) least = lesser(least, parts_of(*stop.epochs * steps_per_epoch(), 1));
    return algorithm.runs_freely ? least : lesser(least, steps_for(*this, gradients_of(*this)));
}

std::optional<std::int64_t> Scenario::steps() const {
    return lesser(steps_of_each(), steps_for(*this, gradients_of(*this)));
}

namespace {

Scenario read_merged(const Json& resolved, const std::string& file, const Sources& sources);

constexpr std::size_t most_draws = 100;

// Reads the scenario as one of the "draws" of "measure" has it: an object of paths and values.
Scenario read_draw(const Place& draw, const Json& resolved) {
    if (!draw.json->is_object()) draw.refuse("is not an object of paths and values");
    Json changed = resolved;
    changed["measure"].erase("draws");
    for (const auto& [path, value] : draw.json->items()) {
        if (!leads_to("cluster", path) && !leads_to("workload", path))
            draw.child(path, value)
                .refuse("is not in the cluster or the workload, whose constants are drawn");
        put_at(changed, path, value, *draw.file, draw.path + "." + path);
    }
    try {
        return read_merged(changed, *draw.file, *draw.sources);
    } catch (const ConfigError& error) {
        draw.refuse(
            fmt::format("makes an invalid scenario: {}: {}", error.path(), error.problem()));
    }
}

void read_draws(const Place& measure, const Json& resolved, Scenario& scenario) {
    const auto draws = ObjectReader(measure, measurement_keys()).optional("draws");
    if (!draws) return;
    if (!draws->json->is_array() || draws->json->empty() || draws->json->size() > most_draws)
        draws->refuse(
            fmt::format("is not a list of 1 to {} objects, such as "
                        "[{{\"cluster.fabric.link.bandwidth\": \"9Gbps\"}}]",
                        most_draws));
    for (std::size_t i = 0; i < draws->json->size(); ++i) {
        Scenario draw = read_draw(draws->element(i), resolved);
        if (scenario.interval) scenario.draws.push_back(std::move(draw));
    }
}

// Returns the device of the table that all nodes have; null if it is none, or they differ.
const Device* device_of_all(const Workload& workload) {
    for (const KindOfDevice& kind : workload.kinds)
        if (kind.device != workload.kinds.front().device) return nullptr;
    return workload.kinds.empty() ? workload.device : workload.kinds.front().device;
}

// Reads a point that names no testbed any more.
Scenario read_merged(const Json& resolved, const std::string& file, const Sources& sources) {
    const ObjectReader read({&resolved, &file, "", &sources}, root_keys);
    Scenario scenario;
    if (const auto p = read.optional("$schema")) as_string(*p);
    if (const auto p = read.optional("title")) as_string(*p);
    if (const auto p = read.optional("version"); p && *p->json != 1 && *p->json != 2)
        p->refuse(
            "is not a version that this program knows: 1 or 2, which are read in the same way; "
            "leave it out");
    if (const auto p = read.optional("seed"))
        scenario.seed =
            static_cast<std::uint64_t>(as_integer(*p, 0, std::numeric_limits<std::int64_t>::max()));

    const Place wires = read.required("cluster", "the nodes and the fabric between them");
    scenario.cluster = read_cluster(wires, scenario.seed);
    check_memory_of_cluster(scenario.cluster, wires);
    const Place workload =
        read.required("workload", "what is trained, such as {\"profile\": \"alexnet\", ...}");
    ReadWorkload what =
        read_workload(workload, {scenario.cluster, scenario.seed}, scenario.workload);
    scenario.training = std::move(what.training);
    const ObjectReader cluster(wires, cluster_keys());
    if (const auto p = cluster.optional("speeds"))
        scenario.cluster.speeds =
            read_speeds(*p, {scenario.cluster.nodes, scenario.seed}, scenario.workload.gradient,
                        scenario.workload.time_on, scenario.cluster.drawn);
    read_class_work(wires, workload, what.time_of, scenario.seed, scenario.cluster,
                    scenario.workload);
    const Place algorithm =
        read.required("algorithm", "how it is trained, such as {\"kind\": \"dense\"}");
    if (scenario.training) scenario.training->optimizer = read_optimizer_of(read, algorithm);
    scenario.algorithm = read_algorithm(algorithm, algorithm_input(scenario));
    check_host_work(algorithm, scenario.cluster.library, scenario.algorithm);
    if (scenario.cluster.failures)
        check_failures(*cluster.optional("failures"), *scenario.cluster.failures,
                       scenario.algorithm, scenario.cluster.devices_per_node);
    if (scenario.training && !scenario.algorithm.trains)
        algorithm.refuse("trains nothing, and the workload has a \"model\"; give it a \"profile\"");
    check_left_out(algorithm, *scenario.workload.layout,
                   scenario.training ? scenario.training->model.layout.get() : nullptr);
    check_density_of_stand_in(scenario, algorithm);
    check_servers(scenario, algorithm);
    check_weighing(scenario, workload);
    check_pieces(scenario.algorithm, *scenario.workload.layout, scenario.cluster.workers,
                 algorithm);
    const ObjectReader stop(read.required("stop", "when to end, such as {\"iterations\": 3}"),
                            stop_key_table);
    scenario.stop = read_stop(stop, scenario.workload);
    read_learning(read, stop, scenario);
    if (const auto p = read.optional("measure")) read_rating(*p, scenario);
    check_epochs(scenario, algorithm);
    const Device* const device = device_of_all(scenario.workload);
    if (const auto p = read.optional("power")) scenario.power = read_power(*p, device);
    if (const auto p = read.optional("price"))
        scenario.price = read_price(*p, device, scenario.power.has_value());
    if (const auto p = read.optional("other_jobs")) {
        if (!scenario.cluster.classes.empty())
            p->refuse("cannot be used with \"cluster.classes\", which name the nodes of one job");
        read_other_jobs(*p, scenario);
    }
    if (const auto p = read.optional("measure")) read_draws(*p, resolved, scenario);
    return scenario;
}

}  // namespace

Scenario read_scenario(const Json& resolved, const std::string& file, const Sources& sources) {
    const auto testbed = testbed_of(resolved, file, sources);
    if (!testbed) return read_merged(resolved, file, sources);
    try {
        return read_merged(on_testbed(*testbed, resolved), file, sources);
    } catch (const ConfigError& error) {
        throw at_its_place(error, *testbed, resolved, file);
    }
}

}  // namespace paceline
