// What classes of nodes compute, from the text of a scenario to its step.
#include "app/scenario/workload/class_work.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/run/make_job.hpp"
#include "app/run/step_costs.hpp"
#include "models/problem.hpp"
#include "tests/app/scenario/one_point.hpp"

namespace paceline::class_work_test {
namespace {

using doctest::Approx;

Json base(int nodes, const Json& workload) {
    return {
        {"cluster",
         {{"nodes", nodes}, {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "10Gbps"}}}}}}},
        {"workload", workload},
        {"algorithm", {{"kind", "dense"}}},
        {"stop", {{"iterations", 3}}}};
}

Json per_sample(int floor_us, int sample_us) {
    return {{"floor", fmt::format("{}us", floor_us)},
            {"per_sample", fmt::format("{}us", sample_us)}};
}

// A cluster of nodes in random classes, each with its own time of a gradient.
struct Drawn {
    std::mt19937 random;
    int nodes;
    std::vector<std::size_t> class_of;       // [node], 0: none
    std::vector<std::pair<int, int>> times;  // floor and time of a sample, in us
    std::vector<int> batches;

    explicit Drawn(unsigned seed) : random(seed), nodes(pick(2, 8)) {
        const int classes = pick(1, 3);
        for (int i = 0; i <= classes; ++i) {
            times.emplace_back(pick(0, 500), pick(1, 40));
            batches.push_back(pick(1, 64));
        }
        for (int node = 0; node < nodes; ++node)
            class_of.push_back(static_cast<std::size_t>(pick(0, classes)));
    }

    // Returns the class of a node.
    std::size_t of(int node) const { return class_of[static_cast<std::size_t>(node)]; }
    int batch(int node) const { return batches[of(node)]; }
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
    Json text(bool by_speed, std::int64_t global) const {
        Json workload{{"gradient", "2822400B"},
                      {"step_time", per_sample(times[0].first, times[0].second)}};
        if (by_speed)
            workload.update({{"batch", "by speed"}, {"global_batch", global}});
        else
            workload["batch"] = batches[0];
        Json text = base(nodes, workload);
        for (std::size_t i = 1; i < times.size(); ++i) {
            Json one{{"nodes", Json::array()},
                     {"step_time", per_sample(times[i].first, times[i].second)}};
            if (!by_speed) one["batch"] = batches[i];
            for (int node = 0; node < nodes; ++node)
                if (of(node) == i) one["nodes"].push_back(node);
            if (!one["nodes"].empty()) text["cluster"]["classes"].push_back(one);
        }
        return text;
    }
    // Returns the time of a worker's gradient, in picoseconds.
    std::int64_t time(int node, std::int64_t batch) const {
        const auto& [floor, sample] = times[of(node)];
        return (floor + sample * batch) * std::int64_t{1'000'000};
    }
};

TEST_CASE("classes, property: a dense step takes the longest gradient and the exchange") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        Drawn drawn(seed);
        Json text = drawn.text(false, 0);
        if (drawn.pick(0, 1) == 0) text["algorithm"]["schedule"] = "whole";
        const Metrics m = run_one_point(text);
        Json none = text;
        none["cluster"].erase("classes");
        none["workload"]["step_time"] = "0s";
        const double exchange_s = run_one_point(none).step_time_s.value();

        std::int64_t longest = 0;
        double all = 0;
        for (int node = 0; node < drawn.nodes; ++node) {
            const std::int64_t time = drawn.time(node, drawn.batch(node));
            longest = std::max(longest, time);
            all += static_cast<double>(time) * 1e-12;
        }
        CHECK(m.step_time_s.value() ==
              Approx(static_cast<double>(longest) * 1e-12 + exchange_s).epsilon(1e-9));
        CHECK(m.compute_s.value() == Approx(all / drawn.nodes).epsilon(1e-12));
        CHECK(m.model_step_time_s.value_or(0) == Approx(m.step_time_s.value()).epsilon(1e-9));
    }
}

TEST_CASE("classes, property: pieces beside backward end when the slowest device's form says") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        Drawn drawn(seed);
        Json text = drawn.text(false, 0);
        text["workload"]["tensors"] = drawn.pick(2, 8);
        text["algorithm"]["schedule"] = {{"pieces", "tensors"}};
        text["algorithm"]["aggregation"] = {{"kind", "all-reduce"}, {"plan", "ring"}};

        const Metrics m = run_one_point(text);

        REQUIRE(m.model_step_time_s.has_value());
        CHECK(*m.model_step_time_s == Approx(m.step_time_s.value()).epsilon(1e-9));
    }
}

