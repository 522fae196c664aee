#include "algorithms/local/sparseloco.hpp"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/chunked_top_k.hpp"
#include "algorithms/local/local_adam.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::sparseloco_test {
namespace {

LocalAlgorithm of(const DilocoOptions& options) {
    return [=](Worker& w) { return diloco(w, options); };
}

DilocoOptions sparse(const ChunkedTopKOptions& codec, std::int64_t period) {
    DilocoOptions options = sparseloco();
    options.period = period;
    options.exchange.codec.coder = make_chunked_top_k(codec);
    return options;
}

TEST_CASE("sparseloco: where all is sent as it is it is DiLoCo with outer SGD, and local Adam") {
    DilocoOptions options =
        sparse({.chunk = 8, .kept = 64, .value_bits = 32, .of_senders = true}, 4);
    const DilocoOptions dense{.period = 4, .outer = OuterSgd{1, 0}};
    const Eigen::MatrixXd models = models_after(3, local_job(24, falling_rate), of(options));
    CHECK(distance(models, models_after(3, local_job(24, falling_rate), of(dense))) < 1e-12);
    LocalSgdOptions adam = local_adam();
    adam.period = 4;
    CHECK(distance(models, models_after(3, local_job(24, falling_rate),
                                        [=](Worker& w) { return local_sgd(w, adam); })) < 1e-12);
}

// The optimizer of CCLoco, tplr-ai/CCLoco ccloco.py: its rate is in what is accumulated, and in the
// step of SGD.
TEST_CASE("sparseloco: CCLoco at a rate is SparseLoCo at the square of the rate") {
    const ChunkedTopKOptions codec{.chunk = 3, .kept = 2, .value_bits = 8, .of_senders = true};
    DilocoOptions options = sparse(codec, 2);
    options.outer = OuterSgd{.rate = 0.49};
    options.exchange.codec.error_decay = 0.9;
    const Eigen::MatrixXd models = models_after(1, local_job(20, falling_rate), of(options));

    const double lr = 0.7;
    const LayoutPtr layout = small_layout();
    RandomStream unused = RandomStreams(1).stream("test");
    Vector x(layout, Eigen::VectorXd::Ones(26));
    Vector begun = x;
    Vector e = Vector::zero_like(x);
    InnerState adam(x);
    for (int k = 0; k < 20; ++k) {
        const Vector g(layout, pull_to_own_target(x.values(), 0, k));
        adam_step(AdamRule{}, falling_rate(k), k + 1, g, adam.m, adam.v, x);
        if (k % 2 == 0) continue;
        e = 0.9 * e + lr * (begun - x);
        Vector q = e;
        compress(make_chunked_top_k(codec), q, unused);
        e -= q;
        begun -= lr * q;
        x = begun;
    }
    CHECK((models.col(0) - x.values()).cwiseAbs().maxCoeff() < 1e-12);
}

// 128 of 8192 entries and 64 of 64 take 2 + 12 bits each, and a tensor 5 numbers of 32: 376 bytes.
TEST_CASE("sparseloco: a round of four sends each message to three others, to the byte") {
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"weight", {128, 64}}, {"bias", {64}}});
    DilocoOptions options = sparseloco();
    options.period = 2;
    TrainingRun run(4, local_link, timing_job(layout, 7));
    run.spawn_all(of(options));
    run.simulation.run();
    for (int i = 0; i < 4; ++i) CHECK(run.network.traffic(i).sent.count == 3 * 3 * 376);
}

}  // namespace
}  // namespace paceline::sparseloco_test
