#include "algorithms/local/slowmo.hpp"

#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "tests/algorithms/local/local_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::slowmo_test {
namespace {

LocalAlgorithm of_slowmo(const SlowmoOptions& options) {
    return [=](Worker& w) { return slowmo(w, options); };
}

SlowmoOptions options_of(double alpha, double beta, std::int64_t period, BaseOptions base = {}) {
    SlowmoOptions options;
    options.slow = {alpha, beta};
    options.period = period;
    options.base = base;
    return options;
}

// The paper's rule on columns. `buffers` is 'r', 'm' or 'a'.
Eigen::MatrixXd written_down(int n, double alpha, double beta, std::int64_t period,
                             std::int64_t steps, const Rate& rate, MomentumRule rule,
                             char buffers) {
    Columns all(n, rule);
    Eigen::VectorXd anchor = all.x.col(0);
    Eigen::VectorXd u = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < steps; ++k) {
        const double gamma = rate(k);
        all.step(k, gamma);
        if ((k + 1) % period != 0) continue;
        u = beta * u + (anchor - all.mean()) / gamma;
        anchor -= alpha * gamma * u;
        all.all_at(anchor);
        if (buffers == 'r') all.m.setZero();
        if (buffers == 'a') all.m.colwise() = all.m.rowwise().mean().eval();
    }
    return all.x;
}

TEST_CASE("slowmo: it is the rule of the paper, for all that is done with buffers") {
    const MomentumRule rule{0.6, true, 0.01};
    for (const auto& [buffers, letter] :
         {std::pair{Buffers::reset, 'r'}, std::pair{Buffers::maintain, 'm'},
          std::pair{Buffers::average, 'a'}})
        for (const int n : {1, 3, 8})
            for (const std::int64_t period : {1, 4}) {
                CAPTURE(letter);
                CAPTURE(n);
                CAPTURE(period);
                SlowmoOptions options = options_of(0.9, 0.6, period, {Base::local, rule});
                options.buffers = buffers;

                const Eigen::MatrixXd models =
                    models_after(n, local_job(22, falling_rate), of_slowmo(options));

                CHECK(distance(models, written_down(n, 0.9, 0.6, period, 22, falling_rate, rule,
                                                    letter)) < 1e-10);
            }
}

TEST_CASE("slowmo: with tau 1, alpha 1 and beta 0 it is averaging of parameters") {
    for (const int n : {1, 2, 5, 8}) {
        CAPTURE(n);
        SlowmoOptions options = options_of(1, 0, 1, {Base::local, {0.8}});
        options.buffers = Buffers::maintain;

        const Eigen::MatrixXd models =
            models_after(n, local_job(25, falling_rate), of_slowmo(options));

        CHECK(distance(models, models_after(n, local_job(25, falling_rate), [](Worker& w) {
                           return local_sgd(
                               w, {1, dense_exchange(AllReduce::ring), MomentumRule{0.8}});
                       })) < 1e-10);
    }
}

TEST_CASE("slowmo: with alpha 1 and beta 0 it is local SGD, whatever tau is") {
    for (const std::int64_t period : {2, 5}) {
        CAPTURE(period);
        const Eigen::MatrixXd models =
            models_after(4, local_job(25, falling_rate), of_slowmo(options_of(1, 0, period)));

        CHECK(distance(models, models_after(4, local_job(25, falling_rate), [=](Worker& w) {
                           return local_sgd(w, {period, dense_exchange(AllReduce::ring)});
                       })) < 1e-10);
    }
}

TEST_CASE("slowmo: with tau 1, alpha 1 and plain SGD inside it is synchronous heavy ball") {
    for (const double beta : {0.0, 0.5, 0.9})
        for (const int n : {1, 4, 7}) {
            CAPTURE(beta);
            CAPTURE(n);

            const Eigen::MatrixXd models =
                models_after(n, local_job(30, falling_rate), of_slowmo(options_of(1, beta, 1)));

            CHECK(distance(models, models_after(n, local_job(30, falling_rate), of_dense({beta}))) <
                  1e-10);
        }
}

// Zhang, Lucas, Ba, Hinton, "Lookahead Optimizer", NeurIPS 2019: phi <- phi + alpha (theta - phi).
TEST_CASE("slowmo: alone and with beta 0 it is Lookahead") {
    Columns fast(1, {0.5});
    Eigen::VectorXd phi = fast.x.col(0);
    for (std::int64_t k = 0; k < 20; ++k) {
        fast.step(k, falling_rate(k));
        if (k % 5 != 4) continue;
        phi += 0.4 * (fast.x.col(0) - phi);
        fast.all_at(phi);
    }
    SlowmoOptions options = options_of(0.4, 0, 5, {Base::local, {0.5}});
    options.buffers = Buffers::maintain;

    CHECK(distance(models_after(1, local_job(20, falling_rate), of_slowmo(options)), fast.x) <
          1e-12);
}

