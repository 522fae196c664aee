#include "algorithms/adaptive/one_bit_lamb.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_lamb.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_lamb_test {
namespace {

using doctest::Approx;

OneBitLambOptions options_of(std::int64_t freeze_step, double decay) {
    return {.exchange = one_bit_exchange(true),
            .rule = {{0.9, 0.99, 1e-4, decay, false}, 0.01, 10},
            .freeze_step = freeze_step};
}
auto one_bit(OneBitLambOptions options) {
    return [=](Worker& w) { return one_bit_lamb(w, options); };
}
auto lamb(LambRule rule) {
    return [=](Worker& w) { return dense_lamb(w, {{}, rule}); };
}

// The rule of the released code, in plain vectors: four tensors, with their offsets and sizes in
// small_layout().
struct SerialOneBitLamb {
    static constexpr std::array<Eigen::Index, 4> offsets{0, 12, 16, 24};
    static constexpr std::array<Eigen::Index, 4> sizes{12, 4, 8, 2};

    OneBitLambOptions o;
    int n;
    OneBitModelOracle compressed_mean{n, small_layout(), true};
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(26);
    Eigen::VectorXd fresh{};
    std::array<double, 4> c{0, 0, 0, 0};
    std::array<double, 4> f{1, 1, 1, 1};
    std::array<double, 4> scale{};

    void warm_up(std::int64_t k) {
        const Eigen::VectorXd g = mean_of(own_gradients(n, x, k));
        m = 0.9 * m + 0.1 * g;
        v = 0.99 * v + 0.01 * g.cwiseProduct(g);
        const Eigen::VectorXd r = direction(o.rule.adam, m, v, x);
        for (std::size_t l = 0; l < 4; ++l) {
            auto x_l = x.segment(offsets[l], sizes[l]);
            const auto r_l = r.segment(offsets[l], sizes[l]);
            double t = 1;
            if (x_l.norm() > 0 && r_l.norm() > 0)
                t = std::min(std::max(x_l.norm() / r_l.norm(), 0.01), 10.0);
            if (t != 1) c[l] = 0.9 * c[l] + 0.1 * t;
            x_l -= adaptive_rate(k) * t * r_l;
        }
    }
    void freeze() {
        fresh = v;
        std::array<double, 4> rms{};
        double mean = 0;
        for (std::size_t l = 0; l < 4; ++l) {
            rms[l] =
                m.segment(offsets[l], sizes[l]).norm() / std::sqrt(static_cast<double>(sizes[l]));
            mean += rms[l] / 4;
        }
        for (std::size_t l = 0; l < 4; ++l) scale[l] = mean / rms[l];
    }
    void compressed(std::int64_t k) {
        const Eigen::VectorXd before = m;
        std::vector<Eigen::VectorXd> all = own_gradients(n, x, k);
        for (Eigen::VectorXd& one : all) {
            one = 0.9 * m + 0.1 * one;
            for (std::size_t l = 0; l < 4; ++l) one.segment(offsets[l], sizes[l]) *= scale[l];
        }
        m = compressed_mean(all);
        for (std::size_t l = 0; l < 4; ++l) m.segment(offsets[l], sizes[l]) /= scale[l];
        const Eigen::VectorXd g = (m - 0.9 * before) / 0.1;
        fresh = 0.99 * fresh + 0.01 * g.cwiseProduct(g);
        for (std::size_t l = 0; l < 4; ++l) descend(l, adaptive_rate(k));
    }
    void descend(std::size_t l, double gamma) {
        const AdamRule& rule = o.rule.adam;
        const Eigen::Index begin = offsets[l];
        double largest = 0;
        Eigen::VectorXd r0(sizes[l]);
        Eigen::VectorXd r(sizes[l]);
        for (Eigen::Index e = 0; e < sizes[l]; ++e) {
            const double d = std::sqrt(v(begin + e)) + rule.epsilon;
            r0(e) = m(begin + e) / d;
            r(e) = r0(e) + rule.weight_decay * x(begin + e);
            largest = std::max(largest, d / (std::sqrt(fresh(begin + e)) + rule.epsilon));
        }
        if (rule.weight_decay > 0) {
            const double q = std::min(1.0, r0.norm() / r.norm());
            largest = largest * q + (1 - q);
        }
        largest = std::min(std::max(largest, 0.5), 4.0);
        f[l] = std::min(std::max(largest, 0.9 * f[l]), 1.1 * f[l]);
        x.segment(begin, sizes[l]) -= gamma * c[l] * f[l] * r;
    }
    Eigen::VectorXd after(std::int64_t steps) {
        for (std::int64_t k = 0; k < steps; ++k) {
            if (k < o.freeze_step) warm_up(k);
            if (k + 1 == o.freeze_step) freeze();
            if (k >= o.freeze_step) compressed(k);
        }
        return x;
    }
};

TEST_CASE("1-bit LAMB: it follows the released rule, implemented a second time") {
    for (const double decay : {0.0, 0.05})
        for (const int n : {1, 2, 3, 8}) {
            CAPTURE(decay);
            CAPTURE(n);
            const OneBitLambOptions options = options_of(12, decay);

            const Eigen::VectorXd found = model_after(n, adaptive_job(24), one_bit(options));

            const Eigen::VectorXd expected = SerialOneBitLamb{options, n}.after(24);
            CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-9);
        }
}

