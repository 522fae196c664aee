// Rates are those of whole periods: a run that ends within a period, or within a step, has the
// rates of the run that ends with the last whole one.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::whole_periods_test {
namespace {

using doctest::Approx;

// Sixteen nodes, 4 MB, steps of 10 ms. A ring's average takes 2 * 15 * (20 us + 250 kB / 1.25
// GB/s).
constexpr std::string_view timing = R"({
  "cluster": {"nodes": 16,
              "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "10us"}}},
  "workload": {"gradient": "4MB", "step_time": "10ms", "batch": 8},
  "algorithm": {"kind": "local-sgd", "period": 8}, "stop": {"iterations": 10}})";
constexpr double compute_s = 10e-3;
constexpr double average_s = 2 * 15 * (20e-6 + 4e6 / 16 / 1.25e9);

Metrics run(const std::vector<std::string>& settings) {
    const TemporaryFolder folder;
    const Study study = read_study(folder.write("periods.json", timing), settings);
    return run_point(study.points.front().scenario, nullptr);
}

Metrics run(const std::string& algorithm, int steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings{"algorithm=" + algorithm,
                                      fmt::format("stop.iterations={}", steps)};
    settings.insert(settings.end(), more.begin(), more.end());
    return run(settings);
}

void check_same_rates(const Metrics& a, const Metrics& b) {
    const auto same = [](const std::optional<double>& x, const std::optional<double>& y) {
        REQUIRE(x.has_value() == y.has_value());
        if (x) CHECK(*x == Approx(*y).epsilon(1e-12));
    };
    same(a.step_time_s, b.step_time_s);
    same(a.compute_s, b.compute_s);
    same(a.exposed_comm_s, b.exposed_comm_s);
    same(a.model_step_time_s, b.model_step_time_s);
    same(a.bytes_sent_per_node_per_step, b.bytes_sent_per_node_per_step);
    same(a.bytes_received_per_node_per_step, b.bytes_received_per_node_per_step);
    same(a.samples_per_s, b.samples_per_s);
    same(a.speedup, b.speedup);
    same(a.efficiency, b.efficiency);
    same(a.compression_ratio, b.compression_ratio);
}

TEST_CASE("whole periods: ten steps of Local SGD with period 8 have the step time of eighty") {
    const Metrics ten = run({});
    const Metrics eighty = run({"stop.iterations=80"});

    CHECK(ten.iterations == 10);
    CHECK(ten.sim_time_s == Approx(10 * compute_s + average_s).epsilon(1e-9));
    CHECK(ten.step_time_s.value() == Approx(compute_s + average_s / 8).epsilon(1e-9));
    CHECK(ten.compression_ratio.value() == Approx(8));
    CHECK(ten.speedup.value() == Approx(16 * compute_s / (compute_s + average_s / 8)));
    check_same_rates(ten, eighty);
}

TEST_CASE("whole periods: whatever is left over, the rates are those of the whole periods") {
    struct Case {
        std::string algorithm;
        int whole;
        int more;  // fewer than a period
    };
    const std::vector<Case> cases{
        {R"({"kind": "local-sgd", "period": 3})", 6, 2},
        {R"({"kind": "slowmo", "period": 4})", 8, 3},
        {R"({"kind": "slowmo", "period": 3, "base": "sgp",
             "mixing": {"kind": "one-peer-exponential"}})",
         9, 1},
        {R"({"kind": "bmuf", "period": 5})", 5, 4},
        {R"({"kind": "easgd", "period": 4})", 12, 1},
        {R"({"kind": "cocod-sgd", "period": 4})", 8, 2},
        {R"({"kind": "overlap-local-sgd", "period": 4})", 8, 2},
        {R"({"kind": "post-local-sgd", "period": 4, "switch_step": 3})", 3 + 8, 2},
        {R"({"kind": "zero-one-adam", "var_freeze_step": 1, "local_step_scaler": 4,
             "local_step_clipper": 4})",
         2 + 4 + 4 + 8, 3},
        {R"({"kind": "fedavg", "local_steps": 4})", 8, 3},
    };
    for (const Case& one : cases) {
        CAPTURE(one.algorithm);
        check_same_rates(run(one.algorithm, one.whole + one.more), run(one.algorithm, one.whole));
    }
}

TEST_CASE("whole periods: where not one fits, rates are those of the steps there are") {
    const Metrics five = run({"stop.iterations=5"});

    CHECK(five.step_time_s.value() == Approx(compute_s).epsilon(1e-9));
    CHECK(five.bytes_sent_per_node_per_step == 0);
    CHECK_FALSE(five.compression_ratio.has_value());  // nothing was sent
}

