#include "algorithms/runtime/backward.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker_state.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Returns the tensors of a bucket as a layout of their own.
LayoutPtr layout_of(const Layout& layout, const Bucket& bucket) {
    const auto first = layout.tensors().begin() + static_cast<std::ptrdiff_t>(bucket.first);
    return std::make_shared<const Layout>(
        std::vector<Tensor>(first, first + static_cast<std::ptrdiff_t>(bucket.count)));
}

// Scales `offset` from the layout to a vector of `entries`, keeping its share of the total.
std::int64_t same_share(std::int64_t entries, std::int64_t offset, const Layout& of) {
    const double share = static_cast<double>(offset) / static_cast<double>(of.entries());
    return std::llround(share * static_cast<double>(entries));
}

}  // namespace

// State shared by the steps of a backward pass. It outlives the Backward object, which an algorithm
// may move.
struct Backward::Gradient {
    Gradient(SharedState& shared, WorkerState& own, Vector at)
        : x(std::move(at)),
          whole(x.layout()),
          number(own.gradients),
          computing(std::in_place, shared.observer(), shared.host(own.rank),
                    Work{Work::Kind::gradient, number}) {
        if (x.has_values())
            piece.emplace(shared.local_work, [this, &shared, rank = own.rank] {
                whole = evaluate_gradient(shared, rank, x, number);
            });
    }

    Vector x;  // snapshot
    Vector whole;
    std::int64_t number;
    std::optional<LocalWork::Piece> piece;  // only if there are values
    std::optional<Computing> computing;     // until the last bucket is complete
};

Backward::Backward(SharedState& shared, WorkerState& own, Vector x)
    : shared_(&shared),
      own_(&own),
      buckets_(&shared.job.timing.buckets),
      charged_(shared.job.charged ? shared.job.charged : x.layout()),
      begin_(shared.simulation().now()),
      gradient_(std::make_shared<Gradient>(shared, own, std::move(x))) {
    for (const Bucket& bucket : *buckets_) ready_.push_back(slowed(shared, own, bucket.ready));
}

std::int64_t Backward::offset(std::size_t i) const {
    return same_share(gradient_->x.entries(), charged_->offset((*buckets_)[i].first), *charged_);
}

Bytes Backward::weight(std::size_t i) const {
    return shared_->job.wire.weigh(entries_of((*buckets_)[i], *charged_));
}

Task<Vector> Backward::bucket(std::size_t i) {
    PACELINE_CHECK(i < buckets_->size(), "a bucket has a number below buckets()");
    const Bucket& bucket = (*buckets_)[i];
    if (own_->checkpoint_due > Duration::zero()) {
        begin_ = later(begin_, own_->checkpoint_due);
        co_await write_due_checkpoint(*shared_, *own_);
    }
    const Duration wait = begin_ + ready_[i] - shared_->simulation().now();
    if (wait > Duration::zero()) co_await shared_->simulation().sleep(wait);
    if (gradient_->computing)
        gradient_->computing->report_bucket(i, i == 0 ? begin_ : begin_ + ready_[i - 1],
                                            begin_ + ready_[i]);
    if (gradient_->piece) gradient_->piece->join();
    const Vector& whole = gradient_->whole;
    if (i == 0) check_finite(whole, own_->rank, gradient_->number);
    if (i + 1 == buckets_->size()) {
        ++own_->gradients;
        own_->compute_time += ready_[i];
        gradient_->computing.reset();
    }
    LayoutPtr part = layout_of(*charged_, bucket);
    if (!whole.has_values()) co_return Vector(std::move(part));
    const std::int64_t begin = offset(i);
    const std::int64_t end =
        same_share(whole.entries(), charged_->offset(bucket.first + bucket.count), *charged_);
    if (charged_ != whole.layout())
        part = std::make_shared<const Layout>(std::vector<Tensor>{{"part", {end - begin}}});
    co_return Vector(std::move(part), whole.values().segment(begin, end - begin));
}

}  // namespace paceline
