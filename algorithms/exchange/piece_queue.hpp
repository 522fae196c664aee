#pragma once
#include <cstddef>
#include <cstdint>

#include "algorithms/exchange/schedule.hpp"
#include "sim/engine/channel.hpp"

namespace paceline {
class Worker;
class PieceQueue {
  public:
    PieceQueue(Worker& /*self*/, Order /*order*/, int /*stream*/, std::int64_t /*step*/) {}
    void put(std::size_t piece) { ready_.put(piece); }
    [[nodiscard]] auto take() { return ready_.get(); }

  private:
    Channel<std::size_t> ready_;
};
}  // namespace paceline
