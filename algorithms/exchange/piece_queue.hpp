// Which piece a communication stream carries next.
//
// Pieces are put when they are encoded, and taken one by one when the stream is free.
//
//   first-in first-out   the piece that was put first
//   by priority          on worker 0: of the pieces that are there, the one with the highest
//                        number. Pieces are numbered in the order of backward, so this is the one
//                        that the next forward pass needs first. All other workers take what worker
//                        0 has taken, in the same order, and wait for it if they do not have it yet
//
// A piece that travels is not interrupted. All workers take all pieces in one order, so they cannot
// wait for each other in a circle. Knowing the order of worker 0 costs no message and no time
// (rounds/common_order.hpp): another worker may begin to send a piece at the instant in which
// worker 0 takes it, however far away it is.
//
// Source: Peng et al., "ByteScheduler", SOSP 2019 (priority queues; one order for all workers of an
// all-reduce, decided by a master).
#pragma once

#include <cstddef>
#include <memory>
#include <set>

#include "algorithms/exchange/piece_schedule.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class CommonOrder;
class Worker;

/// The queue of one worker's stream, for the pieces of one exchange.
class PieceQueue {
  public:
    /// All workers make the queues of a stream in the same order. Requires a job whose nodes do not
    /// fail on their own if the order is by priority.
    PieceQueue(Worker& self, Order order, int stream);

    void put(std::size_t piece) { arrived_.put(piece); }
    /// Waits for the next piece of this stream and takes it out. Call it once at a time.
    Task<std::size_t> take();
    /// Returns whether pieces leave in the order in which they were put. Then next() does what
    /// take() does, without a frame.
    [[nodiscard]] bool is_in_order() const { return order_ == nullptr; }
    [[nodiscard]] Channel<std::size_t>::Get next() { return arrived_.get(); }

  private:
    Task<std::size_t> take_first_needed();
    Task<std::size_t> take_as_decided();

    std::shared_ptr<CommonOrder> order_;  // null: first-in first-out
    bool decides_;                        // this is worker 0
    Channel<std::size_t> arrived_;
    std::set<std::size_t> ready_;  // arrived and not taken; unused by first-in first-out
    std::size_t taken_ = 0;
};

}  // namespace paceline
