// The figures that paceline exists for, end to end from the shipped scenarios.
#include "app/run/run_point.hpp"

#include <bit>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::run_point_test {
namespace {

namespace fs = std::filesystem;
using doctest::Approx;

std::string shipped(const std::string& name) {
    return (fs::path(PACELINE_SOURCE_DIR) / "scenarios" / (name + ".json")).string();
}

struct Run {
    Study study;
    std::vector<PointResult> results;

    explicit Run(const std::string& file, const std::vector<std::string>& settings = {})
        : study(read_study(file, settings)), results(run_points(study, 2)) {}

    // Returns the metrics of the point whose axis values have these names.
    [[nodiscard]] const Metrics& at(const std::vector<std::string>& names) const {
        for (std::size_t i = 0; i < study.points.size(); ++i) {
            std::vector<std::string> own;
            for (std::size_t a = 0; a < study.axes.size(); ++a)
                own.push_back(study.axes[a].names[study.points[i].choice[a]]);
            if (own == names) return results[i].metrics;
        }
        throw std::out_of_range(fmt::format("no point {}", names.back()));
    }
    [[nodiscard]] double speedup(const std::vector<std::string>& names) const {
        return at(names).speedup.value();
    }
};

// One point of two nodes that exchange 4 bytes, with optional settings.
struct Small {
    TemporaryFolder folder;
    std::string file = folder.write("small.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
        "workload": {"gradient": "4B", "step_time": "1ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3}})");

    [[nodiscard]] Metrics run(const std::vector<std::string>& settings) const {
        return run_point(read_study(file, settings).points.front().scenario, nullptr);
    }
};

TEST_CASE("dgc-speedup: AlexNet at 64 nodes has the speedups of the paper's performance model") {
    const Run run(shipped("dgc-speedup"));

    CHECK(run.speedup({"AlexNet", "dense", "10Gbps", "64"}) == Approx(30.24).epsilon(0.003));
    CHECK(run.speedup({"AlexNet", "dgc", "1Gbps", "64"}) == Approx(40.06).epsilon(0.003));
    CHECK(run.speedup({"AlexNet", "dense", "1Gbps", "64"}) == Approx(5.26).epsilon(0.003));
    CHECK(run.speedup({"AlexNet", "dgc", "10Gbps", "64"}) == Approx(60.39).epsilon(0.003));
}

TEST_CASE("dgc-speedup: two nodes on 1 Gbps train AlexNet dense at a third of one node's speed") {
    const Run run(shipped("dgc-speedup"), {"cluster.nodes=2"});

    CHECK(run.speedup({"AlexNet", "dense", "1Gbps"}) == Approx(0.30).epsilon(0.003));
}

TEST_CASE("dgc-speedup: one node is the baseline of itself and sends nothing") {
    const Run run(shipped("dgc-speedup"), {"cluster.nodes=1"});

    for (const PointResult& result : run.results) {
        CHECK(result.metrics.speedup.value() == Approx(1).epsilon(1e-12));
        CHECK(result.metrics.bytes_sent_per_node_per_step == 0);
        CHECK(result.metrics.exposed_comm_s.value() == Approx(0));
    }
}

TEST_CASE("dgc-speedup: what is sent of AlexNet is 597 times smaller, of ResNet-50 277 times") {
    const Run run(shipped("dgc-speedup"), {"cluster.nodes=2"});

    CHECK(run.at({"AlexNet", "dgc", "1Gbps"}).compression_ratio.value() ==
          Approx(597).epsilon(0.002));
    CHECK(run.at({"ResNet-50", "dgc", "1Gbps"}).compression_ratio.value() ==
          Approx(277).epsilon(0.002));
    CHECK(run.at({"ResNet-50", "dense", "1Gbps"}).compression_ratio == 1);
}

TEST_CASE("dgc-refined: with one-dimensional tensors all-reduced AlexNet gains 41.6x and 60.7x") {
    const Run run(shipped("dgc-refined"),
                  {R"(workload={"profile": "alexnet", "step_time": "344ms"})", "cluster.nodes=64"});

    CHECK(run.speedup({"1 Gbps, no latency", "dgc, 1-D all-reduced"}) ==
          Approx(41.6).epsilon(0.003));
    CHECK(run.speedup({"10 Gbps, no latency", "dgc, 1-D all-reduced"}) ==
          Approx(60.7).epsilon(0.003));
}

TEST_CASE("dgc-refined: ResNet-50 gains as much as AlexNet once its 1-D tensors are all-reduced") {
    const Run run(
        shipped("dgc-refined"),
        {R"(workload={"profile": "resnet-50", "step_time": "150ms"})", "cluster.nodes=64"});

    CHECK(run.speedup({"1 Gbps, no latency", "dgc, as published"}) == Approx(28.54).epsilon(0.003));
    CHECK(run.speedup({"1 Gbps, no latency", "dgc, 1-D all-reduced"}) ==
          Approx(41.63).epsilon(0.003));
}

TEST_CASE("ring-allreduce: 97 MB take the time of the textbook at 8, 64, 256 and 1024 nodes") {
    const Run run(shipped("ring-allreduce"));

    CHECK(std::abs(run.at({"8"}).sim_time_s - 1.359400) <= 1e-5);
    CHECK(std::abs(run.at({"64"}).sim_time_s - 1.540350) <= 1e-5);
    CHECK(std::abs(run.at({"256"}).sim_time_s - 1.596937) <= 1e-5);
    CHECK(std::abs(run.at({"1024"}).sim_time_s - 1.755084) <= 1e-5);
}

TEST_CASE("shipped scenarios: every point finishes in the time of its closed form") {
    for (const char* name : {"dgc-speedup", "dgc-refined"}) {
        CAPTURE(name);
        const Run run(shipped(name));
        for (std::size_t i = 0; i < run.results.size(); ++i) {
            CAPTURE(i);
            const Metrics& m = run.results[i].metrics;

            CHECK(m.outcome == "finished");
            CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        }
    }
}

// Every way to exchange, on links with latency, at every size from 1 to 17. In a ring whose chunks
// differ by a byte, a rank that has passed on the shorter chunks starts the next step earlier, so
// over more steps the steps overlap a little (8e-8 at 16 nodes from the fourth step on).
const std::string ways_to_exchange = R"({
    "cluster": {"nodes": 1, "fabric": {"kind": "star",
                "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
    "workload": {"profile": "resnet-110", "step_time": "10ms"},
    "algorithm": {"kind": "dense"}, "stop": {"iterations": 3},
    "sweep": {
      "algorithm": [
        {"label": "ring", "kind": "dense"},
        {"label": "doubling", "kind": "dense", "all_reduce": "recursive-doubling"},
        {"label": "halving", "kind": "dense", "all_reduce": "halving-doubling", "wire": "fp16"},
        {"label": "dgc", "kind": "dgc", "density": 0.01},
        {"label": "dgc ring", "kind": "dgc", "density": 0.01, "exchange": "all-gather-ring"},
        {"label": "dgc bruck", "kind": "dgc", "density": 0.01, "exchange": "all-gather-bruck",
         "uncompressed": "gathered", "density_law": "worst-case", "selection": "exact"},
        {"label": "dgc warming up", "kind": "dgc",
         "warm_up": {"densities": [0.25, 0.0625], "steps_each": 1}},
        {"label": "dropping", "kind": "gradient-dropping", "dense_steps": 1}
      ],
      "cluster.nodes": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    }})";

TEST_CASE("closed forms: a step takes exactly that long at powers of two, never longer elsewhere") {
    const TemporaryFolder folder;
    const Run run(folder.write("ways.json", ways_to_exchange));

    for (const PointResult& result : run.results) {
        const Metrics& m = result.metrics;
        CAPTURE(m.nodes);
        const auto i = static_cast<std::size_t>(&result - run.results.data());
        CAPTURE(run.study.points[i].scenario.algorithm.label);
        const double simulated = m.step_time_s.value();
        const double predicted = m.model_step_time_s.value();
        const bool power_of_two = std::has_single_bit(static_cast<unsigned>(m.nodes));
        const double least = power_of_two ? predicted * (1 - 1e-9) : 0.0;

        CHECK(simulated >= least);
        CHECK(simulated <= predicted * (1 + 1e-9));
    }
}

TEST_CASE("closed forms: more time than the clock can tell is not told as little or negative") {
    const Small small;

    const Metrics m = small.run({"workload.gradient=1TB", "cluster.fabric.link.bandwidth=1bps"});

    CHECK(m.outcome == "out-of-range");
    CHECK(m.model_step_time_s.value_or(1e12) > 106 * 86400.0);
}

TEST_CASE("run: a latency that overflows the clock when doubled is an outcome, not a fault") {
    const Small small;

    const Metrics m = small.run({"cluster.fabric.link.latency=100d"});

    CHECK(m.outcome == "out-of-range");
    CHECK(m.model_step_time_s.value_or(1e12) > 106 * 86400.0);
}

TEST_CASE("closed forms: the mean over a thousand thousand million steps is found at once") {
    const Small small;
    const std::string dropping =
        R"(algorithm={"kind": "gradient-dropping", "dense_steps": 100000000})";
    const Study study = read_study(small.file, {dropping, "stop.iterations=1000000000000"});

    CHECK(model_step_time(study.points.front().scenario, 1'000'000'000'000).has_value());
}

TEST_CASE("run: a message's overhead keeps its sender busy, and no closed form is claimed") {
    const Small small;

    const Metrics m = small.run({"cluster.fabric.overhead=1ms", "stop.iterations=1"});

    CHECK(!m.model_step_time_s.has_value());
    CHECK(m.sim_time_s > 0.002);
}

TEST_CASE("run: a time limit ends the run with the clock at the limit, which is no failure") {
    const Small small;

    const Metrics m = small.run({"stop.time=2500us", "workload.step_time=1ms"});

    CHECK(m.outcome == "time-limit");
    CHECK(!m.failed());
    CHECK(m.sim_time_s == Approx(0.0025).epsilon(1e-12));
}

TEST_CASE("run: a time limit that is never reached does not show") {
    const Small small;

    const Metrics m = small.run({"stop.time=1h"});

    CHECK(m.outcome == "finished");
    CHECK(m.iterations == 3);
    CHECK(m.sim_time_s < 0.01);
}

TEST_CASE("run: time alone can end a run") {
    const Small small;

    const Metrics m = small.run({R"(stop={"time": "20ms"})", "cluster.nodes=1"});

    CHECK(m.outcome == "time-limit");
    CHECK(m.iterations >= 19);
    CHECK(m.iterations <= 20);
}

TEST_CASE("run: epochs are samples of all workers over the data set") {
    const Small small;

    const Metrics m = small.run({"workload.batch=10", "workload.dataset_samples=100",
                                 R"(stop={"epochs": 2})", "cluster.nodes=4"});

    CHECK(m.outcome == "finished");
    CHECK(m.iterations == 5);
    CHECK(m.epochs == 2);
    CHECK(m.samples_per_s.value() == Approx(40 / m.step_time_s.value()).epsilon(1e-9));
}

// Four nodes on 1 Gbps and 25 us per link; 4.8 MB take 2 * 3 * (50 us + 9.6 ms) on a ring.
struct Ring {
    TemporaryFolder folder;
    std::string file = folder.write("ring.json", R"({
        "cluster": {"nodes": 4,
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
        "workload": {"gradient": "4800000B", "step_time": "10ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 5}})");
    static constexpr double exchange_s = 6 * (50e-6 + 9.6e-3);

    [[nodiscard]] Scenario read(const std::vector<std::string>& settings) const {
        return read_study(file, settings).points.front().scenario;
    }
    [[nodiscard]] Metrics run(const std::vector<std::string>& settings) const {
        return run_point(read(settings), nullptr);
    }
};

TEST_CASE("run: accumulated gradients are computed one after the other and exchanged once") {
    const Ring ring;
    for (const int gradients : {1, 2, 7}) {
        CAPTURE(gradients);
        const Metrics m =
            ring.run({fmt::format("workload.accumulation={}", gradients), "workload.batch=32"});

        CHECK(m.iterations == 5);
        CHECK(m.step_time_s.value() == Approx(gradients * 10e-3 + Ring::exchange_s).epsilon(1e-9));
        CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-9));
        CHECK(m.compute_s.value() == Approx(gradients * 10e-3).epsilon(1e-12));
        CHECK(m.samples_per_s.value() ==
              Approx(4 * 32 * gradients / m.step_time_s.value()).epsilon(1e-12));
        CHECK(m.speedup.value() ==
              Approx(4 * gradients * 10e-3 / m.step_time_s.value()).epsilon(1e-12));
        CHECK(m.bytes_sent_per_node_per_step.value() == Approx(1.5 * 4.8e6));
    }
}

TEST_CASE("run: the optimizer's update follows every exchange, of every algorithm") {
    const Ring ring;
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "dense-overlapped"})",
          R"({"kind": "dgc", "selection": "free", "exchange": "all-gather-ring"})",
          R"({"kind": "gradient-dropping", "selection": "free", "dense_steps": 2})"}) {
        CAPTURE(algorithm);
        const std::string kind = fmt::format("algorithm={}", algorithm);

        const Metrics without = ring.run({kind});
        const Metrics with = ring.run({kind, "workload.update_time=3ms"});

        CHECK(with.sim_time_s - without.sim_time_s == Approx(5 * 3e-3).epsilon(1e-9));
        CHECK(with.compute_s.value() - without.compute_s.value() == Approx(3e-3).epsilon(1e-9));
        CHECK(with.model_step_time_s.value() == Approx(with.step_time_s.value()).epsilon(1e-9));
    }
}

