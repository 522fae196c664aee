#include "algorithms/coders/one_bit_coder.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/one_bit.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_coder_test {
namespace {

using Results = std::shared_ptr<std::vector<Vector>>;  // of the first worker, step by step

Task<> exchange_gradients(Worker& self, ExchangeOptions options, Results results) {
    const Vector x = self.model();
    VectorExchange exchange(self, std::move(options));
    while (self.begins_step()) {
        const Vector mean = co_await exchange.mean_gradient(x);
        if (self.rank() == 0) results->push_back(mean);
    }
}

struct OneBitRun : TrainingRun {
    Results results = std::make_shared<std::vector<Vector>>();

    OneBitRun(int nodes, Job job, const ExchangeOptions& options)
        : TrainingRun(nodes, adaptive_link, std::move(job)) {
        spawn_all([&](Worker& w) { return exchange_gradients(w, options, results); });
        simulation.run();
        REQUIRE(processes.finished());
    }
};

ExchangeOptions leaving_out(std::vector<TensorChoice> choices, bool fused, CodingCost coding = {}) {
    ExchangeOptions options = one_bit_exchange(fused, coding);
    options.codec.leave_out = std::move(choices);
    return options;
}

// What is left out of small_layout, the tensors that are encoded, and the places of their entries.
struct Choice {
    std::vector<TensorChoice> leave_out;
    std::vector<Tensor> encoded;
    std::vector<Eigen::Index> places;
};

std::vector<Eigen::Index> from_to(
    const std::vector<std::pair<Eigen::Index, Eigen::Index>>& ranges) {
    std::vector<Eigen::Index> all;
    for (const auto& [begin, end] : ranges)
        for (Eigen::Index e = begin; e < end; ++e) all.push_back(e);
    return all;
}

std::vector<Choice> choices() {
    return {{{"fc"}, {{"a", {12}}, {"b", {4}}}, from_to({{0, 16}})},
            {{"conv.weight"}, {{"b", {4}}, {"c", {8}}, {"d", {2}}}, from_to({{12, 26}})},
            {{"conv.bias", -1}, {{"a", {12}}, {"c", {8}}}, from_to({{0, 12}, {16, 24}})},
            {{}, small_layout()->tensors(), from_to({{0, 26}})},
            {{"conv", "fc"}, {}, {}}};
}

TEST_CASE("one-bit codec: what is left out is the exact mean, the rest as if it were alone") {
    for (const bool fused : {true, false})
        for (const int n : {1, 2, 3, 8})
            for (const Choice& choice : choices()) {
                CAPTURE(fused);
                CAPTURE(n);
                CAPTURE(choice.places.size());
                const OneBitRun run(n, training_job(small_layout(), 5),
                                    leaving_out(choice.leave_out, fused));
                OneBitModelOracle oracle(n, make_layout(choice.encoded), fused);

                REQUIRE(run.results->size() == 5);
                for (std::int64_t k = 0; k < 5; ++k) {
                    const auto g = own_gradients(n, Eigen::VectorXd::Ones(26), k);
                    Eigen::VectorXd expected = mean_of(g);
                    if (!choice.places.empty()) {
                        std::vector<Eigen::VectorXd> parts;
                        for (const Eigen::VectorXd& one : g) parts.emplace_back(one(choice.places));
                        expected(choice.places) = oracle(parts);
                    }
                    const Vector& found = (*run.results)[static_cast<std::size_t>(k)];
                    CHECK((found.values() - expected).cwiseAbs().maxCoeff() < 1e-12);
                }
            }
}

// 3072 + 65 entries are encoded, 2000 are not.
LayoutPtr three_tensors() {
    return make_layout({{"a.weight", {64, 48}}, {"last.weight", {50, 40}}, {"b.bias", {65}}});
}

TEST_CASE("one-bit codec: tensors that are left out add a ring of 32 bits an entry") {
    for (const int n : {1, 2, 4, 5, 8}) {
        CAPTURE(n);
        const OneBitRun run(n, timing_job(three_tensors(), 3), leaving_out({"last"}, true));

        const std::int64_t signs = one_bit_padded(3137, n) / (8 * n) + 4;
        for (int rank = 0; rank < n; ++rank)
            CHECK(run.network.traffic(rank).sent == Bytes{3 * 2 * (n - 1) * (signs + 8000 / n)});
    }
}

TEST_CASE("one-bit codec: tensors that are left out take no coding") {
    for (const int n : {1, 4, 8}) {
        CAPTURE(n);
        const OneBitRun free(n, timing_job(three_tensors(), 1),
                             leaving_out({"last"}, true, {Duration{0}}));
        const OneBitRun run(n, timing_job(three_tensors(), 1),
                            leaving_out({"last"}, true, {Duration{100}}));

        const std::int64_t p = one_bit_padded(3137, n);
        CHECK(run.elapsed() - free.elapsed() == (4 * p + 2 * p / n) * Duration{100});
    }
}

TEST_CASE("one-bit codec: with everything left out it is dense SGD's all-reduce") {
    for (const bool fused : {true, false})
        for (const int n : {1, 2, 4}) {
            CAPTURE(fused);
            CAPTURE(n);
            const OneBitRun run(n, timing_job(three_tensors(), 2),
                                leaving_out({0, 1, 2}, fused, {Duration{100}}));
            const OneBitRun dense(n, timing_job(three_tensors(), 2),
                                  dense_exchange(AllReduce::ring));

            CHECK(run.elapsed() == dense.elapsed());
            CHECK(run.sent_by_all() == dense.sent_by_all());
        }
}

TEST_CASE("one-bit codec: values do not change the clock, whichever net a name is of") {
    const LayoutPtr charged = make_layout({{"big", {512, 9}}, {"head", {512}}});
    const std::vector<std::vector<TensorChoice>> named{{"head"},       {"fc"}, {"fc", "head"},
                                                       {"conv", "fc"}, {-1},   {"big", -1}};
    for (const std::vector<TensorChoice>& leave_out : named)
        for (const int n : {1, 3, 4}) {
            CAPTURE(leave_out.size());
            CAPTURE(n);
            Job job = adaptive_job(3);
            job.charged = charged;
            const OneBitRun stands_in(n, std::move(job), leaving_out(leave_out, true));
            const OneBitRun timed(n, timing_job(charged, 3), leaving_out(leave_out, true));

            CHECK(stands_in.elapsed() == timed.elapsed());
            CHECK(stands_in.network.traffic(0).sent == timed.network.traffic(0).sent);
            CHECK(stands_in.results->back().values().size() == 26);
        }
}

}  // namespace
}  // namespace paceline::one_bit_coder_test
