// Laws that every compressing method obeys: closed forms of the step time, a clock that does not
// depend on values, repeatable runs, and runs that can be dropped.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compressed/ef_sign_sgd.hpp"
#include "algorithms/compressed/power_sgd.hpp"
#include "algorithms/compressed/sign_sgd.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/choco_forms.hpp"
#include "tests/algorithms/compressed/choco_options.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::compressed_family_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

struct Method {
    std::string name;
    std::function<Task<>(Worker&)> run;
    std::function<std::optional<Duration>(std::int64_t k, const StepModelInput&)> step;
};

// T1 + update + E + X + D of whole messages, where V is what the bits of all tensors fill, in
// bytes. E: the compressor's passes and `passes` more; X: an all-reduce of V and D of one message,
// or an all-gather of blocks of V and D of n.
std::optional<Duration> compressed_step(const ExchangeOptions& exchange, std::int64_t passes,
                                        const StepModelInput& in) {
    const auto& compressor = std::get<Compressor>(exchange.codec.coder);
    std::int64_t bits = 0;
    std::int64_t held = 0;
    for (const Tensor& tensor : in.layout->tensors()) {
        bits += compressor.bits(tensor);
        held += compressor.held(tensor);
    }
    const Bytes size{(bits + 7) / 8};
    const bool adds_up = compressor.combining == Combining::summable;
    const std::int64_t encoded =
        compressor.encode + passes + (exchange.codec.error_feedback ? 2 : 0);
    const std::int64_t decoded = compressor.decode * (adds_up ? 1 : in.workers);
    const Duration pass = exchange.codec.coding.per_entry;
    const std::optional<Duration> travel =
        adds_up ? all_reduce_time(exchange.aggregation.all_reduce, in.workers, size, in.network)
                : all_gather_time(exchange.aggregation.all_gather, in.workers, size, in.network);
    return in.timing.step + in.update + encoded * in.layout->entries() * pass + *travel +
           decoded * held * pass;
}

// Two all-reduces, of 4 (sum r a + 1-D) bytes and of 4 sum r c, and five passes. Tensors are a x c,
// and r = min(rank, a, c).
std::optional<Duration> low_rank_step(const ExchangeOptions& exchange, const StepModelInput& in) {
    const std::int64_t rank = std::get<LowRankCodec>(exchange.codec.coder).rank;
    Bytes left;
    Bytes right;
    for (const Tensor& tensor : in.layout->tensors()) {
        const std::int64_t rows = tensor.shape.front();
        const std::int64_t columns = tensor.entries() / rows;
        const std::int64_t r = std::min({rank, rows, columns});
        left += Bytes{4 * (tensor.shape.size() == 1 ? rows : r * rows)};
        right += Bytes{4 * (tensor.shape.size() == 1 ? 0 : r * columns)};
    }
    const AllReducePlan& how = exchange.aggregation.all_reduce;
    return in.timing.step + in.update + 5 * in.layout->entries() * exchange.codec.coding.per_entry +
           *all_reduce_time(how, in.workers, left, in.network) +
           *all_reduce_time(how, in.workers, right, in.network);
}

Method compressed(Compressor compressor, bool feedback, AllReducePlan all_reduce,
                  AllGather all_gather) {
    const std::string name = "compressed-sgd " + compressor.name;
    const ExchangeOptions exchange = compressed_exchange(std::move(compressor), feedback,
                                                         {Duration{90}}, all_reduce, all_gather);
    return {
        name,
        [=](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{exchange, {0.9}}); },
        [=](std::int64_t, const StepModelInput& in) { return compressed_step(exchange, 0, in); }};
}

Method choco(const Compressor& compressor, const Mixing& mixing) {
    const ChocoSgdOptions options = choco_options(compressor, 0.3, {Duration{90}});
    return {"choco-sgd " + compressor.name, [=](Worker& self) { return choco_sgd(self, options); },
            [=](std::int64_t k, const StepModelInput& in) {
                return choco_sgd_step_time(options, mixing, k, in);
            }};
}