TEST_CASE("run: an update is part of one node's own step, too") {
    const Metrics m = Ring().run({"workload.update_time=3ms", "cluster.nodes=1"});

    CHECK(m.step_time_s.value() == Approx(13e-3).epsilon(1e-12));
    CHECK(m.speedup.value() == Approx(1).epsilon(1e-12));
}

TEST_CASE("run: a global batch is the batch of a gradient times all gradients of a step") {
    const Ring ring;
    for (const int nodes : {1, 2, 3, 4})
        for (const int gradients : {1, 2, 5}) {
            CAPTURE(nodes);
            CAPTURE(gradients);
            const std::string size = fmt::format("cluster.nodes={}", nodes);
            const std::string many = fmt::format("workload.accumulation={}", gradients);
            const std::string data = "workload.dataset_samples=1000000";
            const Metrics weak = ring.run({size, many, data, "workload.batch=24"});
            const Metrics strong =
                ring.run({size, many, data,
                          fmt::format("workload.global_batch={}", 24 * nodes * gradients)});

            CHECK(strong.sim_time_s == weak.sim_time_s);
            CHECK(strong.epochs == weak.epochs);
            CHECK(strong.samples_per_s == weak.samples_per_s);
            CHECK(strong.speedup == weak.speedup);
            CHECK(strong.epochs.value() ==
                  Approx(5.0 * 24 * nodes * gradients / 1e6).epsilon(1e-12));
        }
}

