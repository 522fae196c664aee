// A worker's batches: which samples of its shard each of its steps reads.
//
//   passes             the shard in a random order, then in another, ...: in every pass each sample
//                      exactly once; a batch may run over the end of a pass into the next
//   with_replacement   every draw is uniform over the shard, whatever was drawn before
//
// The batches depend on the shard, the sizes and the stream only. A batch may be larger than the
// shard. Nothing is allocated after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/random.hpp"

namespace paceline {

enum class Sampling : std::uint8_t { passes, with_replacement };

class BatchSampler {
  public:
    /// Requires a sample or more in the shard, and batch >= 1.
    BatchSampler(std::vector<int> shard, int batch, Sampling sampling, RandomStream stream);

    /// The next batch; what it returns holds until the next call.
    [[nodiscard]] std::span<const int> next();

  private:
    int draw();

    std::vector<int> shard_;  // of a pass, the first position_ entries are drawn, in this order
    std::vector<int> batch_;
    std::size_t position_ = 0;
    Sampling sampling_;
    RandomStream stream_;
};

}  // namespace paceline