std::vector<Method> methods(int n) {
    Compressor votes = make_sign();
    votes.majority = true;
    const SignSgdOptions sign{
        0.9, compressed_exchange(votes, false, {Duration{90}}, {}, AllGather::bruck)};
    const EfSignSgdOptions ef_sign{compressed_exchange(make_scaled_sign(), true, {Duration{90}})};
    const PowerSgdOptions power{low_rank_exchange(2, AllReduce::halving_doubling, {Duration{90}}),
                                {}};
    const Mixing ring = make_ring_mixing(n);
    return {
        compressed(make_top_k(0.1), true, AllReduce::ring, AllGather::ring),
        compressed(make_random_k(0.1, false), true, AllReduce::halving_doubling, AllGather::ring),
        compressed(make_random_block(0.1, true), false, AllReduce::ring, AllGather::ring),
        compressed(make_qsgd({7, 5}), false, AllReduce::ring, AllGather::bruck),
        compressed(make_terngrad(), false, AllReduce::ring, AllGather::ring),
        compressed(make_natural(), false, AllReduce::ring, AllGather::bruck),
        compressed(make_half(), false, AllReduce::recursive_doubling, AllGather::ring),
        {"sign-sgd", [=](Worker& self) { return sign_sgd(self, sign); },
         [=](std::int64_t, const StepModelInput& in) {
             return compressed_step(sign.exchange, 1, in);
         }},
        {"ef-sign-sgd", [=](Worker& self) { return ef_sign_sgd(self, ef_sign); },
         [=](std::int64_t, const StepModelInput& in) {
             return compressed_step(ef_sign.exchange, 0, in);
         }},
        {"power-sgd", [=](Worker& self) { return power_sgd(self, power); },
         [=](std::int64_t, const StepModelInput& in) { return low_rank_step(power.exchange, in); }},
        choco(make_top_k(0.1), ring),
        choco(make_random_k(0.1, false), ring),
        choco(make_qsgd({7, 5}), ring)};
}

// A tenth of each tensor, rounded down, is 204 entries: 816 bytes, which rings of 16 divide evenly.
LayoutPtr odd_layout() {
    return make_layout({{"a", {61, 7, 3}}, {"b", {61}}, {"c", {13, 51}}, {"d", {13}}, {"e", {31}}});
}

Job on_ring(Job job, int nodes) {
    job.mixing = std::make_shared<const Mixing>(make_ring_mixing(nodes));
    job.update = 30us;
    return job;
}

struct MethodRun : TrainingRun {
    MethodRun(int n, const Method& method, Job job) : TrainingRun(n, link, on_ring(job, n)) {
        spawn_all(method.run);
    }
    MethodRun& finish() {
        simulation.run();
        REQUIRE(processes.finished());
        return *this;
    }
};

StepModelInput input(int n, const LayoutPtr& layout) {
    StepModelInput in = on_star(n, idle_star(link), step_of_tests, layout);
    in.update = 30us;
    return in;
}

TEST_CASE("compressed family: the first step takes the step model, for any number of nodes") {
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);

            MethodRun run(n, method, timing_job(odd_layout(), 1));

            CHECK(run.finish().elapsed() == *method.step(0, input(n, odd_layout())));
        }
}

TEST_CASE("compressed family: many steps take the step models, to 1e-9") {
    for (const int n : {1, 2, 4, 8, 16})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);

            MethodRun run(n, method, timing_job(odd_layout(), 6));

            const StepModelInput in = input(n, odd_layout());
            const double expected =
                to_seconds(*method.step(0, in)) + 5 * to_seconds(*method.step(1, in));
            CHECK(to_seconds(run.finish().elapsed()) == doctest::Approx(expected).epsilon(1e-9));
        }
}

TEST_CASE("compressed family: steps of other numbers of nodes take the step models at most") {
    for (const int n : {3, 5, 6, 7, 9})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);

            MethodRun run(n, method, timing_job(odd_layout(), 4));

            const StepModelInput in = input(n, odd_layout());
            CHECK(run.finish().elapsed() <= *method.step(0, in) + 3 * *method.step(1, in));
            CHECK(run.elapsed() > 4 * (step_of_tests + 30us));
        }
}