TEST_CASE("run: a device computes its share of a global batch in its share of the time") {
    const Ring ring;
    const std::string workload =
        R"(workload={{"profile": "resnet-50", "device": "v100", "efficiency": 0.5,
           "{}": {}}})";
    const auto compute = [&](int nodes, const std::string& key, int batch) {
        const std::string text = fmt::format(fmt::runtime(workload), key, batch);
        return ring.run({fmt::format("cluster.nodes={}", nodes), text}).compute_s.value();
    };

    CHECK(compute(4, "global_batch", 256) == compute(4, "batch", 64));
    CHECK(compute(1, "global_batch", 256) == compute(1, "batch", 256));
    CHECK(compute(1, "batch", 256) == Approx(4 * compute(4, "global_batch", 256)).epsilon(1e-9));
}

TEST_CASE("run: gradient_time is what step_time is where there is no bus") {
    const Ring ring;
    const std::string gradient_time =
        R"(workload={"gradient": "4800000B", "gradient_time": "10ms"})";

    CHECK(ring.run({gradient_time}).sim_time_s == ring.run({}).sim_time_s);
}

TEST_CASE("run: a bucket that holds everything is dense SGD; smaller ones hide behind backward") {
    const Ring ring;
    const std::string net = R"(workload={"profile": "resnet-50", "step_time": "300ms"})";
    const std::string at_once = "cluster.fabric.link.latency=0s";
    const auto with_bucket = [&](const char* bucket, const char* wire) {
        return ring.run({net, at_once,
                         fmt::format(R"(algorithm={{"kind": "dense-overlapped",
                                             "bucket": "{}", "wire": "{}"}})",
                                     bucket, wire)});
    };

    const Metrics dense = ring.run({net, at_once});
    CHECK(with_bucket("1GB", "fp32").sim_time_s == dense.sim_time_s);
    double before = dense.sim_time_s;
    for (const char* bucket : {"25MiB", "5MB", "1MB"}) {
        CAPTURE(bucket);
        const Metrics m = with_bucket(bucket, "fp32");
        CHECK(m.sim_time_s <= before * (1 + 1e-9));  // equal where the first bucket is the same
        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-7));
        CHECK(m.bytes_sent_per_node_per_step.value() ==
              Approx(dense.bytes_sent_per_node_per_step.value()).epsilon(1e-12));
        before = m.sim_time_s;
    }
    CHECK(before < 0.99 * dense.sim_time_s);
    const Scenario full = ring.read({net, R"(algorithm={"kind": "dense-overlapped"})"});
    CHECK(full.algorithm.bucket == Bytes{25 << 20});
    CHECK(with_bucket("1MB", "fp16").bytes_sent_per_node_per_step.value() ==
          Approx(dense.bytes_sent_per_node_per_step.value() / 2).epsilon(1e-12));
}