TEST_CASE("1-bit LAMB: its warm-up is LAMB with clips and without bias correction") {
    const OneBitLambOptions options = options_of(20, 0.01);

    const Eigen::VectorXd found = model_after(4, adaptive_job(20), one_bit(options));

    CHECK(found == model_after(4, adaptive_job(20), lamb(options.rule)));
    LambRule unclipped = options.rule;
    unclipped.min_trust = 0;
    unclipped.max_trust = 0.5;
    CHECK(found != model_after(4, adaptive_job(20), lamb(unclipped)));
}

TEST_CASE("1-bit LAMB: alone it still compresses, so it is not LAMB") {
    const OneBitLambOptions options = options_of(12, 0.01);

    const Eigen::VectorXd found = model_after(1, adaptive_job(24), one_bit(options));

    CHECK((found - model_after(1, adaptive_job(24), lamb(options.rule))).norm() > 1e-3);
}

TEST_CASE("1-bit LAMB: scaled, the momenta of all tensors have one magnitude, their mean") {
    Eigen::VectorXd m(26);
    m << Eigen::VectorXd::Constant(12, 1e-3), Eigen::VectorXd::Constant(4, 5),
        Eigen::VectorXd::Constant(8, -2), Eigen::VectorXd::Constant(2, 0.1);

    const Eigen::VectorXd k = momentum_scales(Vector(small_layout(), m));

    const double mean = (1e-3 + 5 + 2 + 0.1) / 4;
    CHECK(k(0) * 1e-3 == Approx(mean));
    CHECK(k(1) * 5 == Approx(mean));
    CHECK(k(2) * 2 == Approx(mean));
    CHECK(k(3) * 0.1 == Approx(mean));
}

TEST_CASE("1-bit LAMB: a tensor whose momentum is all zero is not scaled and not counted") {
    Eigen::VectorXd m = Eigen::VectorXd::Constant(26, 3);
    m.head(12).setZero();

    const Eigen::VectorXd k = momentum_scales(Vector(small_layout(), m));

    for (Eigen::Index l = 0; l < 4; ++l) CHECK(k(l) == Approx(1));
}

TEST_CASE("1-bit LAMB: a factor is clipped to its range, then to a tenth of its last value") {
    const OneBitLambOptions options;

    CHECK(clipped_factor(options, 1.05, 1, 1) == Approx(1.05));
    CHECK(clipped_factor(options, 9, 1, 1) == Approx(1.1));
    CHECK(clipped_factor(options, 0.1, 1, 1) == Approx(0.9));
    CHECK(clipped_factor(options, 9, 1, 3.9) == Approx(4));
    CHECK(clipped_factor(options, 0.1, 1, 0.52) == Approx(0.5));
    CHECK(clipped_factor(options, 1.05, 0, 1) == Approx(1));
    CHECK(clipped_factor(options, 1.06, 0.5, 1) == Approx(1.03));
}

}  // namespace
}  // namespace paceline::one_bit_lamb_test
