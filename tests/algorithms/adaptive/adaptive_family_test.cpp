// Laws that every method of the adaptive family obeys: a repeated run is the same, the clock is the
// same with values and without, and a dropped run leaves nothing behind.
#include <chrono>
#include <functional>

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/adaptive/dense_lamb.hpp"
#include "algorithms/adaptive/one_bit_adam.hpp"
#include "algorithms/adaptive/one_bit_lamb.hpp"
#include "algorithms/adaptive/one_bit_sgd.hpp"
#include "algorithms/adaptive/zero_one_adam.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/adaptive_step_models.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::adaptive_family_test {
namespace {

using Algorithm = std::function<Task<>(Worker&)>;

const std::vector<Algorithm> family{
    [](Worker& w) { return dense_adam(w, {}); },
    [](Worker& w) { return dense_lamb(w, {}); },
    [](Worker& w) {
        return one_bit_adam(w, {.exchange = one_bit_exchange(false), .freeze_step = 4});
    },
    [](Worker& w) {
        return one_bit_adam(w, {.exchange = one_bit_exchange(true), .freeze_step = 4});
    },
    [](Worker& w) {
        return one_bit_lamb(w, {.exchange = one_bit_exchange(true), .freeze_step = 4});
    },
    [](Worker& w) {
        return zero_one_adam(w, {.exchange = one_bit_exchange(false),
                                 .var_freeze_step = 6,
                                 .var_update_scaler = 2,
                                 .local_step_scaler = 2,
                                 .local_step_clipper = 2});
    },
    [](Worker& w) { return one_bit_sgd(w, {{0.9}}); },
};

struct Ended {
    Duration at;
    std::vector<std::int64_t> sent;
    std::vector<Eigen::VectorXd> models;

    bool operator==(const Ended&) const = default;
};

Ended run_of(int n, Job job, const Algorithm& algorithm) {
    TrainingRun run(n, adaptive_link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    Ended ended{run.elapsed(), {}, {}};
    for (int rank = 0; rank < n; ++rank) {
        ended.sent.push_back(run.network.traffic(rank).sent.count);
        const Vector& x = run.cluster.worker(rank).current_model();
        if (x.has_values()) ended.models.push_back(x.values());
    }
    return ended;
}

TEST_CASE("adaptive family: a run that is repeated is the same to the last bit") {
    for (std::size_t i = 0; i < family.size(); ++i)
        for (const int n : {1, 3, 8}) {
            CAPTURE(i);
            CAPTURE(n);

            const bool same =
                run_of(n, adaptive_job(12), family[i]) == run_of(n, adaptive_job(12), family[i]);
            CHECK(same);
        }
}

TEST_CASE("adaptive family: timing-only runs cost the time and bytes of runs with values") {
    for (std::size_t i = 0; i < family.size(); ++i)
        for (int n = 1; n <= 9; ++n) {
            CAPTURE(i);
            CAPTURE(n);

            const Ended trained = run_of(n, adaptive_job(12), family[i]);
            const Ended timed = run_of(n, timing_job(small_layout(), 12), family[i]);

            CHECK(trained.at == timed.at);
            CHECK(trained.sent == timed.sent);
        }
}

TEST_CASE("adaptive family: a stand-in has the clock of what it stands in for") {
    const LayoutPtr charged = make_layout({{"w", {300, 20}}, {"b", {300}}});
    for (std::size_t i = 0; i < family.size(); ++i)
        for (const int n : {1, 4, 5}) {
            CAPTURE(i);
            CAPTURE(n);
            Job job = adaptive_job(12);
            job.charged = charged;

            const Ended stands_in = run_of(n, std::move(job), family[i]);
            const Ended timed = run_of(n, timing_job(charged, 12), family[i]);

            CHECK(stands_in.at == timed.at);
            CHECK(stands_in.sent == timed.sent);
        }
}

TEST_CASE("adaptive family: a run can be dropped half-way, at any time") {
    for (std::size_t i = 0; i < family.size(); ++i)
        for (int tenths = 1; tenths < 10; ++tenths) {
            CAPTURE(i);
            CAPTURE(tenths);
            const Duration whole = run_of(3, adaptive_job(12), family[i]).at;
            TrainingRun run(3, adaptive_link, adaptive_job(12));
            run.spawn_all(family[i]);

            run.simulation.run(Time{whole * tenths / 10});

            CHECK_FALSE(run.processes.finished());
        }
}

std::int64_t messages_of(int n, std::int64_t steps, const Algorithm& algorithm) {
    TrainingRun run(n, adaptive_link, timing_job(small_layout(), steps));
    run.spawn_all(algorithm);
    run.simulation.run();
    return static_cast<std::int64_t>(run.network.messages_delivered());
}

TEST_CASE("adaptive family: messages of a step are as many as its model says") {
    const ZeroOneAdamOptions zero_one{.exchange = one_bit_exchange(false),
                                      .var_freeze_step = 9,
                                      .var_update_scaler = 2,
                                      .local_step_scaler = 3,
                                      .local_step_clipper = 4};
    for (int n = 1; n <= 8; ++n) {
        CAPTURE(n);
        const auto in = on_star(n, idle_star(adaptive_link), step_of_tests, small_layout());
        // 4 n (n-1) for each buffer; there are four tensors.
        for (const bool fused : {true, false})
            CHECK(messages_of(n, 3, [=](Worker& w) {
                      return one_bit_adam(w,
                                          {.exchange = one_bit_exchange(fused), .freeze_step = 0});
                  }) == 3 * 4 * n * (n - 1) * (fused ? 1 : 4));
        CHECK(messages_of(n, 3, [](Worker& w) { return one_bit_sgd(w, {}); }) ==
              3 * 2 * n * (n - 1));
        std::int64_t expected = 0;
        for (std::int64_t k = 0; k < 40; ++k) expected += zero_one_messages(zero_one, k, in);
        CHECK(messages_of(n, 40, [=](Worker& w) { return zero_one_adam(w, zero_one); }) ==
              expected);
    }
}

TEST_CASE("adaptive family: every method descends to the neighborhood of the common minimum") {
    const Eigen::VectorXd minimum = [] {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(26);
        for (int i = 0; i < 4; ++i) sum += own_target(i, 26) / 4;
        return sum;
    }();
    for (std::size_t i = 0; i < family.size(); ++i) {
        CAPTURE(i);

        const Ended ended = run_of(4, adaptive_job(400), family[i]);

        const double first = (Eigen::VectorXd::Ones(26) - minimum).norm();
        CHECK((ended.models.front() - minimum).norm() < 0.5 * first);
    }
}

}  // namespace
}  // namespace paceline::adaptive_family_test
