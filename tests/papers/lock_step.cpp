#include "tests/papers/lock_step.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::papers {

namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Duration one_step = 1ms;

AlgorithmChoice choose(const Json& algorithm, const Setting& s) {
    static const std::string file = "tests/papers";
    Optimizer optimizer;
    optimizer.momentum = s.beta;
    optimizer.nesterov = s.nesterov;
    optimizer.weight_decay = s.lambda;
    optimizer.clip = s.clip;
    return read_algorithm({&algorithm, &file, "algorithm"}, {{s.nodes, 1}, optimizer});
}

LayoutPtr layout() {
    return std::make_shared<const Layout>(std::vector<Tensor>{
        {"a.weight", {5, 3}}, {"a.bias", {5}}, {"b.weight", {3, 4}}, {"b.bias", {3}}});
}

// The middle of a step of nodes that are not slowed down.
Time middle_of(std::int64_t step) {
    return Time{step * one_step + one_step / 2};
}

Failures failures_of(const Setting& s) {
    Failures failures;
    failures.detection = 1us;
    failures.return_from = s.returns_with_a_peers_model ? ReturnFrom::peer : ReturnFrom::own;
    failures.next_absence = [outages = s.outages](int node, Time since) -> std::optional<Absence> {
        for (const Outage& out : outages)
            if (out.node == node && middle_of(out.to - 1) > since)
                return Absence{middle_of(out.from), middle_of(out.to - 1)};
        return std::nullopt;
    };
    return failures;
}

Job make_job(const AlgorithmChoice& choice, const Setting& s) {
    Job job{Vector(layout(), s.start())};
    job.timing = accumulated(make_step_timing(one_step, *job.start.layout()), s.accumulation);
    job.workers = s.nodes;
    if (choice.serve) job.servers = choice.server_nodes;
    job.takes_step = [steps = s.steps](std::int64_t k) { return k < steps; };
    job.steps_are_counted = true;
    job.objective = [&s, decay = choice.decays_by_itself ? 0 : s.lambda](const Vector& x, int node,
                                                                         std::int64_t b) -> Column {
        return s.batch_gradient(x.values(), node, b) + decay * x.values();
    };
    job.learning_rate = [&s](std::int64_t k) { return s.gamma(k); };
    job.samples = s.samples;
    job.seed = s.seed;
    if (choice.mixing.make) job.mixing = choice.mixing.make(s.seed);
    if (!s.pace.empty())
        job.compute_time = [&s](int node, std::int64_t, Time, Duration nominal) {
            return Duration{std::llround(s.pace[static_cast<std::size_t>(node)] *
                                         static_cast<double>(nominal.count()))};
        };
    if (!s.outages.empty()) job.failures = failures_of(s);
    return job;
}

void run_processes(const AlgorithmChoice& choice, Network& network, Cluster& cluster) {
    Simulation& simulation = network.simulation();
    if (cluster.lives().failures()) {
        WorkerProcesses processes(
            network, cluster, {choice.run, choice.serve, choice.serve ? choice.server_nodes : 0});
        processes.begin();
        PACELINE_CHECK(simulation.run() == RunEnd::idle && processes.finished(), "the run ends");
        return;
    }
    Processes processes(simulation);
    for (int i = 0; choice.serve && i < choice.server_nodes; ++i)
        cluster.serve(cluster.workers() + i, "server", choice.serve(cluster.server(i)));
    for (int i = 0; i < cluster.workers(); ++i)
        processes.spawn("node " + std::to_string(i), choice.run(cluster.worker(i)));
    PACELINE_CHECK(simulation.run() == RunEnd::idle && processes.finished(), "the run ends");
}

}  // namespace

History run_product(const Json& algorithm, const Setting& s) {
    const AlgorithmChoice choice = choose(algorithm, s);
    const Link link{1000_Gbps, 1ns};
    Simulation simulation;
    Network network(simulation, make_star(s.nodes + choice.server_nodes, link, link));
    History history(static_cast<std::size_t>(s.steps) + 2,
                    Models::Constant(entries, s.nodes, nowhere));
    Cluster* running = nullptr;
    Job job = make_job(choice, s);
    job.after_steps = [&](int node, std::int64_t k) {
        history[static_cast<std::size_t>(k)].col(node) =
            running->worker(node).current_model().values();
    };
    Cluster cluster(network, std::move(job));
    running = &cluster;
    run_processes(choice, network, cluster);
    for (int i = 0; i < s.nodes; ++i)
        history.back().col(i) = cluster.worker(i).current_model().values();
    return history;
}

double largest_difference(const History& product, const History& reference) {
    if (product.size() != reference.size()) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t k = 0; k < product.size(); ++k)
        for (Eigen::Index i = 0; i < reference[k].size(); ++i) {
            const double expected = reference[k](i);
            if (std::isnan(expected)) continue;
            const double difference = std::abs(product[k](i) - expected);
            if (!(difference < std::numeric_limits<double>::infinity()))
                return std::numeric_limits<double>::infinity();
            largest = std::max(largest, difference / std::max(1.0, std::abs(expected)));
        }
    return largest;
}

}  // namespace paceline::papers
