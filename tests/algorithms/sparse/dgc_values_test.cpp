// DGC that trains. dgc_memory_test.cpp covers what becomes of a gradient before it is sent,
// sparse_round_test.cpp the size of unions, and dgc_test.cpp DGC without values.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::dgc_values_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using Set = std::set<std::int64_t>;
using Values = Eigen::VectorXd;

const Link link{1_Gbps, 5us};
const std::array aggregations{sparse_aggregation(), sparse_aggregation(AllGather::ring),
                              sparse_aggregation(AllGather::bruck)};
const AggregationPlan reduced_by_doubling = sparse_aggregation({}, AllReduce::recursive_doubling);
constexpr std::array ways{Uncompressed::in_messages, Uncompressed::apart};

/// 480 and 70 entries are compressed, 14 are not.
LayoutPtr mixed_layout() {
    return make_layout({{"a", {24, 20}}, {"b", {10}}, {"c", {10, 7}}, {"d", {4}}});
}

double rate_at(std::int64_t k) {
    return 0.3 / static_cast<double>(k + 3);
}

Job job_with_schedule(std::int64_t steps) {
    Job job = training_job(mixed_layout(), steps);
    job.learning_rate = rate_at;
    return job;
}

DgcOptions exact(double density, double momentum) {
    DgcOptions options;
    options.density = density;
    options.momentum = momentum;
    options.selection.method = Selection::exact;
    return options;
}

// Below 1, so that the compressed path is taken, and all entries of every tensor are sent.
constexpr double everything = 1 - 1e-9;

DgcOptions everything_with_momentum() {
    DgcOptions options = exact(everything, 0.9);
    options.masking = false;
    return options;
}

struct DgcRun : TrainingRun {
    DgcRun(int nodes, const DgcOptions& options, Job job,
           const AggregationPlan& how = sparse_aggregation())
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return dgc(self, {sparse_exchange(options, how)}); });
        simulation.run();
    }
    [[nodiscard]] const Values& model() { return cluster.worker(0).replicated_model().values(); }
};

double distance(const Values& a, const Values& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

struct DenseRule {
    double momentum = 0;
    bool nesterov = false;
    double decay = 0;
    double clip = 0;
};

// A second implementation of momentum SGD on the mean gradient of all entries.
Values serial_dense(int nodes, const DenseRule& rule, std::int64_t steps) {
    Values x = Values::Ones(564);
    Values m = Values::Zero(564);
    for (std::int64_t k = 0; k < steps; ++k) {
        Values g = rule.decay * x;
        for (int i = 0; i < nodes; ++i) {
            Values own = pull_to_own_target(x, i, k);
            if (rule.clip > 0) own *= std::min(1.0, rule.clip / own.norm());
            g += own / nodes;
        }
        m = rule.momentum * m + g;
        x -= rate_at(k) * (rule.nesterov ? Values(rule.momentum * m + g) : m);
    }
    return x;
}

// A second implementation of DGC with momentum correction and masking, using sorts and sets.
struct SerialDgc {
    int nodes;
    double density;
    double momentum;
    Values x = Values::Ones(564);
    Values m = Values::Zero(564);
    std::vector<Values> u;
    std::vector<Values> v;
    std::vector<std::vector<Set>> sent{};  // by step and worker; compressible tensors only

    SerialDgc(int n, double rho, double beta)
        : nodes(n),
          density(rho),
          momentum(beta),
          u(static_cast<std::size_t>(n), Values::Zero(564)),
          v(u) {}

    void select(const Values& of, std::int64_t first, std::int64_t n, Set& set) const {
        std::vector<std::int64_t> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), first);
        std::ranges::sort(order, [&](auto a, auto b) {
            return std::pair{-std::abs(of(a)), a} < std::pair{-std::abs(of(b)), b};
        });
        const auto k = std::lround(std::ceil(density * static_cast<double>(n)));
        set.insert(order.begin(), order.begin() + k);
    }
    void step(std::int64_t k) {
        Values sum = Values::Zero(564);
        Values biases = Values::Zero(564);
        std::vector<Set>& sets = sent.emplace_back();
        for (std::size_t i = 0; i < u.size(); ++i) {
            const Values g = pull_to_own_target(x, static_cast<int>(i), k);
            biases += g / nodes;
            u[i] = momentum * u[i] + g;
            v[i] += u[i];
            Set& set = sets.emplace_back();
            select(v[i], 0, 480, set);
            select(v[i], 490, 70, set);
            for (const std::int64_t p : set) {
                sum(p) += v[i](p) / nodes;
                v[i](p) = 0;
                u[i](p) = 0;
            }
        }
        m = momentum * m + biases;
        for (const auto& [first, n] : {std::pair{480, 10}, std::pair{560, 4}})
            sum.segment(first, n) = m.segment(first, n);
        x -= rate_at(k) * sum;
    }
};

