// DiLoCo and Streaming DiLoCo against the regression fixtures of meta-pytorch/torchft, commit
// 7eb7087: test_fixtures/torchft.diloco_regression_test.DiLoCoMockedUpdateTest.*.json, written by
// torchft/diloco_regression_test.py. Both replicas have two fragments of one parameter, 1 at first;
// each inner step takes 2 off both, and the outer optimizer is SGD of rate 2 on the mean
// pseudogradient. A fragment is exchanged every 6 steps, the first one after step 3.
//
// Here, the inner steps are AdamW's: with a constant gradient, no decay and hardly an epsilon they
// take off the learning rate.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/local/diloco.hpp"
#include "algorithms/local/streaming_diloco.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::torchft_fixtures_test {
namespace {

using namespace std::chrono_literals;

constexpr double inner_step = 2;

// The parameters of both fragments after 0, 1, ... steps, as the fixture lists them for each
// replica.
using History = std::vector<std::array<double, 2>>;

struct Fixture {
    const char* name;
    std::int64_t delay;  // fragment_sync_delay
    double alpha;        // fragment_update_alpha
    History history;
};

const std::vector<Fixture>& fixtures() {
    static const std::vector<Fixture> all{
        {"test_diloco_mocked_updates_0",
         0,
         0,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-11, -5},
          {-13, -7},
          {-15, -9},
          {-17, -23},
          {-19, -25},
          {-21, -27},
          {-35, -29},
          {-37, -31},
          {-39, -33},
          {-41, -47},
          {-43, -49},
          {-45, -51},
          {-59, -53}}},
        {"test_diloco_mocked_updates_1",
         0,
         0.5,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-8, -5},
          {-10, -7},
          {-12, -9},
          {-14, -17},
          {-16, -19},
          {-18, -21},
          {-24.5, -23},
          {-26.5, -25},
          {-28.5, -27},
          {-30.5, -32},
          {-32.5, -34},
          {-34.5, -36},
          {-40.25, -38}}},
        {"test_diloco_mocked_updates_2",
         0,
         1,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-5, -5},
          {-7, -7},
          {-9, -9},
          {-11, -11},
          {-13, -13},
          {-15, -15},
          {-17, -17},
          {-19, -19},
          {-21, -21},
          {-23, -23},
          {-25, -25},
          {-27, -27},
          {-29, -29}}},
        {"test_diloco_mocked_updates_3",
         1,
         0,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-7, -5},
          {-9, -7},
          {-11, -9},
          {-13, -19},
          {-15, -21},
          {-17, -23},
          {-27, -25},
          {-29, -27},
          {-31, -29},
          {-33, -39},
          {-35, -41},
          {-37, -43},
          {-47, -45}}},
        {"test_diloco_mocked_updates_4",
         1,
         0.5,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-6, -5},
          {-8, -7},
          {-10, -9},
          {-12, -15},
          {-14, -17},
          {-16, -19},
          {-21.5, -21},
          {-23.5, -23},
          {-25.5, -25},
          {-27.5, -29},
          {-29.5, -31},
          {-31.5, -33},
          {-35.75, -35}}},
        {"test_diloco_mocked_updates_5",
         1,
         1,
         {{1, 1},
          {-1, -1},
          {-3, -3},
          {-5, -5},
          {-7, -7},
          {-9, -9},
          {-11, -11},
          {-13, -13},
          {-15, -15},
          {-17, -17},
          {-19, -19},
          {-21, -21},
          {-23, -23},
          {-25, -25},
          {-27, -27},
          {-29, -29}}},
    };
    return all;
}

Job job_of_fixture(std::int64_t steps) {
    const LayoutPtr layout = make_layout({{"layers.0.weight", {1}}, {"layers.1.weight", {1}}});
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Eigen::VectorXd::Ones(2));
    job.objective = [](const Vector&, int, std::int64_t) -> Eigen::VectorXd {
        return Eigen::VectorXd::Constant(2, 2);
    };
    job.learning_rate = [](std::int64_t) { return inner_step; };
    return job;
}

StreamingDilocoOptions options_of(std::int64_t delay, double alpha) {
    StreamingDilocoOptions options{.fragments = 2, .delay = delay, .alpha = alpha};
    options.diloco.period = 6;  // sync_every
    options.diloco.outer = OuterNesterov{2, 0};
    options.diloco.inner = AdamRule{.epsilon = 1e-300};
    options.due = FragmentDue::taken_in;
    return options;
}