TEST_CASE("classes: those that say nothing new change no bit of the results") {
    const Json workload{{"gradient", "1MB"}, {"step_time", per_sample(100, 7)}, {"batch", 32}};
    Json text = base(5, workload);
    const Metrics none = run_one_point(text);
    text["cluster"]["classes"] = {{{"nodes", {1, 3}},
                                   {"step_time", per_sample(100, 7)},
                                   {"batch", 32},
                                   {"link", {{"bandwidth", "10Gbps"}}}},
                                  {{"nodes", {0}}}};

    const Metrics some = run_one_point(text);

    CHECK(some.step_time_s == none.step_time_s);
    CHECK(some.samples_per_s == none.samples_per_s);
    CHECK(some.model_step_time_s == none.model_step_time_s);
    CHECK(some.model_step_time_s.has_value());
    CHECK(some.events == none.events);
}

TEST_CASE("by speed, property: no sample is lost, and no split ends sooner") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Drawn drawn(seed);
        const std::int64_t samples = drawn.nodes + drawn.pick(0, 200);
        const Scenario scenario = read_one_point(drawn.text(true, samples));
        std::vector<std::int64_t> batches = scenario.workload.batches;
        const auto nodes = static_cast<std::size_t>(drawn.nodes);
        if (batches.empty()) batches.assign(nodes, *scenario.workload.batch);

        CHECK(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}) == samples);
        const auto longest_of = [&](const std::vector<std::int64_t>& split) {
            std::int64_t longest = 0;
            for (std::size_t node = 0; node < nodes; ++node)
                longest = std::max(longest, drawn.time(static_cast<int>(node), split[node]));
            return longest;
        };
        // The least possible: samples go one by one to whoever would end first with one more.
        std::vector<std::int64_t> best(nodes, 1);
        for (std::int64_t left = samples - drawn.nodes; left > 0; --left) {
            const auto then = [&](std::size_t node) {
                return drawn.time(static_cast<int>(node), best[node] + 1);
            };
            std::size_t first = 0;
            for (std::size_t node = 1; node < nodes; ++node)
                if (then(node) < then(first)) first = node;
            ++best[first];
        }
        CHECK(longest_of(batches) == longest_of(best));
    }
}

TEST_CASE("by speed: permanent speeds of nodes count, too") {
    Json text = base(4, {{"gradient", "4B"},
                         {"step_time", per_sample(0, 100)},
                         {"batch", "by speed"},
                         {"global_batch", 700}});
    text["cluster"]["speeds"] = {{"kind", "list"}, {"values", {1, 2, 0.5, 3.5}}};

    const Metrics m = run_one_point(text);

    CHECK(read_one_point(text).workload.batches == std::vector<std::int64_t>{100, 200, 50, 350});
    CHECK(m.compute_s.value() == Approx(0.01));
    CHECK(m.samples_per_s.value() == Approx(700 / m.step_time_s.value()));
}

TEST_CASE("classes: rates count the samples of each worker, also where workers run freely") {
    Json text = base(3, {{"gradient", "4B"}, {"step_time", "1ms"}, {"batch", 10}});
    text["cluster"]["classes"] = {{{"nodes", {2}}, {"step_time", "2ms"}, {"batch", 50}}};
    CHECK(run_one_point(text).samples_per_s.value() == Approx(70 / 2e-3).epsilon(1e-3));

    text["algorithm"] = {{"kind", "ps-async"}};
    text["stop"] = {{"time", "1s"}};

    // Two workers with 10 samples in a millisecond, and one with 50 in two
    CHECK(run_one_point(text).samples_per_s.value() == Approx(45'000).epsilon(2e-3));
}

TEST_CASE("classes: memory is that of the device that is fullest, by its batch and its size") {
    Json text = base(4, {{"profile", "gpt2"},
                         {"step_time", per_sample(0, 100)},
                         {"batch", 2},
                         {"recompute", "none"},
                         {"device_memory", "80GB"}});
    const Metrics alike = run_one_point(text);
    text["cluster"]["classes"] = {{{"nodes", {3}}, {"batch", 6}}};
    const Metrics large = run_one_point(text);
    text["cluster"]["classes"] = {{{"nodes", {3}}, {"device_memory", "8GB"}}};
    const Metrics small = run_one_point(text);

    CHECK(large.activations_gb.value() == Approx(3 * alike.activations_gb.value()));
    CHECK(large.memory_gb.value() > alike.memory_gb.value());
    CHECK(small.memory_gb == alike.memory_gb);
    CHECK(small.memory_share.value() == Approx(10 * alike.memory_share.value()));
}

TEST_CASE("uneven machines: a ring over 4 and 2 devices takes what the slowest cable makes it") {
    Json text = base(2, {{"gradient", "6MB"}, {"gradient_time", "10ms"}});
    Json& cluster = text["cluster"];
    cluster["fabric"]["link"] = {{"bandwidth", "1Gbps"}, {"latency", "50us"}};
    cluster["devices_per_node"] = 4;
    cluster["bus"] = {{"kind", "switched"},
                      {"link", {{"bandwidth", "12GBps"}, {"latency", "5us"}}}};
    cluster["classes"] = {{{"nodes", {1}}, {"devices_per_node", 2}}};
    const double hop_s = 2 * 50e-6 + 2 * 5e-6;

    const Metrics m = run_one_point(text);

    CHECK(m.devices == 6);
    CHECK(m.step_time_s.value() == Approx(10e-3 + 2 * 5 * (hop_s + 1e6 * 8 / 1e9)).epsilon(1e-9));
    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2 * 5 * 1e6));
    CHECK_FALSE(m.model_step_time_s.has_value());

    cluster["classes"][0]["link"] = {{"bandwidth", "100Mbps"}, {"latency", "50us"}};
    const double slower_s = run_one_point(text).step_time_s.value();
    CHECK(slower_s == Approx(10e-3 + 2 * 5 * (hop_s + 1e6 * 8 / 1e8)).epsilon(1e-3));
}