TEST_CASE("run: buckets are cut by what they weigh on the wire") {
    // resnet-50, 25.6 million entries. On a slow network the exchange follows the first bucket
    // without a gap: a step takes r_0 plus the exchange of everything. Buckets of 16 MB in fp32 and
    // of 8 MB in fp16 hold the same tensors, so r_0 is the same.
    const Ring ring;
    const auto step = [&](const char* bucket, const char* wire) {
        return ring
            .run({R"(workload={"profile": "resnet-50", "step_time": "300ms"})",
                  "cluster.fabric.link.bandwidth=10Mbps", "cluster.fabric.link.latency=0s",
                  fmt::format(R"(algorithm={{"kind": "dense-overlapped", "bucket": "{}",
                                 "wire": "{}"}})",
                              bucket, wire)})
            .step_time_s.value();
    };
    const double all_s = 1.5 * 25'557'032 * 4 / 1.25e6;

    CHECK(step("16MB", "fp32") - all_s == Approx(step("8MB", "fp16") - all_s / 2).epsilon(1e-3));
    CHECK(step("16MB", "fp32") - all_s > 0.1);
    CHECK(step("16MB", "fp32") - all_s < 0.3);
}

TEST_CASE("run: a clock that runs out of range is a named outcome") {
    const Small small;

    const Metrics m = small.run({"workload.step_time=100d"});

    CHECK(m.outcome == "out-of-range");
    CHECK(m.failed());
    CHECK(m.outcome_details.find("106 days") != std::string::npos);
}