TEST_CASE(
    "torchft: the models after every step are those of the fixtures, with and without delay") {
    REQUIRE(fixtures().size() == 6);
    for (const Fixture& fixture : fixtures())
        for (std::size_t steps = 1; steps < fixture.history.size(); ++steps) {
            CAPTURE(fixture.name);
            CAPTURE(steps);
            const StreamingDilocoOptions options = options_of(fixture.delay, fixture.alpha);

            const Eigen::MatrixXd models =
                models_after(2, job_of_fixture(static_cast<std::int64_t>(steps)),
                             [=](Worker& self) { return streaming_diloco(self, options); });

            for (Eigen::Index replica = 0; replica < 2; ++replica)
                for (Eigen::Index fragment = 0; fragment < 2; ++fragment)
                    CHECK(
                        models(fragment, replica) ==
                        doctest::Approx(fixture.history[steps][static_cast<std::size_t>(fragment)])
                            .epsilon(1e-9));
        }
}

// test_diloco_mocked_failure_recovery_0: replica 1 fails after two steps and is healed at the
// exchange after step 9, for which replica 0 waits; from then on both are alike. A replica is
// listed from the step on in which it has a process.
struct Recovery {
    std::int64_t steps;
    std::array<double, 2> model;
};

const std::vector<Recovery>& healed_history() {
    static const std::vector<Recovery> all{{10, {-37, -31}}, {11, {-39, -33}}, {12, {-41, -47}},
                                           {13, {-43, -49}}, {14, {-45, -51}}, {15, {-59, -53}},
                                           {16, {-61, -55}}, {17, {-63, -57}}, {18, {-65, -71}},
                                           {19, {-67, -73}}, {20, {-69, -75}}, {21, {-83, -77}}};
    return all;
}

// Both models after `steps`, where replica 1 is away from the middle of step 2 (from 0) to that of
// step 9.
Eigen::MatrixXd models_with_a_failure(std::int64_t steps, ReturnFrom return_from) {
    const StreamingDilocoOptions options = options_of(0, 0);
    Job job = job_of_fixture(steps);
    job.workers = 2;
    job.failures = Failures{.next_absence = [](int node, Time since) -> std::optional<Absence> {
                                const Absence away{Time{2500us}, Time{8500us}};
                                if (node != 1 || since >= away.returns) return std::nullopt;
                                return away;
                            },
                            .return_from = return_from,
                            .detection = 1us};
    Simulation simulation;
    Network network(simulation, make_star(2, local_link, local_link));
    Cluster cluster(network, std::move(job));
    WorkerProcesses processes(network, cluster,
                              {[=](Worker& self) { return streaming_diloco(self, options); }});
    processes.begin();
    simulation.run();
    Eigen::MatrixXd models(2, 2);
    for (int replica = 0; replica < 2; ++replica)
        models.col(replica) = cluster.worker(replica).current_model().values();
    return models;
}

TEST_CASE("torchft: a replica whose peer has failed goes on as if nothing had happened") {
    const History& history = fixtures().front().history;  // that of replica 0 in this fixture, too
    for (std::int64_t steps = 1; steps <= 9; ++steps) {
        CAPTURE(steps);
        const Eigen::MatrixXd models = models_with_a_failure(steps, ReturnFrom::joined_peer);
        const auto& expected = history[static_cast<std::size_t>(steps)];
        CHECK(models(0, 0) == doctest::Approx(expected[0]).epsilon(1e-9));
        CHECK(models(1, 0) == doctest::Approx(expected[1]).epsilon(1e-9));
    }
}

TEST_CASE("torchft: a replica that is healed as it joins has the models of the fixture") {
    for (const Recovery& expected : healed_history()) {
        CAPTURE(expected.steps);
        const Eigen::MatrixXd models =
            models_with_a_failure(expected.steps, ReturnFrom::joined_peer);
        for (Eigen::Index replica = 0; replica < 2; ++replica)
            for (Eigen::Index fragment = 0; fragment < 2; ++fragment)
                CHECK(models(fragment, replica) ==
                      doctest::Approx(expected.model[static_cast<std::size_t>(fragment)])
                          .epsilon(1e-9));
    }
}

}  // namespace
}  // namespace paceline::torchft_fixtures_test
