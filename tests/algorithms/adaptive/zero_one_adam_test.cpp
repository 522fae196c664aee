#include "algorithms/adaptive/zero_one_adam.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::zero_one_adam_test {
namespace {

const AdamRule rule{0.9, 0.99, 1e-4, 0.01, false};

auto zero_one(ZeroOneAdamOptions options) {
    return [=](Worker& w) { return zero_one_adam(w, options); };
}

ZeroOneAdamOptions small_options() {
    return {.exchange = one_bit_exchange(false),
            .rule = rule,
            .var_freeze_step = 19,
            .var_update_scaler = 4,
            .local_step_scaler = 5,
            .local_step_clipper = 4};
}

// The kinds of steps, found by stepping the counters of the released code.
std::vector<ZeroOneStep> kinds_by_counters(const ZeroOneAdamOptions& o, std::int64_t steps) {
    std::vector<ZeroOneStep> kinds;
    std::int64_t var_interval = 1;
    std::int64_t var_counter = 0;
    std::int64_t local_interval = 1;
    std::int64_t local_counter = 0;
    bool frozen = false;
    for (std::int64_t s = 1; s <= steps; ++s) {
        if (!frozen) {
            const bool exact = s % var_interval == 0;
            kinds.push_back(exact ? ZeroOneStep::exact : ZeroOneStep::compressed_gradient);
            if (exact && ++var_counter == o.var_update_scaler) {
                var_counter = 0;
                var_interval *= 2;
            }
        } else {
            kinds.push_back(s % local_interval == 0 ? ZeroOneStep::compressed_update
                                                    : ZeroOneStep::local);
            if (++local_counter == o.local_step_scaler) {
                local_counter = 0;
                local_interval = std::min(o.local_step_clipper, 2 * local_interval);
            }
        }
        if (s > o.var_freeze_step) frozen = true;
    }
    return kinds;
}

TEST_CASE("0/1 Adam, property: the kind of a step is that of the released code's counters") {
    for (const std::int64_t freeze : {0, 1, 19, 100, 1000})
        for (const std::int64_t scaler : {1, 2, 3, 16})
            for (const std::int64_t local : {1, 5, 100})
                for (const std::int64_t clipper : {1, 4, 16}) {
                    CAPTURE(freeze);
                    CAPTURE(scaler);
                    CAPTURE(local);
                    CAPTURE(clipper);
                    const ZeroOneAdamOptions options{.var_freeze_step = freeze,
                                                     .var_update_scaler = scaler,
                                                     .local_step_scaler = local,
                                                     .local_step_clipper = clipper};

                    const std::vector<ZeroOneStep> kinds = kinds_by_counters(options, 1500);

                    std::int64_t wrong = 0;
                    for (std::int64_t k = 0; k < 1500; ++k)
                        if (zero_one_step(options, k) != kinds[static_cast<std::size_t>(k)])
                            ++wrong;
                    CHECK(wrong == 0);
                }
}

TEST_CASE("0/1 Adam, property: within a stretch steps repeat, and no stretch comes back") {
    for (const std::int64_t scaler : {1, 3, 16}) {
        CAPTURE(scaler);
        const ZeroOneAdamOptions options{.var_freeze_step = 300,
                                         .var_update_scaler = scaler,
                                         .local_step_scaler = 50,
                                         .local_step_clipper = 8};
        std::vector<std::int64_t> seen;
        for (std::int64_t k = 0; k < 1000; ++k) {
            const std::int64_t stretch = zero_one_stretch(options, k);
            if (k > 0 && stretch == seen.back()) {
                const std::int64_t before = std::max<std::int64_t>(k - 8, 0);
                if (zero_one_stretch(options, before) == stretch)
                    CHECK(zero_one_step(options, k) == zero_one_step(options, before));
                continue;
            }
            CHECK(std::ranges::count(seen, stretch) == 0);
            seen.push_back(stretch);
        }
    }
}

// The rule of the released code, in plain vectors; every worker holds the whole model.
struct SerialZeroOneAdam {
    ZeroOneAdamOptions o;
    int n;
    OneBitModelOracle of_gradients{n, small_layout(), false};
    OneBitModelOracle of_updates{n, small_layout(), false};
    std::vector<Eigen::VectorXd> x = all(1);
    std::vector<Eigen::VectorXd> m = all(0);
    std::vector<Eigen::VectorXd> u = all(0);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(26);
    double rates = 0;