TEST_CASE("run: endless steps that take no time are reported as spinning, with their workers") {
    const Small small;

    const Study study = read_study(
        small.file, {"workload.step_time=0s", "cluster.nodes=1", R"(stop={"time": "1s"})"});
    const Metrics m = run_point(study.points.front().scenario, nullptr, {100'000});

    CHECK(m.outcome == "spinning");
    CHECK(m.failed());
    CHECK(m.outcome_details == "node 0 does not let time pass");
}

TEST_CASE("run: a number of steps that take no time finishes, however many") {
    const Small small;

    for (const std::string stop :
         {R"({"iterations": 300000})", R"({"iterations": 300000, "time": "1s"})"}) {
        CAPTURE(stop);
        const Study study = read_study(
            small.file, {"workload.step_time=0s", "cluster.nodes=1", fmt::format("stop={}", stop)});
        const Metrics m = run_point(study.points.front().scenario, nullptr, {100'000});

        CHECK(m.outcome == "finished");
        CHECK(m.iterations == 300'000);
    }
}

// Its models diverge, or reach the target, between two evaluations.
TEST_CASE("run point: a run that is stopped from outside is judged by nobody, wherever it stops") {
    const TrainingStudy study;
    for (const char* setting :
         {"optimizer.learning_rate=1e9", "stop.target_loss=1e9", "measure.target_loss=1e9"})
        for (std::int64_t at = 1; at < 6; ++at) {
            CAPTURE(setting);
            CAPTURE(at);
            Progress progress;
            Observer observer;
            observer.workers.step_begins = [&](int /*host*/, std::int64_t step) {
                if (step == at) progress.stop = true;
            };
            const Scenario scenario = study.scenario({"measure.every=1000 iterations", setting});

            const Metrics m = run_point(scenario, &progress, {}, &observer);

            if (m.outcome == "target") continue;       // at the evaluation of the beginning
            if (!m.outcome_details.empty()) continue;  // a gradient was no number before
            CHECK(m.outcome == "stopped");
            CHECK(m.timeline.size() == 1);
            CHECK(m.failed());
        }
}

}  // namespace
}  // namespace paceline::run_point_test
