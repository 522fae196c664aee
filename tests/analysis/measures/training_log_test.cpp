#include "analysis/measures/training_log.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "analysis/measures/metrics.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::training_log_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link link{1_Gbps};

// Scores that reveal the point at which they were taken. Over ten training and four test samples,
// the mean losses are |x|^2 and 3 |x|^2; x_0 says how many of the four are classified correctly.
class Telling final : public Problem {
  public:
    explicit Telling(Eigen::Index entries)
        : layout_(make_layout({{"x", {entries}}})), start_(Eigen::VectorXd::Zero(entries)) {}

    const LayoutPtr& layout() const override { return layout_; }
    Eigen::VectorXd start() const override { return start_; }
    Eigen::VectorXd gradient(const Vector& x, int) override { return x.values(); }
    Eigen::VectorXd mean_gradient(const Vector& x) override { return x.values(); }
    bool classifies() const override { return is_classifier; }
    Score train_score(const Eigen::VectorXd& x) override { return {loss(x) * 10, 0, 10}; }
    Score test_score(const Eigen::VectorXd& x) override {
        const double right = is_classifier ? std::clamp(std::round(x(0)), 0.0, 4.0) : 0.0;
        return {loss(x) * 12, static_cast<std::int64_t>(right), 4};
    }

    bool is_classifier = true;
    double infinite_beyond = std::numeric_limits<double>::infinity();  // limit of |x|^2

  private:
    [[nodiscard]] double loss(const Eigen::VectorXd& x) const {
        return x.squaredNorm() > infinite_beyond ? std::nan("") : x.squaredNorm();
    }

    LayoutPtr layout_;
    Eigen::VectorXd start_;
};

Task<> walk_in(Worker& self, Duration more) {
    Vector& x = self.model();
    while (self.begins_step()) {
        co_await self.compute(more);
        const Vector g = co_await self.gradient(x);
        x -= g;
    }
}

// A step of worker i takes (i+1) ms and adds i+1 to each entry of its model.
Task<> walk(Worker& self) {
    return walk_in(self, 1ms * self.rank());
}

Job walking_job(const LayoutPtr& layout, std::int64_t steps) {
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Eigen::VectorXd::Zero(layout->entries()));
    job.objective = [](const Vector& x, int rank, std::int64_t) -> Eigen::VectorXd {
        return Eigen::VectorXd::Constant(x.entries(), -1.0 - rank);
    };
    return job;
}

struct LoggedRun {
    Telling problem;
    TrainingLog* observer = nullptr;
    TrainingRun run;
    TrainingLog log;

    LoggedRun(int workers, Job job, TrainingLogOptions options)
        : problem(job.start.entries()),
          run(workers, link, observed(std::move(job))),
          log(run.simulation, run.network, problem, std::move(options)) {
        observer = &log;
    }

    template <class Algorithm>
    RunEnd go(const Algorithm& algorithm, Time limit = never) {
        log.watch(run.cluster);
        run.spawn_all(algorithm);
        const RunEnd end = run.simulation.run(limit);
        log.finish();
        return end;
    }

    [[nodiscard]] std::vector<double> times() const {
        std::vector<double> all;
        for (const Evaluation& e : log.evaluations()) all.push_back(e.sim_time_s);
        return all;
    }
    [[nodiscard]] std::vector<double> iterations() const {
        std::vector<double> all;
        for (const Evaluation& e : log.evaluations()) all.push_back(e.iteration);
        return all;
    }

  private:
    Job observed(Job job) {
        const auto after =
            job.gradients ? &TrainingLog::after_gradients : &TrainingLog::after_steps;
        job.after_steps = [this, after](int rank, std::int64_t k) { (observer->*after)(rank, k); };
        return job;
    }
};

LayoutPtr numbers(std::int64_t entries) {
    return make_layout({{"x", {entries}}});
}

TrainingLogOptions every(std::int64_t iterations, std::optional<std::int64_t> steps,
                         int nodes = 1) {
    return {
        .cadence = {iterations, {}}, .measured = {}, .stop = {}, .steps = steps, .nodes = nodes};
}

void check_times(const LoggedRun& logged, const std::vector<double>& expected) {
    const std::vector<double> found = logged.times();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]));
}

