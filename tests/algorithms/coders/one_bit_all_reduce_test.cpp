#include "algorithms/coders/one_bit_all_reduce.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_all_reduce_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

OneBitPlanPtr plan_of(const Worker& self, bool fused, CodingCost coding) {
    const auto cut = [&](const LayoutPtr& layout) {
        return fused ? fused_buffer(layout, self.workers())
                     : buffer_per_tensor(layout, self.workers());
    };
    return std::make_shared<const OneBitPlan>(OneBitPlan{
        cut(self.current_model().layout()), cut(self.charged_layout()), coding, "errors"});
}

// Every step exchanges the gradient and keeps the result.
struct Calls {
    bool fused = true;
    CodingCost coding{};
    std::vector<Vector> results{};  // of the first worker
};

Task<> exchange_gradients(Worker& self, std::shared_ptr<Calls> calls) {
    const Vector x = self.model();
    OneBitEncoder encoder(plan_of(self, calls->fused, calls->coding), !self.timing_only());
    while (self.begins_step()) {
        Vector said(x.layout());
        co_await self.gradient(x, [&](const Vector& g) { said = encoder.encode(g); });
        const Vector mean =
            co_await one_bit_all_reduce(self, encoder.plan(), std::move(said), self.everybody());
        if (self.rank() == 0) calls->results.push_back(mean);
    }
}

struct OneBitRun : TrainingRun {
    std::shared_ptr<Calls> calls;

    OneBitRun(int nodes, Job job, Calls what)
        : TrainingRun(nodes, adaptive_link, std::move(job)),
          calls(std::make_shared<Calls>(std::move(what))) {
        spawn_all([this](Worker& w) { return exchange_gradients(w, calls); });
        simulation.run();
    }
};

TEST_CASE("one-bit all-reduce: it is the rule written down entry by entry, errors included") {
    for (const bool fused : {true, false})
        for (const int n : {1, 2, 3, 4, 8}) {
            CAPTURE(fused);
            CAPTURE(n);
            const OneBitRun run(n, adaptive_job(6), {fused});
            OneBitModelOracle oracle(n, small_layout(), fused);

            REQUIRE(run.calls->results.size() == 6);
            for (std::int64_t k = 0; k < 6; ++k) {
                const Eigen::VectorXd expected =
                    oracle(own_gradients(n, Eigen::VectorXd::Ones(26), k));
                const Vector& found = run.calls->results[static_cast<std::size_t>(k)];
                CHECK((found.values() - expected).cwiseAbs().maxCoeff() < 1e-12);
            }
        }
}

TEST_CASE("one-bit all-reduce: a worker sends 2 (n-1) (P/(8n) + 4) bytes, to the byte") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"b", {65}}});  // 3137 entries
    for (const int n : {1, 2, 3, 4, 7, 8}) {
        CAPTURE(n);
        OneBitRun run(n, timing_job(layout, 5), {});

        const std::int64_t p = one_bit_padded(3137, n);
        for (int rank = 0; rank < n; ++rank) {
            CHECK(run.network.traffic(rank).sent == Bytes{5 * 2 * (n - 1) * (p / (8 * n) + 4)});
            CHECK(run.network.traffic(rank).received == Bytes{5 * 2 * (n - 1) * (p / (8 * n) + 4)});
        }
    }
}

// Of one buffer: signs to their owners, grouped, and back; scales, twice.
Duration messages_of(std::int64_t n, std::int64_t p) {
    if (n == 1) return {};
    const Bandwidth rate = adaptive_link.capacity();
    const Bytes signs{p / 8 / n};
    return 10us + ((n - 1) * signs) / rate + (n - 1) * (10us + signs / rate) +
           2 * (n - 1) * (10us + Bytes{4} / rate);
}

// Where the rate of a group is no binary fraction, its end is rounded up.
void check_to_a_tick(Duration elapsed, Duration expected, std::int64_t groups) {
    CHECK(elapsed >= expected);
    CHECK(elapsed <= expected + Duration{groups});
}

TEST_CASE("one-bit all-reduce: on an idle star it takes four collectives and the coding") {
    const LayoutPtr layout = make_layout({{"a", {640, 48}}, {"b", {65}}});
    for (const int n : {1, 2, 3, 4, 7, 8}) {
        CAPTURE(n);
        OneBitRun run(n, timing_job(layout, 2), {true, {Duration{100}}});

        const std::int64_t p = one_bit_padded(30'785, n);
        const Duration coding = (4 * p + 2 * p / n) * Duration{100};
        check_to_a_tick(run.elapsed(), 2 * (step_of_tests + messages_of(n, p) + coding), 2);
    }
}

TEST_CASE("one-bit all-reduce: tensor by tensor it takes four collectives for each") {
    const LayoutPtr layout = small_layout();
    OneBitRun run(4, timing_job(layout, 1), {false, {Duration{0}}});

    // 32 padded entries each
    check_to_a_tick(run.elapsed(), step_of_tests + 4 * messages_of(4, 32), 4);
    CHECK(run.network.traffic(0).sent == 4 * (6 * 5_B));
}

TEST_CASE("one-bit all-reduce: the closed form is that of the simulation, for every cut") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"b", {65}}, {"c", {3, 7}}});
    for (const bool fused : {true, false})
        for (const int n : {1, 2, 5, 8}) {
            CAPTURE(fused);
            CAPTURE(n);
            OneBitRun run(n, timing_job(layout, 3), {fused, {Duration{9}}});

            Duration expected = step_of_tests;
            std::int64_t groups = 0;
            for (const std::int64_t entries : fused ? std::vector<std::int64_t>{3158}
                                                    : std::vector<std::int64_t>{3072, 65, 21}) {
                const std::int64_t p = one_bit_padded(entries, n);
                expected += messages_of(n, p) + (4 * p + 2 * p / n) * Duration{9};
                groups += 3;
            }
            check_to_a_tick(run.elapsed(), 3 * expected, groups);
            const StepModelInput in = on_star(n, idle_star(adaptive_link), step_of_tests, layout);
            CHECK(exchange_step_time(one_bit_exchange(fused, {Duration{9}}), 0, in) == expected);
        }
}

TEST_CASE("one-bit all-reduce: values do not change the clock, and messages weigh as charged") {
    const LayoutPtr charged = make_layout({{"big", {512, 9}}, {"bias", {512}}});
    for (const bool fused : {true, false})
        for (const int n : {1, 3, 4}) {
            CAPTURE(fused);
            CAPTURE(n);
            Job job = adaptive_job(3);
            job.charged = charged;
            OneBitRun stands_in(n, std::move(job), {fused});
            OneBitRun timed(n, timing_job(charged, 3), {fused});

            CHECK(stands_in.elapsed() == timed.elapsed());
            CHECK(stands_in.sent_by_all() == timed.sent_by_all());
            CHECK(stands_in.calls->results.back().values().size() == 26);
        }
}

}  // namespace
}  // namespace paceline::one_bit_all_reduce_test