// Bytes of the compressible tensors in a message with the contributions first .. last-1.
std::int64_t union_of(const std::vector<Set>& sets, std::size_t first, std::size_t last) {
    Set merged;
    for (std::size_t i = first; i < last; ++i) merged.insert(sets[i].begin(), sets[i].end());
    const auto in_a = std::distance(merged.begin(), merged.lower_bound(480));
    const auto in_c = std::ssize(merged) - in_a;
    return std::min<std::int64_t>(6 * in_a, 4 * 480) + std::min<std::int64_t>(6 * in_c, 4 * 70);
}

TEST_CASE("dgc: where all is sent and nothing is masked, it is dense momentum SGD") {
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways)
            for (const int n : {1, 2, 3, 4, 6}) {
                CAPTURE(static_cast<int>(how.kind));
                CAPTURE(n);
                DgcOptions options = everything_with_momentum();
                options.uncompressed = uncompressed;

                DgcRun run(n, options, job_with_schedule(30), how);
                TrainingRun dense(n, link, job_with_schedule(30));
                dense.spawn_all([](Worker& self) {
                    return synchronous_sgd(self, SynchronousSgdOptions{{}, {0.9}});
                });
                dense.simulation.run();

                const Values& x = dense.cluster.worker(0).replicated_model().values();
                CHECK(distance(run.model(), x) < 1e-12);
                CHECK(distance(run.model(), serial_dense(n, {0.9}, 30)) < 1e-12);
            }
}

TEST_CASE("dgc: where all is sent, its Nesterov variant is dense Nesterov momentum") {
    DgcOptions options = everything_with_momentum();
    options.nesterov = true;
    for (const int n : {1, 3, 4}) {
        DgcRun run(n, options, job_with_schedule(30));
        CHECK(distance(run.model(), serial_dense(n, {0.9, true}, 30)) < 1e-12);
        options.momentum_correction = false;
        DgcRun uncorrected(n, options, job_with_schedule(30));
        CHECK(distance(uncorrected.model(), serial_dense(n, {0.9, true}, 30)) < 1e-12);
        options.momentum_correction = true;
    }
}

TEST_CASE(
    "dgc: where all is sent, masking leaves no momentum, and it may come afterwards instead") {
    const LayoutPtr layout = make_layout({{"all", {564, 1}}});
    const auto job = [&] {
        Job weights = training_job(layout, 30);
        weights.learning_rate = rate_at;
        return weights;
    };
    DgcOptions afterwards = exact(everything, 0.9);
    afterwards.momentum_correction = false;

    DgcRun masked(4, exact(everything, 0.9), job());
    DgcRun uncorrected(4, afterwards, job());

    CHECK(distance(masked.model(), serial_dense(4, {0.0}, 30)) < 1e-12);
    CHECK(distance(uncorrected.model(), serial_dense(4, {0.9}, 30)) < 1e-12);
}