TEST_CASE("compressed family: the step models of a degree that differs are not known") {
    const ChocoSgdOptions options = choco_options(make_top_k(0.1), 0.3);
    CHECK(!choco_sgd_step_time(options, make_star_mixing(6), 1, input(6, odd_layout())));
    CHECK(choco_sgd_step_time(options, make_ring_mixing(6), 1, input(6, odd_layout())));
}

struct Ended {
    Duration at;
    std::uint64_t events;
    std::vector<std::int64_t> sent;
    std::vector<Eigen::VectorXd> models;

    bool operator==(const Ended&) const = default;
};

Ended state_of(TrainingRun& run) {
    Ended ended{run.elapsed(), run.simulation.events_fired(), {}, {}};
    for (int i = 0; i < run.cluster.workers(); ++i) {
        ended.sent.push_back(run.network.traffic(i).sent.count);
        const Vector& model = run.cluster.worker(i).current_model();
        if (model.has_values()) ended.models.push_back(model.values());
    }
    return ended;
}

TEST_CASE("compressed family: without values it takes the time and traffic of runs with them") {
    for (const int n : {1, 2, 5, 8})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);
            MethodRun timed(n, method, timing_job(odd_layout(), 4));
            MethodRun trained(n, method, training_job(odd_layout(), 4));

            const Ended without = state_of(timed.finish());
            const Ended with = state_of(trained.finish());

            CHECK(without.at == with.at);
            CHECK(without.events == with.events);
            CHECK(without.sent == with.sent);
            CHECK(with.models.size() == static_cast<std::size_t>(n));
        }
}

TEST_CASE("compressed family: a stand-in takes the time and traffic of the net that is charged") {
    for (const int n : {1, 4, 5})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);
            Job job = training_job(small_layout(), 4);
            job.charged = odd_layout();
            MethodRun timed(n, method, timing_job(odd_layout(), 4));
            MethodRun stand_in(n, method, std::move(job));

            const Ended charged = state_of(timed.finish());
            const Ended trained = state_of(stand_in.finish());

            CHECK(charged.at == trained.at);
            CHECK(charged.sent == trained.sent);
        }
}

TEST_CASE("compressed family: a run that is repeated is the same to the last bit") {
    for (const int n : {1, 4, 5})
        for (const Method& method : methods(n)) {
            CAPTURE(n);
            CAPTURE(method.name);
            MethodRun first(n, method, training_job(small_layout(), 8));
            MethodRun second(n, method, training_job(small_layout(), 8));

            CHECK(state_of(first.finish()) == state_of(second.finish()));
        }
}

TEST_CASE("compressed family: random compressors depend on the seed, the others do not") {
    for (const Method& method : methods(4)) {
        CAPTURE(method.name);
        Job other = training_job(small_layout(), 8);
        other.seed = 2;
        MethodRun first(4, method, training_job(small_layout(), 8));
        MethodRun second(4, method, std::move(other));
        bool draws = method.name == "power-sgd";
        for (const char* name : {"random", "qsgd", "terngrad", "natural"})
            draws = draws || method.name.find(name) != std::string::npos;

        CHECK((state_of(first.finish()) == state_of(second.finish())) == !draws);
    }
}

TEST_CASE("compressed family: dropped at any time, a run leaves only messages in flight") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const Method& method : methods(5)) {
            CAPTURE(seed);
            CAPTURE(method.name);
            MethodRun run(
                5, method,
                seed % 2 == 0 ? timing_job(odd_layout(), 9) : training_job(small_layout(), 9));
            run.simulation.run(Time{Duration{(seed * 523'456'789LL) % 10'000'000'000}});
            unfinished += run.processes.finished() ? 0 : 1;

            run.processes.drop();
            const RunEnd end = run.simulation.run();

            REQUIRE(end == RunEnd::idle);
            REQUIRE(run.simulation.waiting().empty());
            REQUIRE(run.network.flows_in_flight() == 0);
        }
    CHECK(unfinished > 100);
}

}  // namespace
}  // namespace paceline::compressed_family_test
