#include "algorithms/local/noloco.hpp"

#include <doctest/doctest.h>

#include "algorithms/local/diloco.hpp"
#include "tests/algorithms/local/local_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::noloco_test {
namespace {

LocalAlgorithm of_noloco(const NolocoOptions& options) {
    return [=](Worker& w) { return noloco(w, options); };
}

TEST_CASE("noloco: where all average with all it is DiLoCo with outer momentum SGD") {
    const NolocoOptions options{
        .period = 4, .outer_momentum = 0.6, .outer_learning_rate = 0.8, .pull = 0.3};
    const DilocoOptions all{.period = 4, .outer = OuterSgd{0.8, 0.6}};
    for (const int n : {1, 4}) {
        CAPTURE(n);
        CHECK(distance(models_after(n, local_job(26, falling_rate, make_complete_mixing(n)),
                                    of_noloco(options)),
                       models_after(n, local_job(26, falling_rate),
                                    [=](Worker& w) { return diloco(w, all); })) < 1e-12);
    }
}

Task<> gossip_of_blocks(Worker& self, std::int64_t period) {
    Vector& x = self.model();
    InnerState adam(x);
    while (self.begins_step()) {
        co_await inner_step(self, AdamRule{}, adam);
        if ((self.step() + 1) % period == 0) x = co_await self.neighbor_average(x);
    }
}

TEST_CASE("noloco: without momentum, at rates 1, models are averaged with a random other one") {
    const NolocoOptions options{
        .period = 3, .outer_momentum = 0, .outer_learning_rate = 1, .pull = 1};
    const MixingSchedule pairs = make_random_matching(6, 5);
    CHECK(distance(models_after(6, local_job(24, falling_rate, pairs), of_noloco(options)),
                   models_after(6, local_job(24, falling_rate, pairs),
                                [](Worker& w) { return gossip_of_blocks(w, 3); })) < 1e-12);
}

TEST_CASE("noloco: a pull brings models together that would stay apart") {
    const auto spread = [](double pull) {
        NolocoOptions options{.period = 2, .pull = pull};
        Job job = local_job(60, constant_rate, make_random_matching(8, 3));
        const Eigen::MatrixXd x = models_after(8, job, of_noloco(options));
        return (x.colwise() - x.rowwise().mean()).norm();
    };
    CHECK(spread(0.7) < 0.5 * spread(0));
}

TEST_CASE("noloco: each worker sends two models to one other after each block") {
    for (const bool trains : {false, true}) {
        const LayoutPtr layout = small_layout();
        Job job = trains ? training_job(layout, 9) : timing_job(layout, 9);
        job.mixing = make_random_matching(4, 9);
        TrainingRun run(4, local_link, std::move(job));
        run.spawn_all(of_noloco({.period = 4}));
        run.simulation.run();
        for (int i = 0; i < 4; ++i)
            CHECK(run.network.traffic(i).sent.count == 2 * 2 * 4 * layout->entries());
    }
}

}  // namespace
}  // namespace paceline::noloco_test