TEST_CASE("whole periods: a run that a time limit cuts is rated up to its last whole step") {
    const double step_s = compute_s + average_s;
    for (const double steps : {1.2, 1.99, 2.7, 10.95}) {
        CAPTURE(steps);
        const Metrics m =
            run({R"(algorithm={"kind": "dense"})",
                 fmt::format(R"(stop={{"time": "{:.0f}us"}})", steps * step_s * 1e6)});

        CHECK(m.outcome == "time-limit");
        CHECK(m.step_time_s.value() == Approx(step_s).epsilon(1e-9));
        CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2 * 15 * 4e6 / 16));
        CHECK(m.model_step_time_s.value() == Approx(step_s).epsilon(1e-9));
        CHECK(m.sim_time_s == Approx(steps * step_s).epsilon(1e-3));
    }
}

TEST_CASE("whole periods: a time limit within a period leaves the rates of whole periods") {
    const double period_s = 8 * compute_s + average_s;
    const Metrics m = run(
        {fmt::format(R"(stop={{"time": "{:.0f}us"}})", (2 * period_s + 3.5 * compute_s) * 1e6)});

    CHECK(m.step_time_s.value() == Approx(period_s / 8).epsilon(1e-9));
    CHECK(m.compression_ratio.value() == Approx(8));
}

TEST_CASE("whole periods: accumulated gradients are one step, and a cut one does not count") {
    const double step_s = 3 * compute_s + average_s;
    const Metrics m = run({R"(algorithm={"kind": "dense"})", "workload.accumulation=3",
                           fmt::format(R"(stop={{"time": "{:.0f}us"}})", 2.6 * step_s * 1e6)});

    CHECK(m.step_time_s.value() == Approx(step_s).epsilon(1e-9));
    CHECK(m.compute_s.value() == Approx(3 * compute_s).epsilon(1e-9));
}

TEST_CASE("whole periods: a job beside the main one is rated over its whole periods, too") {
    const std::string other = R"(other_jobs=[{"label": "b", "nodes": "odd",
        "workload": {"gradient": "4B", "step_time": "1ms"},
        "algorithm": {"kind": "local-sgd", "period": 4}, "stop": {"iterations": 11}}])";
    const Metrics m = run({other, "cluster.placement=even", R"(algorithm={"kind": "dense"})"});

    const Metrics& b = m.other_jobs.at(0);
    CHECK(b.iterations == 11);
    // A ring of eight, whose messages of up to 4 bytes take hardly more than the latency.
    CHECK(b.step_time_s.value() == Approx(1e-3 + 2 * 7 * 20e-6 / 4).epsilon(1e-3));
    CHECK(b.compression_ratio.value() == Approx(4));
}

TEST_CASE("whole periods: training takes exactly the steps asked for") {
    const TrainingStudy study;
    const std::string periodic = R"(algorithm={"kind": "local-sgd", "period": 4})";
    const Metrics six = study.run({periodic});
    const Metrics four = study.run({periodic, "stop.iterations=4"});

    CHECK(six.iterations == 6);
    CHECK(six.timeline.back().iteration == 6);
    CHECK(six.train_loss != four.train_loss);
    check_same_rates(six, four);
}

TEST_CASE("targets: a target of stop that is reached has its time, and a speedup to it") {
    const TrainingStudy study;
    const std::vector<std::string> targets{"stop.target_loss=1e6", "stop.target_test_loss=1e6",
                                           "stop.target_accuracy=0.001"};
    for (const std::string& target : targets) {
        CAPTURE(target);
        const Metrics m = study.run({target});

        CHECK(m.outcome == "target");
        CHECK(m.time_to_target_s == m.sim_time_s);
    }
    // Below the loss at the start, so that it takes some steps.
    const double start = study.run().timeline.front().train_loss;
    const Metrics m = study.run({fmt::format("stop.target_loss={}", 0.98 * start),
                                 "stop.iterations=200", "measure.baseline=true"});
    CHECK(m.outcome == "target");
    CHECK(m.time_to_target_s.value() == m.sim_time_s);
    CHECK(m.speedup_to_target.value() > 0);
    CHECK(m.sent_gb_to_target.value() == Approx(m.total_sent_gb.value()).epsilon(1e-6));
}

