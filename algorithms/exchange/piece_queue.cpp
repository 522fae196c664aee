#include "algorithms/exchange/piece_queue.hpp"

#include <iterator>

#include "algorithms/rounds/common_order.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

PieceQueue::PieceQueue(Worker& self, Order order, int stream)
    : order_(order == Order::priority ? self.common_order(stream) : nullptr),
      decides_(self.rank() == 0) {}

Task<std::size_t> PieceQueue::take() {
    if (is_in_order()) co_return co_await next();
    if (decides_) co_return co_await take_first_needed();
    co_return co_await take_as_decided();
}

Task<std::size_t> PieceQueue::take_first_needed() {
    while (ready_.empty() || arrived_.size() > 0) {
        const std::size_t piece = co_await arrived_.get();
        ready_.insert(piece);
    }
    const std::size_t first_needed = *std::prev(ready_.end());
    ready_.erase(first_needed);
    order_->append(first_needed);
    co_return first_needed;
}

Task<std::size_t> PieceQueue::take_as_decided() {
    co_await order_->decided(taken_);
    const std::size_t piece = order_->at(taken_);
    ++taken_;
    while (!ready_.contains(piece)) {
        const std::size_t other = co_await arrived_.get();
        ready_.insert(other);
    }
    ready_.erase(piece);
    co_return piece;
}

}  // namespace paceline
