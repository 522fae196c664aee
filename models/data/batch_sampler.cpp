#include "models/data/batch_sampler.hpp"

#include <utility>

#include <boost/random/uniform_int_distribution.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

BatchSampler::BatchSampler(std::vector<int> shard, int batch, Sampling sampling,
                           RandomStream stream)
    : shard_(std::move(shard)), sampling_(sampling), stream_(stream) {
    PACELINE_CHECK(!shard_.empty(), "a worker has a sample or more");
    PACELINE_CHECK(batch >= 1, "a batch has a sample or more");
    batch_.resize(static_cast<std::size_t>(batch));
}

std::span<const int> BatchSampler::next() {
    for (int& sample : batch_) sample = draw();
    return batch_;
}

int BatchSampler::draw() {
    const std::size_t first = sampling_ == Sampling::passes ? position_ : 0;
    boost::random::uniform_int_distribution<std::size_t> choice(first, shard_.size() - 1);
    const std::size_t chosen = choice(stream_);
    if (sampling_ == Sampling::with_replacement) return shard_[chosen];
    // One step of the Fisher-Yates shuffle: the new order is uniform, whatever order the last pass
    // left.
    std::swap(shard_[position_], shard_[chosen]);
    const int sample = shard_[position_];
    position_ = (position_ + 1) % shard_.size();
    return sample;
}

}  // namespace paceline