TEST_CASE("training log: the models are those of exactly k steps, however far others have got") {
    LoggedRun logged(3, walking_job(numbers(1), 6), every(2, 6, 3));

    logged.go(walk);

    CHECK(logged.iterations() == std::vector<double>{0, 2, 4, 6});
    check_times(logged, {0, 6e-3, 12e-3, 18e-3});  // when the slowest has finished the step
    for (const Evaluation& e : logged.log.evaluations()) {
        // x_i = k (i+1): the mean is 2k, the mean square deviation 2 k^2 / 3
        CHECK(e.train_loss == Approx(4 * e.iteration * e.iteration));
        CHECK(e.test_loss == Approx(12 * e.iteration * e.iteration));
        CHECK(e.consensus_distance == Approx(std::sqrt(2.0 / 3) * e.iteration));
        CHECK(e.test_accuracy.value() == Approx(std::min(2 * e.iteration, 4.0) / 4));
        CHECK_FALSE(e.relative_error.has_value());
    }
}

TEST_CASE("training log: the start and the end are there once, whatever the cadence") {
    struct Case {
        std::int64_t cadence;
        std::vector<double> iterations;
    };
    for (const Case& c : std::vector<Case>{
             {0, {0, 5}}, {1, {0, 1, 2, 3, 4, 5}}, {2, {0, 2, 4, 5}}, {5, {0, 5}}, {7, {0, 5}}})
        for (const bool known : {true, false}) {
            CAPTURE(c.cadence);
            CAPTURE(known);
            LoggedRun logged(
                2, walking_job(numbers(2), 5),
                every(c.cadence, known ? std::optional<std::int64_t>(5) : std::nullopt));

            logged.go(walk);

            CHECK(logged.iterations() == c.iterations);
            CHECK(logged.times().front() == 0);
            CHECK(logged.times().back() == Approx(10e-3));
            CHECK(logged.log.evaluations().back().train_loss == Approx(2 * 7.5 * 7.5));
        }
}

TEST_CASE("training log: by time, the models are those of that moment") {
    TrainingLogOptions options;
    options.cadence.time = 700us;
    LoggedRun logged(3, walking_job(numbers(1), 2), options);

    logged.go(walk);

    check_times(logged, {0, 0.7e-3, 1.4e-3, 2.1e-3, 2.8e-3, 3.5e-3, 4.2e-3, 4.9e-3, 5.6e-3, 6e-3});
    for (const Evaluation& e : logged.log.evaluations()) {
        CAPTURE(e.sim_time_s);
        double taken = 0;
        double sum = 0;
        for (int rank = 0; rank < 3; ++rank) {
            const double steps = std::min(std::floor(e.sim_time_s * 1e3 / (rank + 1) + 1e-9), 2.0);
            taken += steps;
            sum += steps * (rank + 1);
        }
        CHECK(e.iteration == Approx(taken / 3));
        CHECK(e.train_loss == Approx(sum * sum / 9));
    }
}

TEST_CASE("training log: evaluating by time neither prolongs a run nor keeps it from ending") {
    for (const Duration cadence : {Duration(10us), Duration(1s)}) {
        TrainingLogOptions options;
        options.cadence.time = cadence;
        LoggedRun logged(2, walking_job(numbers(1), 3), options);

        CHECK(logged.go(walk) == RunEnd::idle);
        CHECK(logged.run.elapsed() == 6ms);
        CHECK(logged.times().back() == Approx(6e-3));
    }
}

TEST_CASE("training log: a run that is cut ends with the models as they are then") {
    LoggedRun logged(3, walking_job(numbers(1), 100), every(2, 100));

    CHECK(logged.go(walk, Time{7500us}) == RunEnd::time_limit);

    // The workers have taken 7, 3 and 2 steps.
    REQUIRE(logged.log.evaluations().size() == 3);
    const Evaluation& end = logged.log.evaluations().back();
    CHECK(logged.log.evaluations()[1].iteration == 2);
    CHECK(end.sim_time_s == Approx(7.5e-3));
    CHECK(end.iteration == Approx(4));
    CHECK(end.train_loss == Approx(std::pow((7 + 3 * 2 + 2 * 3) / 3.0, 2)));
}