// A convex model in double on random batches.
Json convex(const std::string& weigh) {
    return {{"model", {{"kind", "linear-regression"}}},
            {"data", {{"kind", "linear-regression"}, {"dimension", 5}, {"rows", 60}}},
            {"batch", 1},
            {"weigh", weigh},
            {"step_time", per_sample(10, 1)}};
}

// Returns the gradient of one node whose batch is all of these samples.
Eigen::VectorXd on_one_node(const Scenario& scenario, const std::vector<int>& samples,
                            const Vector& x) {
    const Training& training = *scenario.training;
    ProblemOptions options;
    options.shards = {samples};
    options.batch = static_cast<int>(samples.size());
    if (!scenario.algorithm.decays_by_itself)
        options.weight_decay = training.optimizer.weight_decay;
    return training.model.problem(training.data.set(), options)->gradient(x, 0);
}

TEST_CASE("weighed gradients, property: their mean is that of one node with the same samples") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Drawn drawn(seed);
        Json text = drawn.text(false, 0);
        text["optimizer"] = {{"learning_rate", 0.1}, {"weight_decay", 0.01}};
        for (const bool by_samples : {false, true}) {
            text["workload"] = convex(by_samples ? "samples" : "workers");
            text["workload"]["batch"] = drawn.batches[0];
            const Scenario scenario = read_one_point(text);
            const RandomStreams streams(scenario.seed);
            const Shards shards = scenario.training->data.deal(drawn.nodes, streams);
            const auto problem = make_problem(scenario);
            const Eigen::VectorXd start = problem->start();
            const Vector x(problem->layout(), start + Eigen::VectorXd::Constant(start.size(), 0.3));

            Eigen::VectorXd mean = Eigen::VectorXd::Zero(start.size());
            Eigen::VectorXd reference = mean;
            std::vector<int> all;
            for (int node = 0; node < drawn.nodes; ++node) {
                mean += problem->gradient(x, node) / drawn.nodes;
                BatchSampler sampler(shards[static_cast<std::size_t>(node)], drawn.batch(node),
                                     Sampling::passes,
                                     streams.stream("batch", static_cast<std::uint64_t>(node)));
                const std::span<const int> batch = sampler.next();
                const std::vector<int> own(batch.begin(), batch.end());
                reference += on_one_node(scenario, own, x) / drawn.nodes;
                all.insert(all.end(), own.begin(), own.end());
            }
            if (by_samples) {
                reference = on_one_node(scenario, all, x);
                const Eigen::VectorXd at_once = make_problem(scenario)->mean_gradient(x);
                CHECK((at_once - reference).norm() < 1e-12 * reference.norm());
            }
            CHECK((mean - reference).norm() < 1e-12 * reference.norm());
        }
    }
}

TEST_CASE("weighed gradients: a run goes to the minimum of the weighed losses") {
    Json text = base(3, convex("samples"));
    text["workload"].update({{"batch", 60}, {"accumulation", 1}});
    text["cluster"]["classes"] = {{{"nodes", {1}}, {"batch", 180}}};
    text["optimizer"] = {{"learning_rate", 0.1}};
    text["stop"] = {{"iterations", 600}};
    for (const char* weigh : {"samples", "workers"})
        for (const Json& algorithm :
             {Json{{"kind", "dense"}},
              Json{{"kind", "gradient-tracking"}, {"mixing", {{"kind", "ring"}}}}}) {
            CAPTURE(algorithm.dump());
            text["workload"]["weigh"] = weigh;
            text["algorithm"] = algorithm;
            CHECK(run_one_point(text).relative_error.value() < 1e-9);
        }
}

}  // namespace
}  // namespace paceline::class_work_test
