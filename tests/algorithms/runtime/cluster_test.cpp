#include "algorithms/runtime/cluster.hpp"

#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::cluster_test {
namespace {

using namespace literals;

const Link link{1_Gbps};

TEST_CASE("cluster: it has one worker per host, by rank") {
    TrainingRun run(3, link, timing_job(small_layout(), 1));

    CHECK(run.cluster.workers() == 3);
    CHECK(run.cluster.worker(0).rank() == 0);
    CHECK(run.cluster.worker(2).rank() == 2);
    CHECK(run.cluster.worker(2).workers() == 3);
}

TEST_CASE("cluster: a job without a stop rule is refused") {
    Job job = timing_job(small_layout(), 1);
    job.takes_step = nullptr;

    CHECK_THROWS_AS(TrainingRun(2, link, std::move(job)), LogicError);
}

TEST_CASE("cluster: a job without a step timing is refused") {
    Job job = timing_job(small_layout(), 1);
    job.timing = {};

    CHECK_THROWS_AS(TrainingRun(2, link, std::move(job)), LogicError);
}

TEST_CASE("cluster: values need an objective, and a timing-only job has none") {
    Job no_objective = training_job(small_layout(), 1);
    no_objective.objective = nullptr;
    Job no_values = timing_job(small_layout(), 1);
    no_values.objective = training_job(small_layout(), 1).objective;

    CHECK_THROWS_AS(TrainingRun(2, link, std::move(no_objective)), LogicError);
    CHECK_THROWS_AS(TrainingRun(2, link, std::move(no_values)), LogicError);
}

TEST_CASE("cluster: a mixing has a row for each node") {
    Job job = timing_job(small_layout(), 1);
    job.mixing = std::make_shared<const Mixing>(make_ring_mixing(4));

    CHECK_THROWS_AS(TrainingRun(3, link, std::move(job)), LogicError);
}

}  // namespace
}  // namespace paceline::cluster_test