// Each step of each worker adds 1 to a model that all share, as a server's is.
Task<> count_together(Worker& self) {
    Vector& x = self.replicated_model();
    while (self.begins_step()) {
        co_await self.compute(1ms * self.rank());
        const Vector g = co_await self.gradient(x);
        x += Vector(x.layout(), Eigen::VectorXd::Ones(x.entries()));
    }
}

TEST_CASE("training log: the last row is of the final models, not of each worker's last step") {
    for (const std::int64_t cadence : {0, 2, 3, 6})
        for (const bool known : {true, false}) {
            CAPTURE(cadence);
            CAPTURE(known);
            LoggedRun logged(3, walking_job(numbers(1), 6),
                             every(cadence, known ? std::optional<std::int64_t>(6) : std::nullopt));

            logged.go(count_together);

            const Evaluation& end = logged.log.evaluations().back();
            CHECK(end.train_loss == Approx(18 * 18));
            CHECK(end.iteration == 6);
            CHECK(logged.times().back() == Approx(18e-3));
            const std::size_t last = logged.times().size() - 1;
            if (known) CHECK(logged.iterations()[last - 1] < 6);
        }
}

TEST_CASE("training log: a job that counts all gradients is scored at their mean number") {
    Job job = walking_job(numbers(1), 1000);
    job.gradients = 25;
    LoggedRun logged(3, job, every(2, std::nullopt));

    logged.go([](Worker& self) { return walk_in(self, 1300us * self.rank()); });

    // Steps take 1, 2.3 and 3.6 ms; the next begin while fewer than 25 have begun.
    CHECK(logged.iterations() == std::vector<double>{0, 2, 4, 6, 8, 25.0 / 3});
    check_times(logged, {0, 4e-3, 7.2e-3, 11e-3, 14.4e-3, 16.1e-3});
    const std::vector<std::vector<double>> steps{{0, 0, 0},  {4, 1, 1},  {7, 3, 2},
                                                 {11, 4, 3}, {14, 6, 4}, {14, 7, 4}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const double mean = (steps[i][0] + 2 * steps[i][1] + 3 * steps[i][2]) / 3;
        CHECK(logged.log.evaluations()[i].train_loss == Approx(mean * mean));
    }
}

TEST_CASE("training log: evaluating changes neither time nor models") {
    LoggedRun often(3, walking_job(numbers(2), 6), every(1, 6));
    LoggedRun seldom(3, walking_job(numbers(2), 6), every(0, 6));

    often.go(walk);
    seldom.go(walk);

    CHECK(often.run.elapsed() == seldom.run.elapsed());
    for (int rank = 0; rank < 3; ++rank)
        CHECK(often.run.model_of(rank) == seldom.run.model_of(rank));
}

TEST_CASE("training log: consensus distance and relative error by hand") {
    TrainingLogOptions options = every(0, 1);
    options.minimum = Eigen::Vector2d(3, 4);
    Job job = walking_job(numbers(2), 1);
    job.objective = [](const Vector&, int rank, std::int64_t) -> Eigen::VectorXd {
        return rank == 0 ? Eigen::Vector2d(-3, 0) : Eigen::Vector2d(-3, -8);
    };
    LoggedRun logged(2, job, options);

    logged.go(walk);

    const Evaluation& start = logged.log.evaluations().front();
    const Evaluation& end = logged.log.evaluations().back();
    CHECK(start.consensus_distance == 0);
    CHECK(start.relative_error.value() == Approx(1));  // |0 - x*|^2 / |x*|^2
    CHECK(end.train_loss == Approx(9 + 16));           // at (3, 4)
    CHECK(end.consensus_distance == Approx(4));
    CHECK(end.relative_error.value() == Approx(16.0 / 25));
}

TEST_CASE("training log: replicas have no consensus distance, and count the bytes sent so far") {
    LoggedRun logged(4, training_job(numbers(1000), 4), every(1, 4, 4));

    logged.go([](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });

    for (const Evaluation& e : logged.log.evaluations()) {
        CHECK(e.consensus_distance == 0);
        CHECK(e.bytes_sent_per_node == Approx(6000 * e.iteration));  // 2 (n-1)/n of 4000
    }
    check_times(logged, {0, 1.048e-3, 2.096e-3, 3.144e-3, 4.192e-3});
}