TEST_CASE("dgc: weight decay in the compressed path and outside are dense decay") {
    for (const double density : {1.0, everything})
        for (const DecayPlace place : {DecayPlace::compressed, DecayPlace::outside})
            for (const bool nesterov : {false, true})
                for (const bool correction : {false, true}) {
                    CAPTURE(density);
                    CAPTURE(static_cast<int>(place));
                    CAPTURE(nesterov);
                    DgcOptions options = everything_with_momentum();
                    options.density = density;
                    options.weight_decay = 0.1;
                    options.decay = place;
                    options.nesterov = nesterov;
                    options.momentum_correction = correction;

                    DgcRun run(3, options, job_with_schedule(30));

                    CHECK(distance(run.model(), serial_dense(3, {0.9, nesterov, 0.1}, 30)) < 1e-12);
                }
}

TEST_CASE("dgc: below density 1, decay in the compressed path waits with what is not sent") {
    const auto model_after_one_step = [](DecayPlace place) {
        DgcOptions options = exact(0.01, 0.9);
        options.weight_decay = 0.1;
        options.decay = place;
        DgcRun run(2, options, job_with_schedule(1));
        return run.model();
    };

    const Values inside = model_after_one_step(DecayPlace::compressed);
    const Values outside = model_after_one_step(DecayPlace::outside);

    // 5 and 1 entries per worker are sent; the others have not moved, or have only decayed.
    CHECK((inside.array() == 1).count() >= 564 - 14 - 12);
    CHECK(((outside.array() - (1 - 0.1 * 0.1)).abs() < 1e-15).count() >= 564 - 14 - 12);
    CHECK((outside.array() == 1).count() == 0);
}

TEST_CASE("dgc: in the compressed path each gradient is clipped at c sqrt(N)") {
    for (const int n : {1, 4}) {
        DgcOptions options = everything_with_momentum();
        options.clip = 1;

        DgcRun run(n, options, job_with_schedule(6));

        const Values clipped = serial_dense(n, {0.9, false, 0, std::sqrt(n)}, 6);
        CHECK(distance(run.model(), clipped) < 1e-12);
        CHECK(distance(clipped, serial_dense(n, {0.9}, 6)) > 1e-3);
    }
}

// Dense momentum SGD with heavy-ball momentum 0.9 and clipping of the mean, then DGC: the workers
// go on with the momentum of the dense stage, and nothing is accumulated yet.
Values serial_dense_then_dgc(int nodes, std::int64_t dense, std::int64_t steps) {
    SerialDgc serial(nodes, 0.03, 0.9);
    for (std::int64_t k = 0; k < dense; ++k) {
        Values g = Values::Zero(564);
        for (int i = 0; i < nodes; ++i) g += pull_to_own_target(serial.x, i, k) / nodes;
        serial.m = 0.9 * serial.m + g;
        serial.x -= rate_at(k) * serial.m;
    }
    for (Values& u : serial.u) u = serial.m;
    for (std::int64_t k = dense; k < steps; ++k) serial.step(k);
    return serial.x;
}

TEST_CASE("dgc: a warm-up at density 1 is dense momentum SGD, whose momentum the workers keep") {
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways)
            for (const int n : {1, 3, 4}) {
                CAPTURE(static_cast<int>(how.kind));
                CAPTURE(n);
                DgcOptions options = exact(0.03, 0.9);
                options.uncompressed = uncompressed;
                options.warm_up = {{1.0, 1.0}, 10, 1};

                DgcRun warm(n, options, job_with_schedule(20), how);
                DgcRun run(n, options, job_with_schedule(45), how);

                CHECK(distance(warm.model(), serial_dense(n, {0.9}, 20)) < 1e-12);
                CHECK(distance(run.model(), serial_dense_then_dgc(n, 20, 45)) < 1e-12);
            }
}

