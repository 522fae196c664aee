#include "models/data/batch_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::batch_sampler_test {
namespace {

std::vector<int> shard_of(int samples) {
    std::vector<int> shard(static_cast<std::size_t>(samples));
    std::iota(shard.begin(), shard.end(), 100);
    return shard;
}

std::vector<int> draw(BatchSampler& sampler, int batches) {
    std::vector<int> drawn;
    for (int k = 0; k < batches; ++k) {
        const std::span<const int> batch = sampler.next();
        drawn.insert(drawn.end(), batch.begin(), batch.end());
    }
    return drawn;
}

RandomStream stream(std::uint64_t seed) {
    return RandomStreams(seed).stream("batch", 3);
}

TEST_CASE("batch sampler, property: in every pass each sample is drawn exactly once") {
    for (int samples = 1; samples < 12; ++samples)
        for (int batch = 1; batch < 30; batch += 4) {
            CAPTURE(samples);
            CAPTURE(batch);
            BatchSampler sampler(shard_of(samples), batch, Sampling::passes, stream(1));
            const std::vector<int> drawn = draw(sampler, 2 * samples);
            for (int pass = 0; pass < 2 * batch; ++pass) {
                std::vector<int> one(drawn.begin() + std::ptrdiff_t{pass} * samples,
                                     drawn.begin() + std::ptrdiff_t{pass + 1} * samples);
                std::sort(one.begin(), one.end());
                CHECK(one == shard_of(samples));
            }
        }
}

TEST_CASE("batch sampler: every order of a pass is equally likely, whatever the pass before") {
    BatchSampler sampler(shard_of(3), 3, Sampling::passes, stream(2));
    std::map<std::vector<int>, int> orders;
    std::map<std::vector<int>, int> pairs;  // the last sample of a pass and the first of the next
    int last = 0;
    for (int pass = 0; pass < 6000; ++pass) {
        const std::vector<int> order = draw(sampler, 1);
        ++orders[order];
        if (pass > 0) ++pairs[{last, order.front()}];
        last = order.back();
    }

    CHECK(orders.size() == 6);
    for (const auto& [order, times] : orders)
        CHECK(std::abs(times - 1000) < 5 * std::sqrt(6000 * 5 / 36.0));
    CHECK(pairs.size() == 9);
    for (const auto& [pair, times] : pairs)
        CHECK(std::abs(times - 5999 / 9.0) < 5 * std::sqrt(6000 * 8 / 81.0));
}

TEST_CASE("batch sampler: draws with replacement are uniform and repeat") {
    BatchSampler sampler(shard_of(4), 2, Sampling::with_replacement, stream(3));
    std::map<std::vector<int>, int> pairs;
    for (int k = 0; k < 16000; ++k) ++pairs[draw(sampler, 1)];

    CHECK(pairs.size() == 16);  // including the four pairs of a sample with itself
    for (const auto& [pair, times] : pairs)
        CHECK(std::abs(times - 1000) < 5 * std::sqrt(16000 * 15 / 256.0));
}

TEST_CASE("batch sampler: a batch may be larger than the shard") {
    for (const Sampling sampling : {Sampling::passes, Sampling::with_replacement}) {
        BatchSampler sampler({5, 6}, 7, sampling, stream(4));
        const std::span<const int> batch = sampler.next();
        CHECK(batch.size() == 7);
        for (const int sample : batch) CHECK((sample == 5 || sample == 6));
    }
}

TEST_CASE("batch sampler: passes do not depend on where batches end") {
    BatchSampler small(shard_of(10), 3, Sampling::passes, stream(5));
    BatchSampler large(shard_of(10), 6, Sampling::passes, stream(5));
    CHECK(draw(small, 20) == draw(large, 10));
}

TEST_CASE("batch sampler: a stream gives the same batches, and another others") {
    for (const Sampling sampling : {Sampling::passes, Sampling::with_replacement}) {
        BatchSampler one(shard_of(50), 8, sampling, stream(6));
        BatchSampler same(shard_of(50), 8, sampling, stream(6));
        BatchSampler other(shard_of(50), 8, sampling, stream(7));
        const std::vector<int> drawn = draw(one, 20);
        CHECK(drawn == draw(same, 20));
        CHECK(drawn != draw(other, 20));
    }
}

TEST_CASE("batch sampler: an empty shard or batch is refused") {
    CHECK_THROWS_AS(BatchSampler({}, 1, Sampling::passes, stream(1)), LogicError);
    CHECK_THROWS_AS(BatchSampler({1}, 0, Sampling::passes, stream(1)), LogicError);
}

}  // namespace
}  // namespace paceline::batch_sampler_test