TEST_CASE("training log: bytes are per machine, of which a worker may have several") {
    LoggedRun logged(4, training_job(numbers(1000), 1), every(1, 1, 2));

    logged.go([](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });

    CHECK(logged.log.evaluations().back().bytes_sent_per_node == Approx(12000));
}

TEST_CASE("training log: regression has no accuracy") {
    LoggedRun logged(2, walking_job(numbers(1), 2), every(1, 2));
    logged.problem.is_classifier = false;

    logged.go(walk);

    CHECK_FALSE(logged.log.evaluations().back().test_accuracy.has_value());
    CHECK_FALSE(logged.log.local_accuracy().has_value());
}

TEST_CASE("training log: local accuracies are of the workers' own models") {
    LoggedRun logged(3, walking_job(numbers(1), 1), every(0, 1));

    logged.go(walk);  // to x = 1, 2, 3: so 1, 2 and 3 of 4 are correct

    const LocalAccuracy accuracy = logged.log.local_accuracy().value();
    CHECK(accuracy.mean == Approx(0.5));
    CHECK(accuracy.least == Approx(0.25));
}

TEST_CASE("target: all that are given have to hold, losses at most, accuracies at least") {
    Evaluation e;
    e.train_loss = 1;
    e.test_loss = 2;
    e.test_accuracy = 0.5;
    const auto holds = [&](std::optional<double> train, std::optional<double> test,
                           std::optional<double> accuracy) {
        return Target{train, test, accuracy}.holds(e);
    };

    CHECK(holds(1, {}, {}));
    CHECK_FALSE(holds(0.99, {}, {}));
    CHECK(holds({}, 2, {}));
    CHECK_FALSE(holds({}, 1.9, {}));
    CHECK(holds({}, {}, 0.5));
    CHECK_FALSE(holds({}, {}, 0.51));
    CHECK(holds(1, 2, 0.5));
    CHECK_FALSE(holds(1, 2, 0.6));
    CHECK_FALSE(holds(0.5, 2, 0.5));
    CHECK_FALSE(Target{}.given());
    CHECK(Target{{}, {}, 0.5}.given());
    e.test_accuracy.reset();
    CHECK_FALSE(holds({}, {}, 0.1));
}

TEST_CASE("training log: the time of a target is that of the first evaluation that holds") {
    TrainingLogOptions options = every(2, 9);
    options.measured.test_accuracy = 1;  // reached at a mean of 4: after 3 steps, seen after 4
    LoggedRun logged(2, walking_job(numbers(1), 9), options);

    CHECK(logged.go(walk) == RunEnd::idle);

    CHECK(logged.log.time_to_target_s().value() == Approx(8e-3));
    CHECK(logged.iterations() == std::vector<double>{0, 2, 4, 6, 8, 9});
    CHECK_FALSE(logged.log.stopped_at_target());
}

TEST_CASE(
    "training log: a target that never holds has no time, one that holds at the start has 0") {
    TrainingLogOptions never_holds = every(1, 3);
    never_holds.measured.train_loss = -1;
    TrainingLogOptions at_once = every(1, 3);
    at_once.measured.train_loss = 0;
    LoggedRun first(2, walking_job(numbers(1), 3), never_holds);
    LoggedRun second(2, walking_job(numbers(1), 3), at_once);

    first.go(walk);
    second.go(walk);

    CHECK_FALSE(first.log.time_to_target_s().has_value());
    CHECK(second.log.time_to_target_s() == 0);
}

TEST_CASE("training log: a target to stop at ends the run there, and the end is told once") {
    TrainingLogOptions options = every(2, 9);
    options.stop.train_loss = 1e-3;
    Job job = training_job(numbers(1), 9);
    job.learning_rate = [](std::int64_t) { return 1.0; };
    job.objective = [](const Vector& x, int, std::int64_t k) -> Eigen::VectorXd {
        return x.values() / (k < 3 ? 2 : 1);  // the model halves, and is 0 after 4 steps
    };
    LoggedRun logged(2, job, options);

    CHECK(logged.go([](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); }) ==
          RunEnd::stopped);

    CHECK(logged.log.stopped_at_target());
    CHECK_FALSE(logged.log.diverged());
    CHECK(logged.iterations() == std::vector<double>{0, 2, 4});
    CHECK(logged.times().back() == Approx(to_seconds(logged.run.elapsed())));
}