TEST_CASE("dgc: a warm-up at density 1 takes the steps of dense SGD, to the bit and the tick") {
    DgcOptions options = exact(0.03, 0.9);
    options.nesterov = true;
    options.clip = 1;
    options.weight_decay = 0.1;
    options.warm_up = {{1.0}, 1000, 1};
    for (const int n : {1, 3, 8}) {
        CAPTURE(n);
        DgcRun run(n, options, job_with_schedule(30));
        TrainingRun dense(n, link, job_with_schedule(30));
        dense.spawn_all([](Worker& self) {
            return synchronous_sgd(self, SynchronousSgdOptions{{}, {0.9, true, 0.1, 1}});
        });
        dense.simulation.run();

        CHECK(run.model() == dense.cluster.worker(0).replicated_model().values());
        CHECK(run.elapsed() == dense.elapsed());
        CHECK(run.sent_by_all() == dense.sent_by_all());
        CHECK(run.cluster.metrics().measured_density().steps == 0);
    }
}

TEST_CASE("dgc: a dense stage after a sparse one begins without momentum") {
    DgcOptions options = exact(1, 0.9);
    options.warm_up = {{0.03}, 5, 1};

    DgcRun run(3, options, job_with_schedule(12));

    SerialDgc serial(3, 0.03, 0.9);
    for (std::int64_t k = 0; k < 5; ++k) serial.step(k);
    for (const auto& [first, n] : {std::pair{0, 480}, std::pair{490, 70}})
        serial.m.segment(first, n).setZero();
    for (std::int64_t k = 5; k < 12; ++k) {
        Values g = Values::Zero(564);
        for (int i = 0; i < 3; ++i) g += pull_to_own_target(serial.x, i, k) / 3;
        serial.m = 0.9 * serial.m + g;
        serial.x -= rate_at(k) * serial.m;
    }
    CHECK(distance(run.model(), serial.x) < 1e-12);
}

// 32 workers send a quarter of their entries each: 6 bytes for each of them, 15 times the dense
// vector's bytes. The dense exchange is used, of the same values.
TEST_CASE("dgc: where sparse messages outweigh dense ones, a dense exchange carries the values") {
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways) {
            CAPTURE(static_cast<int>(how.kind));
            DgcOptions options = exact(0.25, 0.7);
            options.uncompressed = uncompressed;

            DgcRun run(32, options, job_with_schedule(6), how);

            SerialDgc serial(32, 0.25, 0.7);
            for (std::int64_t k = 0; k < 6; ++k) serial.step(k);
            const Duration selection = selection_time(options.selection, *mixed_layout(), 0.25);
            const Duration ring = ring_all_reduce_time(32, Bytes{4 * 564}, idle_star(link));
            CHECK(distance(run.model(), serial.x) < 1e-12);
            CHECK(run.elapsed() == 6 * (step_of_tests + selection + ring));
            CHECK(run.cluster.metrics().measured_density().contribution ==
                  doctest::Approx((120 + 18) / 550.0).epsilon(1e-12));
        }
}

// The nearest multiple of 2^(e-10), where 2^e is the largest power of two up to |x|, or 2^-14.
double nearest_half(double x) {
    if (x == 0) return 0;
    const double unit = std::exp2(std::max(-14.0, std::floor(std::log2(std::abs(x)))) - 10);
    return std::nearbyint(x / unit) * unit;
}

TEST_CASE("dgc: fp16 casts what is sent, in every tensor, and loses what the cast rounds off") {
    for (const Uncompressed uncompressed : ways) {
        DgcOptions options = exact(0.03, 0.9);
        options.format = {6, 2, true};
        options.uncompressed = uncompressed;

        DgcRun run(2, options, job_with_schedule(1), reduced_by_doubling);

        Values x = Values::Ones(564);
        SerialDgc serial(2, 0.03, 0.9);
        for (int i = 0; i < 2; ++i) {
            const Values g = pull_to_own_target(x, i, 0);
            Set sent;
            serial.select(g, 0, 480, sent);
            serial.select(g, 490, 70, sent);
            for (const std::int64_t p :
                 {480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 560, 561, 562, 563})
                sent.insert(p);
            for (const std::int64_t p : sent) serial.x(p) -= rate_at(0) * nearest_half(g(p)) / 2;
        }
        CHECK(distance(run.model(), serial.x) < 1e-12);
        CHECK(run.network.traffic(0).sent == Bytes{6 * (15 + 3) + 2 * 14});
    }
}

