#include "algorithms/local/streaming_diloco.hpp"

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/qsgd.hpp"
#include "algorithms/local/local_adam.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::streaming_diloco_test {
namespace {

LocalAlgorithm of_streaming(const StreamingDilocoOptions& options) {
    return [=](Worker& w) { return streaming_diloco(w, options); };
}

Compressor four_bits() {
    return make_qsgd({.levels = 7});
}

TEST_CASE(
    "streaming diloco: one fragment that blocks and replaces the model is DiLoCo, in every bit") {
    for (const int n : {1, 3, 8})
        for (const std::int64_t period : {1, 4})
            for (const bool encoded : {false, true}) {
                CAPTURE(n);
                CAPTURE(period);
                CAPTURE(encoded);
                DilocoOptions diloco_options{.period = period};
                if (encoded) {
                    diloco_options.exchange.codec.coder = four_bits();
                    diloco_options.exchange.codec.error_feedback = true;
                    diloco_options.exchange.aggregation.kind = Aggregation::all_gather;
                }
                const StreamingDilocoOptions options{diloco_options, 1, 0, 0};

                CHECK(models_after(n, local_job(24, falling_rate), of_streaming(options)) ==
                      models_after(n, local_job(24, falling_rate),
                                   [=](Worker& w) { return diloco(w, diloco_options); }));
            }
}

TEST_CASE("streaming diloco: workers that keep all of their model never learn of each other") {
    StreamingDilocoOptions options{.fragments = 2, .delay = 1, .alpha = 1};
    options.diloco.period = 4;
    LocalSgdOptions alone = local_adam();
    alone.period = 1000;

    CHECK(distance(models_after(5, local_job(30, falling_rate), of_streaming(options)),
                   models_after(5, local_job(30, falling_rate),
                                [=](Worker& w) { return local_sgd(w, alone); })) == 0);
}

TEST_CASE(
    "streaming diloco, property: every fragment is due once in a period, after floor(H (p+1) / P) "
    "steps") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        StreamingDilocoOptions options;
        options.diloco.period = std::uniform_int_distribution<std::int64_t>(1, 60)(random);
        options.fragments =
            std::uniform_int_distribution<std::int64_t>(1, options.diloco.period)(random);
        const std::int64_t period = options.diloco.period;
        CAPTURE(period);
        CAPTURE(options.fragments);
        std::int64_t next = 0;
        for (std::int64_t k = 0; k < 3 * period; ++k) {
            const auto turn = turn_after(options, k);
            const std::int64_t p = next % options.fragments;
            const std::int64_t due =
                next / options.fragments * period + period * (p + 1) / options.fragments;
            if (k + 1 < due) {
                REQUIRE_FALSE(turn.has_value());
                continue;
            }
            REQUIRE(turn.has_value());
            CHECK(turn->fragment == static_cast<std::size_t>(p));
            CHECK(turn->number == next);
            ++next;
        }
        CHECK(next == 3 * options.fragments);
    }
}

// Where all workers have the same gradient, the outer gradient is what one of them has moved,
// whatever the delay; with outer rate 1, no outer momentum and alpha = 1/2 a worker keeps half of
// the steps that it took meanwhile.
TEST_CASE("streaming diloco: of tau steps beside an exchange the share alpha stays") {
    const std::int64_t delay = 3;
    Job job = local_job(8 + delay, constant_rate);
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), -3.0));
    };
    StreamingDilocoOptions options{.fragments = 1, .delay = delay, .alpha = 0.25};
    options.diloco.period = 8;
    options.diloco.outer = OuterNesterov{1, 0};
    options.diloco.inner = AdamRule{.epsilon = 1e-12};

    const double start = job.start.values()(0);
    const double reached = models_after(4, job, of_streaming(options))(0, 0);

    CHECK(reached - start == doctest::Approx(0.1 * (8 + 0.25 * delay)).epsilon(1e-9));
}

TEST_CASE("streaming diloco: two fragments reach what a serial loop reaches") {
    const int n = 4;
    const std::int64_t steps = 20;
    StreamingDilocoOptions options{.fragments = 2, .delay = 1, .alpha = 0.5};
    options.diloco.period = 4;
    options.diloco.inner = AdamRule{.epsilon = 1e-3};
    const Job job = local_job(steps, constant_rate);
    const auto split =
        static_cast<Eigen::Index>(job.start.layout()->offset(1));  // of small_layout(): two tensors
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, n);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(26, n);
    Eigen::MatrixXd v = m;
    Eigen::VectorXd y = x.col(0);
    Eigen::VectorXd u = Eigen::VectorXd::Zero(26);
    std::map<std::int64_t, std::pair<int, Eigen::VectorXd>> arriving;
    for (std::int64_t t = 1; t <= steps; ++t) {
        for (int i = 0; i < n; ++i) {
            const Eigen::VectorXd g = pull_to_own_target(x.col(i), i, t - 1);
            m.col(i) = 0.9 * m.col(i) + 0.1 * g;
            v.col(i) = 0.999 * v.col(i) + 0.001 * g.cwiseAbs2();
            const auto k = static_cast<double>(t);
            const Eigen::VectorXd mean = m.col(i) / (1 - std::pow(0.9, k));
            const Eigen::VectorXd root = (v.col(i) / (1 - std::pow(0.999, k))).cwiseSqrt();
            x.col(i).array() -= 0.1 * mean.array() / (root.array() + 1e-3);
        }
        if (t % 2 == 0) arriving[t + 1] = {t % 4 == 2 ? 0 : 1, y - x.rowwise().mean()};
        if (!arriving.contains(t)) continue;
        const auto [p, d] = arriving[t];
        const Eigen::Index begin = p == 0 ? 0 : split;
        const Eigen::Index size = p == 0 ? split : 26 - split;
        u.segment(begin, size) = 0.9 * u.segment(begin, size) + d.segment(begin, size);
        y.segment(begin, size) -= 0.7 * (d.segment(begin, size) + 0.9 * u.segment(begin, size));
        for (int i = 0; i < n; ++i)
            x.col(i).segment(begin, size) =
                0.5 * x.col(i).segment(begin, size) + 0.5 * y.segment(begin, size);
    }

    CHECK(distance(models_after(n, job, of_streaming(options)), x) < 1e-12);
}

}  // namespace
}  // namespace paceline::streaming_diloco_test
