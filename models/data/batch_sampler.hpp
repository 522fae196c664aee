// A worker's batches: which samples of its shard each of its steps reads.
//
//   passes             traverses the shard in a random order, then in another, ...: each pass has
//                      every sample exactly once; a batch may extend into the next pass
//   with_replacement   each draw is uniform over the shard, independent of earlier draws
//
// The batches depend only on the shard, the sizes and the stream. A batch may be larger than the
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
    /// Requires at least one sample in the shard, and batch >= 1.
    BatchSampler(std::vector<int> shard, int batch, Sampling sampling, RandomStream stream);

    /// Returns the next batch, which stays valid until the next call.
    [[nodiscard]] std::span<const int> next();

  private:
    int draw();

    std::vector<int> shard_;  // the first position_ entries are this pass's draws so far
    std::vector<int> batch_;
    std::size_t position_ = 0;
    Sampling sampling_;
    RandomStream stream_;
};

}  // namespace paceline