TEST_CASE("dgc: at density 1, fp16 casts the whole gradient and sends 2 bytes per entry") {
    DgcOptions options = exact(1, 0);
    options.format = {6, 2, true};

    DgcRun run(2, options, job_with_schedule(1));

    Values x = Values::Ones(564);
    for (int i = 0; i < 2; ++i)
        x -= rate_at(0) / 2 * pull_to_own_target(Values::Ones(564), i, 0).unaryExpr(&nearest_half);
    CHECK(distance(run.model(), x) < 1e-12);
    CHECK(run.network.traffic(0).sent == Bytes{2 * 564});
}

TEST_CASE("dgc: it is the serial algorithm of sorts and sums, for any exchange") {
    for (const int n : {1, 2, 3, 5, 8})
        for (const double momentum : {0.0, 0.7}) {
            SerialDgc serial(n, 0.03, momentum);
            for (std::int64_t k = 0; k < 40; ++k) serial.step(k);
            for (const AggregationPlan& how : aggregations)
                for (const Uncompressed uncompressed : ways) {
                    CAPTURE(static_cast<int>(how.kind));
                    CAPTURE(n);
                    CAPTURE(momentum);
                    DgcOptions options = exact(0.03, momentum);
                    options.uncompressed = uncompressed;

                    DgcRun run(n, options, job_with_schedule(40), how);

                    REQUIRE(distance(run.model(), serial.x) < 1e-12);
                }
        }
}

TEST_CASE("dgc: messages weigh what the unions of the supports do, and steps take their time") {
    for (const int n : {1, 2, 4, 8}) {
        CAPTURE(n);
        DgcOptions options = exact(0.03, 0.9);
        options.uncompressed = Uncompressed::in_messages;
        SerialDgc serial(n, 0.03, 0.9);

        const DgcRun run(n, options, job_with_schedule(6));

        const auto workers = static_cast<std::size_t>(n);
        std::vector<Duration> now(workers);
        std::vector<std::int64_t> bytes(workers);
        for (std::int64_t k = 0; k < 6; ++k) {
            serial.step(k);
            for (Duration& t : now)
                t += step_of_tests + selection_time(options.selection, *mixed_layout(), 0.03);
            for (std::size_t width = 1; width < workers; width *= 2) {
                const auto weight = [&](std::size_t i) {
                    const std::size_t first = i / width * width;
                    return union_of(serial.sent.back(), first, first + width) +
                           static_cast<std::int64_t>(width) * 4 * 14;
                };
                const std::vector<Duration> before = now;
                for (std::size_t i = 0; i < workers; ++i) {
                    const std::size_t other = i ^ width;
                    bytes[i] += weight(i);
                    now[i] = std::max(before[i], before[other]) +
                             std::max(Bytes{weight(i)} / link.capacity(),
                                      Bytes{weight(other)} / link.capacity() + 10us);
                }
            }
        }
        for (int i = 0; i < n; ++i)
            CHECK(run.network.traffic(i).sent == Bytes{bytes[static_cast<std::size_t>(i)]});
        CHECK(run.elapsed() == *std::ranges::max_element(now));
    }
}

TEST_CASE("dgc: the density of contributions and of their union is measured") {
    DgcOptions options = exact(0.03, 0.9);
    for (const AggregationPlan& how : aggregations)
        for (const int n : {1, 3, 8}) {
            CAPTURE(n);
            const DgcRun run(n, options, job_with_schedule(6), how);

            SerialDgc serial(n, 0.03, 0.9);
            double merged = 0;
            for (std::int64_t k = 0; k < 6; ++k) {
                serial.step(k);
                Set all;
                for (const Set& set : serial.sent.back()) all.insert(set.begin(), set.end());
                merged += static_cast<double>(all.size()) / 550 / 6;
            }
            const MeasuredDensity measured = run.cluster.metrics().measured_density();
            CHECK(measured.steps == 6);
            CHECK(measured.contribution == doctest::Approx((15 + 3) / 550.0).epsilon(1e-12));
            CHECK(measured.merged == doctest::Approx(merged).epsilon(1e-12));
        }
    CHECK(DgcRun(2, options, timing_job(mixed_layout(), 2))
              .cluster.metrics()
              .measured_density()
              .steps == 0);
}