TEST_CASE("training log: stopped at a target, those ahead of the others end where they are") {
    TrainingLogOptions options = every(1, 9);
    options.stop.test_accuracy = 0.75;  // reached at a mean of 3: after 2 steps
    LoggedRun logged(2, walking_job(numbers(1), 9), options);

    const auto stroll = [](Worker& self) { return walk_in(self, 1300us * self.rank()); };
    CHECK(logged.go(stroll) == RunEnd::stopped);

    CHECK(logged.log.stopped_at_target());
    CHECK(logged.run.elapsed() == 4600us);
    CHECK(logged.iterations() == std::vector<double>{0, 1, 2, 3});  // 4 steps and 2
    CHECK(logged.log.evaluations().back().train_loss == Approx(16));
}

TEST_CASE("training log: a loss that is not finite, or too large, has diverged and ends the run") {
    LoggedRun infinite(2, walking_job(numbers(1), 9), every(1, 9));
    infinite.problem.infinite_beyond = 8;  // |x|^2 = 2.25 k^2 exceeds it after 2 steps
    Job leaping = walking_job(numbers(1), 9);
    leaping.objective = [](const Vector&, int, std::int64_t) -> Eigen::VectorXd {
        return Eigen::VectorXd::Constant(1, -0.5e3);  // test loss 0.75e6 k^2: at 2 steps
    };
    LoggedRun large(2, leaping, every(1, 9));

    for (LoggedRun* logged : {&infinite, &large}) {
        CHECK(logged->go(walk) == RunEnd::stopped);
        CHECK(logged->log.diverged());
        CHECK_FALSE(logged->log.stopped_at_target());
        CHECK(logged->iterations() == std::vector<double>{0, 1, 2});
    }
}

// --- what the log adds to the metrics ---

Metrics learned(LoggedRun& logged, RunEnd end) {
    Metrics metrics =
        measure(logged.run.simulation, logged.run.network, logged.run.cluster, end,
                logged.run.processes.finished(), {step_of_tests, 32, 1280},
                tally_of_run(logged.run.simulation, logged.run.network, logged.run.cluster));
    add_learning(metrics, logged.log);
    return metrics;
}

TEST_CASE("metrics: what was learned is the last evaluation, and the timeline has all") {
    TrainingLogOptions options = every(1, 2);
    options.measured.train_loss = 100;
    options.minimum = Eigen::VectorXd::Constant(1, 2);
    LoggedRun logged(3, walking_job(numbers(1), 2), options);

    const Metrics m = learned(logged, logged.go(walk));

    CHECK(m.outcome == "finished");
    CHECK(m.timeline.size() == 3);
    CHECK(m.train_loss.value() == Approx(16));
    CHECK(m.test_loss.value() == Approx(48));
    CHECK(m.test_accuracy.value() == Approx(1));
    CHECK(m.test_accuracy_local_mean.value() == Approx((2 + 4 + 4) / 12.0));  // at 2, 4, 6
    CHECK(m.test_accuracy_local_min.value() == Approx(0.5));
    CHECK(m.consensus_distance.value() == Approx(std::sqrt(8.0 / 3)));
    CHECK(m.relative_error.value() == Approx((0 + 4 + 16) / 12.0));
    CHECK(m.time_to_target_s == 0);
}

TEST_CASE("metrics: targets and divergence are outcomes, and no failures") {
    TrainingLogOptions options = every(1, 9);
    options.stop.test_accuracy = 0.75;
    LoggedRun reached(2, walking_job(numbers(1), 9), options);
    LoggedRun lost(2, walking_job(numbers(1), 9), every(1, 9));
    lost.problem.infinite_beyond = 8;

    const Metrics at_target = learned(reached, reached.go(walk));
    const Metrics diverged = learned(lost, lost.go(walk));

    CHECK(at_target.outcome == "target");
    CHECK_FALSE(at_target.failed());
    CHECK(diverged.outcome == "diverged");
    CHECK_FALSE(diverged.failed());
}

}  // namespace
}  // namespace paceline::training_log_test