    [[nodiscard]] std::vector<Eigen::VectorXd> all(double value) const {
        return std::vector<Eigen::VectorXd>(static_cast<std::size_t>(n),
                                            Eigen::VectorXd::Constant(26, value));
    }
    [[nodiscard]] Eigen::VectorXd root() const { return v.array().sqrt() + o.rule.epsilon; }
    void variance_step(double gamma, bool exact, const std::vector<Eigen::VectorXd>& g) {
        const Eigen::VectorXd mean = exact ? mean_of(g) : of_gradients(g);
        if (exact) v = 0.99 * v + 0.01 * mean.cwiseProduct(mean);
        for (std::size_t i = 0; i < x.size(); ++i) {
            m[i] = 0.9 * m[i] + 0.1 * mean;
            x[i] -= gamma * direction(o.rule, m[i], v, x[i]);
        }
    }
    void local_step(double gamma, bool meets, const std::vector<Eigen::VectorXd>& g) {
        rates += gamma;
        for (std::size_t i = 0; i < x.size(); ++i) {
            m[i] = 0.9 * m[i] + 0.1 * g[i];
            const Eigen::VectorXd d = direction(o.rule, m[i], v, x[i]);
            x[i] -= gamma * d;
            u[i] -= gamma * d;
        }
        if (!meets) return;
        std::vector<Eigen::VectorXd> said;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] -= u[i];
            said.emplace_back(u[i].cwiseProduct(root()));
        }
        const Eigen::VectorXd mean = of_updates(said);
        for (std::size_t i = 0; i < x.size(); ++i) {
            m[i] = -mean / rates;
            x[i] += mean.cwiseQuotient(root());
            u[i].setZero();
        }
        rates = 0;
    }
    void run(std::int64_t steps) {
        const std::vector<ZeroOneStep> kinds = kinds_by_counters(o, steps);
        for (std::int64_t k = 0; k < steps; ++k) {
            const ZeroOneStep kind = kinds[static_cast<std::size_t>(k)];
            const auto g = own_gradients(n, x, k);
            const double gamma = adaptive_rate(k);
            if (kind == ZeroOneStep::exact || kind == ZeroOneStep::compressed_gradient)
                variance_step(gamma, kind == ZeroOneStep::exact, g);
            else
                local_step(gamma, kind == ZeroOneStep::compressed_update, g);
        }
    }
};

TEST_CASE("0/1 Adam: it follows the released rule, implemented a second time, on every worker") {
    for (const int n : {1, 2, 3, 8}) {
        CAPTURE(n);
        for (const std::int64_t steps : {10, 20, 31, 50}) {
            CAPTURE(steps);
            TrainingRun run(n, adaptive_link, adaptive_job(steps));
            run.spawn_all(zero_one(small_options()));
            run.simulation.run();
            REQUIRE(run.processes.finished());

            SerialZeroOneAdam serial{small_options(), n};
            serial.run(steps);

            for (int rank = 0; rank < n; ++rank)
                CHECK((run.model_of(rank) - serial.x[static_cast<std::size_t>(rank)])
                          .cwiseAbs()
                          .maxCoeff() < 1e-9);
        }
    }
}

TEST_CASE("0/1 Adam: as long as its variance is refreshed in every step it is Adam") {
    ZeroOneAdamOptions options = small_options();
    options.var_update_scaler = 1000;
    options.var_freeze_step = 1000;
    const auto adam = [](Worker& w) { return dense_adam(w, {{}, rule}); };

    const Eigen::VectorXd found = model_after(4, adaptive_job(40), zero_one(options));

    CHECK((found - model_after(4, adaptive_job(40), adam)).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("0/1 Adam: workers differ between exchanges and agree to the bit after one") {
    ZeroOneAdamOptions options = small_options();
    options.local_step_scaler = 1;  // intervals are 1, 2, 4, 4, ... from step 21 on
    const auto models_after = [&](std::int64_t steps) {
        TrainingRun run(3, adaptive_link, adaptive_job(steps));
        run.spawn_all(zero_one(options));
        run.simulation.run();
        return std::vector<Eigen::VectorXd>{run.model_of(0), run.model_of(1), run.model_of(2)};
    };

    const std::vector<Eigen::VectorXd> apart = models_after(27);
    const std::vector<Eigen::VectorXd> together = models_after(28);

    CHECK((apart[0] - apart[1]).norm() > 1e-4);
    CHECK(together[0] == together[1]);
    CHECK(together[0] == together[2]);
}

TEST_CASE("0/1 Adam: local steps send nothing") {
    ZeroOneAdamOptions options = small_options();
    options.local_step_scaler = 1;
    const auto sent_after = [&](std::int64_t steps) {
        TrainingRun run(4, adaptive_link, timing_job(small_layout(), steps));
        run.spawn_all(zero_one(options));
        run.simulation.run();
        return run.sent_by_all();
    };

    CHECK(sent_after(27) == sent_after(24));
    CHECK(sent_after(28) == sent_after(24) + 4 * (4 * (6 * Bytes{5})));
}

}  // namespace
}  // namespace paceline::zero_one_adam_test