TEST_CASE("slowmo: on DSGD without the average, every worker has a slow momentum of its own") {
    const Mixing ring = make_ring_mixing(6);
    const Eigen::MatrixXd w = matrix(ring);
    Columns all(6, {0.5});
    Eigen::MatrixXd anchors = all.x;
    Eigen::MatrixXd u = Eigen::MatrixXd::Zero(26, 6);
    for (std::int64_t k = 0; k < 17; ++k) {
        const double gamma = falling_rate(k);
        all.step(k, gamma);
        all.x = all.x * w.transpose();
        if (k % 4 != 3) continue;
        u = 0.6 * u + (anchors - all.x) / gamma;
        anchors -= gamma * u;
        all.x = anchors;
        all.m.setZero();
    }
    SlowmoOptions options = options_of(1, 0.6, 4, {Base::dsgd, {0.5}});
    options.average = false;

    CHECK(distance(models_after(6, local_job(17, falling_rate, ring), of_slowmo(options)), all.x) <
          1e-10);
}

TEST_CASE("slowmo: on SGP of a complete graph it is SlowMo on all-reduce SGD, averaged or not") {
    const SlowmoOptions on_dense = [] {
        SlowmoOptions options = options_of(1, 0.6, 3, {Base::all_reduce, {0.7}});
        options.average = false;
        return options;
    }();
    const Job job = local_job(20, falling_rate, make_complete_mixing(4));
    const Eigen::MatrixXd expected = models_after(4, job, of_slowmo(on_dense));
    for (const bool average : {true, false}) {
        CAPTURE(average);
        SlowmoOptions options = options_of(1, 0.6, 3, {Base::sgp, {0.7}});
        options.average = average;

        CHECK(distance(models_after(4, job, of_slowmo(options)), expected) < 1e-10);
    }
}

// Push-sum on an unbalanced graph leaves weights that differ from 1.
TEST_CASE("slowmo: on SGP of an unbalanced graph the average is that of the numerators") {
    const Eigen::MatrixXd p = shares_of_push_sum(unbalanced_mixing());
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 4);
    Eigen::VectorXd anchor = x.col(0);
    Eigen::VectorXd u = Eigen::VectorXd::Zero(26);
    Eigen::VectorXd w = Eigen::VectorXd::Ones(4);
    for (std::int64_t k = 0; k < 12; ++k) {
        const double gamma = falling_rate(k);
        for (int i = 0; i < 4; ++i) x.col(i) -= gamma * pull_to_own_target(x.col(i) / w(i), i, k);
        x = x * p.transpose();
        w = p * w;
        if (k % 3 != 2) continue;
        u = 0.5 * u + (anchor - x.rowwise().mean()) / gamma;
        anchor -= gamma * u;
        x.colwise() = anchor;
        w.setOnes();
    }

    CHECK(distance(models_after(4, local_job(12, falling_rate, unbalanced_mixing()),
                                of_slowmo(options_of(1, 0.5, 3, {Base::sgp}))),
                   x) < 1e-10);
}

// The messages of a step enter after the gradient of the next one; a block ends when all are in.
TEST_CASE(
    "slowmo: on OSGP the messages are one step late, and none is left at the end of a block") {
    const Eigen::MatrixXd p = shares_of_push_sum(unbalanced_mixing());
    for (const bool average : {true, false}) {
        CAPTURE(average);
        Columns all(4, {0.6, true, 0.02});
        Eigen::MatrixXd x = all.x;
        Eigen::MatrixXd anchors = x;
        Eigen::MatrixXd u = Eigen::MatrixXd::Zero(26, 4);
        Eigen::VectorXd w = Eigen::VectorXd::Ones(4);
        const auto arrive = [&] {
            x = x * p.transpose();
            w = p * w;
        };
        constexpr int steps = 14;  // the last block is cut
        bool under_way = false;
        for (std::int64_t k = 0; k < steps; ++k) {
            const double gamma = falling_rate(k);
            const Eigen::MatrixXd z = all.x;  // models as the step begins
            all.step(k, gamma);
            const Eigen::MatrixXd change = all.x - z;
            if (under_way) arrive();
            x += change;
            under_way = true;
            for (int i = 0; i < 4; ++i) all.x.col(i) = x.col(i) / w(i);
            if (k % 4 != 3 && k != steps - 1) continue;
            arrive();
            under_way = false;
            for (int i = 0; i < 4; ++i) all.x.col(i) = x.col(i) / w(i);
            if (k % 4 != 3) continue;
            if (average) {
                all.x.colwise() = x.rowwise().mean().eval();
                w.setOnes();
            }
            u = 0.5 * u + (anchors - all.x) / gamma;
            anchors -= gamma * u;
            all.x = anchors;
            for (int i = 0; i < 4; ++i) x.col(i) = w(i) * anchors.col(i);
            all.m.setZero();
        }
        SlowmoOptions options = options_of(1, 0.5, 4, {Base::osgp, {0.6, true, 0.02}});
        options.average = average;

        CHECK(distance(models_after(4, local_job(steps, falling_rate, unbalanced_mixing()),
                                    of_slowmo(options)),
                       all.x) < 1e-10);
    }
}

