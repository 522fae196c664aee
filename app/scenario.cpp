#include "app/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

constexpr std::array<std::string_view, 10> root_keys{
    "title",     "seed",    "cluster", "workload", "optimizer",
    "algorithm", "measure", "stop",    "sweep",    "$schema"};
constexpr std::array<std::string_view, 6> stop_key_table{
    "iterations", "epochs", "time", "target_loss", "target_test_loss", "target_accuracy"};
constexpr std::int64_t most_steps = std::int64_t{1} << 40;

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

}  // namespace

Keys scenario_keys() {
    return root_keys;
}
Keys stop_keys() {
    return stop_key_table;
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
    const ObjectReader cluster(*read.optional("cluster"), cluster_keys());
    if (const auto p = cluster.optional("speeds"))
        scenario.cluster.speeds = read_speeds(
            *p, scenario.cluster.nodes, scenario.workload.gradient, scenario.workload.time_on);
    const Place algorithm =
        read.required("algorithm", "how it is trained, such as {\"kind\": \"dense\"}");
    if (scenario.training) scenario.training->optimizer = read_optimizer_of(read, algorithm);
    scenario.algorithm =
        read_algorithm(algorithm, {{scenario.cluster.workers, scenario.cluster.devices_per_node},
                                   scenario.training ? scenario.training->optimizer : Optimizer{}});
    if (scenario.cluster.failures)
        check_failures(*cluster.optional("failures"), *scenario.cluster.failures,
                       scenario.algorithm);
    if (scenario.training && !scenario.algorithm.trains)
        algorithm.refuse("trains nothing, and the workload has a \"model\"; give it a \"profile\"");
    if (scenario.algorithm.serve && !scenario.cluster.fabric.takes_servers)
        algorithm.refuse("its server stands on a node of its own, which needs a \"star\"");
    if (scenario.algorithm.server_nodes > 0 && !scenario.cluster.fabric.takes_servers)
        algorithm.refuse(
            "servers on nodes of their own need a \"star\"; on this fabric set \"all_reduce\" to "
            "{\"kind\": \"parameter-server\", \"placement\": \"workers\"}");
    const ObjectReader stop(read.required("stop", "when to end, such as {\"iterations\": 3}"),
                            stop_key_table);
    scenario.stop = read_stop(stop, scenario.workload);
    read_learning(read, stop, scenario);
    if (scenario.algorithm.needs_epochs && scenario.steps_per_epoch() == 0)
        algorithm.refuse(
            "its warm-up counts epochs, which need \"workload.batch\" and a data set's "
            "size; or use \"steps_each\"");
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
    return base + cluster.workers * per_node + cluster.fabric.memory + cluster.bus_memory() +
           memory_under_way(scenario) + memory_of_values(scenario);
}

}  // namespace paceline