TEST_CASE("targets: those of measure have the time, where both are given") {
    const TrainingStudy study;
    const Metrics m = study.run({"stop.target_loss=1e6", "measure.target_loss=1e-9"});

    CHECK(m.outcome == "target");
    CHECK_FALSE(m.time_to_target_s.has_value());
}

TEST_CASE("targets: without measure.every they are judged after every epoch") {
    const TrainingStudy study;  // an epoch of 8 steps
    const Metrics m = study.run({"measure={}", "stop.target_loss=1e-9", "stop.iterations=20"});
    const Metrics without = study.run({"measure={}", "stop.iterations=20"});

    std::vector<double> steps;
    for (const Evaluation& e : m.timeline) steps.push_back(e.iteration);
    CHECK(steps == std::vector<double>{0, 8, 16, 20});
    CHECK(without.timeline.size() == 2);  // the start and the end
}

// --- first steps that are left out ---

// Of runs that take as long and send as much as each other up to any step: what steps a to b take
// is the difference of what b and a steps take.
TEST_CASE("skipped steps: rates are those of the difference of two runs") {
    struct Case {
        std::string algorithm;
        int skip;   // as asked for
        int first;  // at the end of a period
        int last;
    };
    const std::vector<Case> cases{
        {R"({"kind": "dense"})", 1, 1, 5},
        {R"({"kind": "dgc", "density": 0.01, "warm_up": {"densities": [0.25, 0.1], "steps_each": 3}})",
         6, 6, 9},
        {R"({"kind": "dgc", "density": 0.01, "warm_up": {"densities": [0.25, 0.1], "steps_each": 3}})",
         2, 2, 9},
        {R"({"kind": "post-local-sgd", "period": 4, "switch_step": 3})", 3, 3, 11},
        {R"({"kind": "post-local-sgd", "period": 4, "switch_step": 3})", 4, 7, 11},
        {R"({"kind": "local-sgd", "period": 3})", 4, 6, 12},
        {R"({"kind": "one-bit-adam", "freeze_step": 5})", 4, 4, 8},
    };
    for (const Case& one : cases) {
        CAPTURE(one.algorithm);
        CAPTURE(one.skip);
        const Metrics before = run(one.algorithm, one.first);
        const Metrics all = run(one.algorithm, one.last);
        const Metrics rated =
            run(one.algorithm, one.last, {fmt::format("measure.skip={}", one.skip)});
        const auto difference = [&](auto field) {
            return (one.last * (all.*field).value() - one.first * (before.*field).value()) /
                   (one.last - one.first);
        };
        for (const auto field :
             {&Metrics::step_time_s, &Metrics::compute_s, &Metrics::model_step_time_s,
              &Metrics::bytes_sent_per_node_per_step}) {
            REQUIRE((rated.*field).has_value());
            CHECK((rated.*field).value() == Approx(difference(field)).epsilon(1e-9));
        }
        CHECK(rated.step_time_s.value() == Approx(rated.model_step_time_s.value()).epsilon(1e-9));
        CHECK(rated.sim_time_s == all.sim_time_s);
        CHECK(rated.iterations == all.iterations);
        CHECK(rated.total_sent_gb == all.total_sent_gb);
    }
}

TEST_CASE("skipped steps: of late workers each counts from its own step") {
    // Node 0 is slower in its first step alone. Nobody waits for it before the first average.
    const std::vector<std::string> slow{
        R"(cluster.stragglers={"factor": 5, "every": 1000, "first": 0, "nodes": [0]})"};
    const auto with = [&](int skip) {
        std::vector<std::string> settings = slow;
        settings.push_back(fmt::format("measure.skip={}", skip));
        return run(R"({"kind": "dense"})", 9, settings);
    };
    CHECK(with(0).step_time_s.value() ==
          Approx(compute_s + average_s + 4 * compute_s / 9).epsilon(1e-9));
    CHECK(with(1).step_time_s.value() == Approx(compute_s + average_s).epsilon(1e-9));
    CHECK(with(1).compute_s.value() == Approx(compute_s).epsilon(1e-12));
}

TEST_CASE("skipped steps: where no period is left, there are no rates") {
    const Metrics m = run({"measure.skip=3"});  // 8 in whole periods; the run has 10 steps

    CHECK(m.iterations == 10);
    CHECK(m.total_sent_gb.value() > 0);
    CHECK_FALSE(m.step_time_s.has_value());
    CHECK_FALSE(m.model_step_time_s.has_value());
    CHECK_FALSE(m.speedup.has_value());
    CHECK_FALSE(m.compression_ratio.has_value());
}

}  // namespace
}  // namespace paceline::whole_periods_test