TEST_CASE("dgc: warm-up also applies to values") {
    DgcOptions options = exact(0.01, 0.9);
    options.warm_up = {{0.5, 0.1}, 2, 1};

    const DgcRun run(1, options, job_with_schedule(5));

    // 480 and 70 entries send 240 + 35 twice, 48 + 7 twice, and 5 + 1 once.
    CHECK(run.cluster.metrics().measured_density().contribution ==
          doctest::Approx((2 * 275 + 2 * 55 + 6) / 550.0 / 5).epsilon(1e-12));
}

TEST_CASE("dgc: gathered messages weigh what each worker sends, biases included") {
    for (const AllGather how : {AllGather::ring, AllGather::bruck}) {
        DgcOptions options = exact(0.03, 0.9);
        options.uncompressed = Uncompressed::in_messages;

        const DgcRun run(5, options, job_with_schedule(4), sparse_aggregation(how));

        const Bytes one{6 * (15 + 3) + 4 * 14};
        const Duration gather = how == AllGather::ring
                                    ? ring_all_gather_time(5, one, idle_star(link))
                                    : bruck_all_gather_time(5, one, idle_star(link));
        const Duration selection = selection_time(options.selection, *mixed_layout(), 0.03);
        CHECK(run.network.traffic(2).sent == 4 * 4 * one);
        CHECK(run.elapsed() == 4 * (1ms + selection + gather));
    }
}

// Worker i sends i + 1 entries, starting at entry i.
Task<> exchange_once(Worker& self, std::optional<AllGather> gather, std::vector<Vector>& means) {
    SparseVector own{self.model().layout(), {}, {}};
    for (int i = 0; i <= self.rank(); ++i) {
        own.positions.push_back(self.rank() + i);
        own.values.push_back(std::exp(i + 10 * self.rank()));
    }
    means[static_cast<std::size_t>(self.rank())] =
        co_await self.sparse_all_reduce(std::move(own), {.gather = gather});
}

TEST_CASE("sparse all-reduce: blocks of different sizes all arrive, and all means are equal") {
    for (const std::optional<AllGather> gather :
         {std::optional<AllGather>(), std::optional(AllGather::ring),
          std::optional(AllGather::bruck)})
        for (const int n : {1, 2, 3, 6, 8}) {
            CAPTURE(gather == AllGather::bruck);
            CAPTURE(n);
            TrainingRun run(n, link, training_job(mixed_layout(), 1));
            std::vector<Vector> means(static_cast<std::size_t>(n), Vector(mixed_layout()));
            run.spawn_all([&](Worker& self) { return exchange_once(self, gather, means); });

            run.simulation.run();

            Values sum = Values::Zero(564);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j <= i; ++j) sum(i + j) += std::exp(j + 10 * i);
            const Values expected = sum * (1.0 / n);
            for (const Vector& mean : means) CHECK(mean.values() == expected);
            if (!gather) continue;
            for (int i = 0; i < n; ++i)
                CHECK(run.network.traffic(i).received == Bytes{6 * (n * (n + 1) / 2 - (i + 1))});
        }
}

TEST_CASE("dgc: a stand-in's messages and selection are those of the net it stands in for") {
    const LayoutPtr charged = make_layout({{"A", {1000, 10}}, {"B", {500}}, {"C", {100, 3}}});
    for (const Uncompressed uncompressed : ways) {
        Job job = job_with_schedule(3);
        job.charged = charged;
        DgcOptions options = exact(0.03, 0.9);
        options.uncompressed = uncompressed;

        DgcRun run(2, options, std::move(job), reduced_by_doubling);
        DgcRun own(2, options, job_with_schedule(3), reduced_by_doubling);

        // 3 % of 10,000 and 300 entries, though 18/550 of its own are sent; all 500 biases.
        const Bytes each{6 * (300 + 9) + 4 * 500};
        CHECK(run.network.traffic(0).sent == 3 * each);
        CHECK(run.cluster.state(0).compute_time ==
              3 * (1ms + selection_time(options.selection, *charged, 0.03)));
        CHECK(run.model() == own.model());
    }
}

