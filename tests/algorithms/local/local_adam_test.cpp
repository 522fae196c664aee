#include "algorithms/local/local_adam.hpp"

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/local/diloco.hpp"
#include "algorithms/local/slowmo.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::local_adam_test {
namespace {

Eigen::MatrixXd models_of(int n, const LocalSgdOptions& options) {
    return models_after(n, local_job(24, falling_rate),
                        [=](Worker& w) { return local_sgd(w, options); });
}

TEST_CASE(
    "local adam: it is SlowMo over local Adam without slow momentum, whatever happens to buffers") {
    for (const Buffers buffers : {Buffers::maintain, Buffers::average})
        for (const std::int64_t period : {1, 4}) {
            CAPTURE(period);
            SlowmoOptions slow;
            slow.slow.beta = 0;
            slow.period = period;
            slow.buffers = buffers;
            slow.base.base = Base::local_adam;
            slow.base.rule.momentum = 0.9;
            const LocalSgdOptions options{period, {}, AdamRule{}, buffers};

            CHECK(distance(models_of(5, options),
                           models_after(5, local_job(24, falling_rate),
                                        [=](Worker& w) { return slowmo(w, slow); })) < 1e-10);
        }
}

TEST_CASE("local adam: it is DiLoCo with outer rate 1 and no outer momentum") {
    DilocoOptions outer;
    outer.period = 4;
    outer.outer = OuterNesterov{1, 0};
    const AdamRule rule{.weight_decay = 0.02};
    outer.inner = rule;
    const LocalSgdOptions options{4, {}, rule};

    CHECK(distance(models_of(5, options),
                   models_after(5, local_job(24, falling_rate),
                                [=](Worker& w) { return diloco(w, outer); })) < 1e-12);
}

Task<> dense_adam_on_model(Worker& self, DenseAdamOptions options) {
    co_await dense_adam(self, options);
    self.model() = self.replicated_model();
}

TEST_CASE("local adam: one worker that keeps its moments is sequential AdamW") {
    DenseAdamOptions adam;
    adam.rule.weight_decay = 0.03;
    adam.exchange = dense_exchange(AllReduce::ring);
    const LocalSgdOptions options{4, {}, adam.rule, Buffers::average};

    CHECK(distance(models_of(1, options),
                   models_after(1, local_job(24, falling_rate),
                                [=](Worker& w) { return dense_adam_on_model(w, adam); })) < 1e-12);
}

// After a reset Adam's first step is gamma along the sign of the gradient, whatever came before.
TEST_CASE("local adam: with moments at 0 every block begins with a step of length gamma") {
    const LocalSgdOptions options{3, {}, AdamRule{.epsilon = 1e-14}, Buffers::reset};
    const auto model_after = [&](std::int64_t steps) {
        Job job = local_job(steps, constant_rate);
        return models_after(1, job, [=](Worker& w) { return local_sgd(w, options); });
    };

    CHECK(((model_after(7) - model_after(6)).cwiseAbs().array() - 0.1).abs().maxCoeff() < 1e-9);
    CHECK(((model_after(8) - model_after(7)).cwiseAbs().array() - 0.1).abs().maxCoeff() > 1e-6);
}

}  // namespace
}  // namespace paceline::local_adam_test