TEST_CASE("slowmo: on SGP with Adam, Adam moves the numerators") {
    const Eigen::MatrixXd p = shares_of_push_sum(unbalanced_mixing());
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 4);
    Eigen::ArrayXXd m = Eigen::ArrayXXd::Zero(26, 4);
    Eigen::ArrayXXd v = m;
    Eigen::VectorXd w = Eigen::VectorXd::Ones(4);
    Eigen::VectorXd anchor = x.col(0);
    Eigen::VectorXd u = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < 13; ++k) {
        const double s = static_cast<double>(k + 1);
        for (int i = 0; i < 4; ++i) {
            const Eigen::VectorXd z = x.col(i) / w(i);
            const Eigen::ArrayXd g = pull_to_own_target(z, i, k) + 0.05 * z;
            m.col(i) = 0.9 * m.col(i) + 0.1 * g;
            v.col(i) = 0.999 * v.col(i) + 0.001 * g.square();
            x.col(i).array() -= 0.1 * (m.col(i) / (1 - std::pow(0.9, s))) /
                                ((v.col(i) / (1 - std::pow(0.999, s))).sqrt() + 1e-8);
        }
        x = x * p.transpose();
        w = p * w;
        if (k % 4 != 3) continue;
        u = 0.5 * u + (anchor - x.rowwise().mean()) / 0.1;
        anchor -= 0.1 * u;
        x.colwise() = anchor;
        w.setOnes();
    }
    SlowmoOptions options = options_of(1, 0.5, 4, {Base::sgp_adam, {0.9, false, 0.05}});
    options.buffers = Buffers::maintain;
    for (int i = 0; i < 4; ++i) x.col(i) /= w(i);

    CHECK(distance(models_after(4, local_job(13, constant_rate, unbalanced_mixing()),
                                of_slowmo(options)),
                   x) < 1e-10);
}

TEST_CASE("slowmo: local Adam keeps, averages or loses both of its moments") {
    for (const auto& [buffers, letter] :
         {std::pair{Buffers::reset, 'r'}, std::pair{Buffers::maintain, 'm'},
          std::pair{Buffers::average, 'a'}}) {
        CAPTURE(letter);
        Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 3);
        Eigen::ArrayXXd m = Eigen::ArrayXXd::Zero(26, 3);
        Eigen::ArrayXXd v = m;
        Eigen::VectorXd anchor = x.col(0);
        Eigen::VectorXd u = Eigen::VectorXd::Zero(26);
        double s = 0;
        for (std::int64_t k = 0; k < 13; ++k) {
            ++s;
            for (int i = 0; i < 3; ++i) {
                const Eigen::ArrayXd g = pull_to_own_target(x.col(i), i, k);
                m.col(i) = 0.9 * m.col(i) + 0.1 * g;
                v.col(i) = 0.999 * v.col(i) + 0.001 * g.square();
                x.col(i).array() -= 0.1 * (m.col(i) / (1 - std::pow(0.9, s))) /
                                    ((v.col(i) / (1 - std::pow(0.999, s))).sqrt() + 1e-8);
            }
            if (k % 4 != 3) continue;
            u = 0.5 * u + (anchor - x.rowwise().mean()) / 0.1;
            anchor -= 0.1 * u;
            x.colwise() = anchor;
            if (letter == 'r') m.setZero(), v.setZero(), s = 0;
            if (letter == 'a') {
                m.colwise() = m.rowwise().mean().eval();
                v.colwise() = v.rowwise().mean().eval();
            }
        }
        SlowmoOptions options = options_of(1, 0.5, 4, {Base::local_adam, {0.9}});
        options.buffers = buffers;

        CHECK(distance(models_after(3, local_job(13, constant_rate), of_slowmo(options)), x) <
              1e-10);
    }
}

}  // namespace
}  // namespace paceline::slowmo_test