TEST_CASE("dgc: a stand-in for a net without biases sends none of its own") {
    Job job = job_with_schedule(3);
    job.charged = make_layout({{"A", {1000, 10}}});

    DgcRun run(2, exact(0.03, 0.9), std::move(job));
    DgcRun own(2, exact(0.03, 0.9), job_with_schedule(3));

    CHECK(run.network.traffic(0).sent == 3 * Bytes{6 * 300});
    CHECK(run.model() == own.model());
}

// The scenario refuses such a model. A piece of one may have nothing to select from (a bucket of
// biases).
TEST_CASE("dgc: a stand-in without tensors that are compressed averages all, at what is charged") {
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways)
            for (const int n : {1, 2, 3, 8}) {
                CAPTURE(static_cast<int>(how.kind));
                CAPTURE(static_cast<int>(uncompressed));
                CAPTURE(n);
                DgcOptions options = exact(0.03, 0.9);
                options.uncompressed = uncompressed;
                Job job = training_job(make_layout({{"b", {10}}}), 6);
                job.learning_rate = rate_at;
                job.charged = mixed_layout();

                DgcRun run(n, options, std::move(job), how);
                const DgcRun charged(n, options, timing_job(mixed_layout(), 6), how);

                Values x = Values::Ones(10);
                Values m = Values::Zero(10);
                for (std::int64_t k = 0; k < 6; ++k) {
                    m *= 0.9;
                    for (int i = 0; i < n; ++i) m += pull_to_own_target(x, i, k) / n;
                    x -= rate_at(k) * m;
                }
                CHECK(distance(run.model(), x) < 1e-12);
                CHECK(run.elapsed() == charged.elapsed());
                CHECK(run.sent_by_all() == charged.sent_by_all());
            }
}

TEST_CASE("dgc: a gradient that is not finite ends the run before anything is selected") {
    Job job = job_with_schedule(6);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        Values g = pull_to_own_target(x.values(), rank, k);
        if (rank == 1 && k == 2) g(100) = std::numeric_limits<double>::infinity();
        return g;
    };

    CHECK_THROWS_AS(DgcRun(4, exact(0.03, 0.9), std::move(job)), Diverged);
}

TEST_CASE("dgc: the same seed gives the same bits, and samples begin where the seed says") {
    const auto model = [](std::uint64_t seed) {
        Job job = training_job(make_layout({{"a", {300, 200}}}), 10);
        job.seed = seed;
        DgcOptions options;
        options.density = 0.01;
        DgcRun run(3, options, std::move(job));
        return run.model();
    };

    CHECK(model(1) == model(1));
    CHECK(model(1) != model(2));
}

TEST_CASE("dgc, property: a run that learns can be dropped at any time") {
    int unfinished = 0;
    for (std::int64_t i = 0; i < 120; ++i) {
        CAPTURE(i);
        TrainingRun run(1 + static_cast<int>(i % 7), link, job_with_schedule(20));
        const ExchangeOptions exchange =
            sparse_exchange(exact(0.03, 0.9), aggregations[static_cast<std::size_t>(i % 3)]);
        run.spawn_all([&](Worker& self) { return dgc(self, {exchange}); });
        run.simulation.run(Time{Duration{i * 170'000'000}});
        unfinished += run.processes.finished() ? 0 : 1;

        run.processes.drop();
        const RunEnd end = run.simulation.run();

        REQUIRE(end == RunEnd::idle);
        REQUIRE(run.simulation.waiting().empty());
        REQUIRE(run.network.flows_in_flight() == 0);
    }
    CHECK(unfinished > 50);
}

}  // namespace
}  // namespace paceline::dgc_values_test
