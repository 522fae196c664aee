#include "algorithms/runtime/backward.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/resource.hpp"

namespace paceline {

namespace {

// Scales `offset` from the layout to a vector of `entries`, keeping its share of the total.
std::int64_t same_share(std::int64_t entries, std::int64_t offset, const Layout& of) {
    const double share = static_cast<double>(offset) / static_cast<double>(of.entries());
    return std::llround(share * static_cast<double>(entries));
}

// Returns when the first forward pass of a step has left each bucket, from the beginning of the
// step, in the order of buckets: the last one is left first. Backward takes what the first forward
// pass of a gradient leaves of its time. Measured ends are those of the first gradient of a step.
std::vector<Duration> ends_of_forward(const StepTiming& timing) {
    if (timing.buckets.front().forward_end) {
        std::vector<Duration> measured;
        for (const Bucket& bucket : timing.buckets)
            measured.push_back(bucket.forward_end.value_or(timing.step));
        return measured;
    }
    const Duration one = timing.step / timing.gradients;
    const Duration forward = one / 3;
    const Duration before_backward = timing.step - one + forward;
    std::vector<Duration> ends{forward};  // of bucket 0
    for (std::size_t b = 1; b < timing.buckets.size(); ++b) {
        const Duration later_layers = timing.buckets[b - 1].ready - before_backward;
        ends.push_back(std::clamp(forward - later_layers / 2, Duration::zero(), forward));
    }
    return ends;
}

// One pass of one bucket.
struct Computation {
    std::size_t gradient;  // of those of a step
    std::size_t bucket;
    bool is_forward;
};

}  // namespace

// What the pass has computed and what is left of it.
struct Backward::Pass {
    /// x is read from `at` or, if there is a `later`, from there when the first forward pass is
    /// over. That pass waits for `arrived`, if it is not null, or all passes of all gradients for
    /// `reach`.
    Pass(SharedState& shared, WorkerState& worker, Vector at, const Vector* later = nullptr,
         Arrived waits = nullptr, Reach waits_by_micro_batch = nullptr)
        : all(shared),
          own(worker),
          x(std::move(at)),
          read_later(later),
          arrived(std::move(waits)),
          reach(std::move(waits_by_micro_batch)),
          whole(x.layout()),
          number(worker.gradients) {
        const StepTiming& timing = shared.job.timing;
        const int gradients = reach ? timing.gradients : 1;
        const Duration one = timing.step / timing.gradients;
        const std::vector<Duration> forward =
            read_later != nullptr ? ends_of_forward(timing) : std::vector<Duration>{};
        complete = std::vector<Signal>(static_cast<std::size_t>(gradients) * buckets());
        for (int m = 0; m < gradients; ++m) {
            const Duration before = multiple(m, one);
            const Duration after = multiple(gradients - 1 - m, one);
            for (const Bucket& bucket : timing.buckets)
                backward_ends.push_back(slowed(all, own, bucket.ready - after));
            for (const Duration end : forward)
                forward_ends.push_back(slowed(all, own, sum(before, end)));
        }
    }

    [[nodiscard]] std::size_t buckets() const { return all.job.timing.buckets.size(); }
    [[nodiscard]] std::size_t micro_batches() const { return complete.size() / buckets(); }

    // In the order of backward.hpp. Each gradient has forward passes of all buckets, or of none.
    [[nodiscard]] std::size_t forward_passes() const {
        return forward_ends.size() / micro_batches();
    }
    [[nodiscard]] std::size_t computations() const {
        return forward_ends.size() + backward_ends.size();
    }
    [[nodiscard]] Computation computation(std::size_t j) const {
        const std::size_t forward = forward_passes();
        const std::size_t m = j / (forward + buckets());
        const std::size_t k = j % (forward + buckets());
        if (k >= forward) return {m, k - forward, false};
        return {m, forward - 1 - k, true};
    }
    [[nodiscard]] Duration end_of(const Computation& what) const {
        return (what.is_forward ? forward_ends : backward_ends)[place_of(what)];
    }
    [[nodiscard]] std::size_t place_of(const Computation& what) const {
        return what.gradient * buckets() + what.bucket;
    }
    [[nodiscard]] bool is_of_last(const Computation& what) const {
        return !what.is_forward && what.gradient + 1 == micro_batches();
    }

    /// Returns the time of the part of the pass that ends at `end`, and goes there.
    Duration go_to(Duration end) {
        const Duration from = std::exchange(reached, std::max(reached, end));
        return reached - from;
    }

    /// The gradient is that at the model of now.
    void submit_arithmetic() {
        if (read_later != nullptr) x = *read_later;
        if (!x.has_values()) return;
        piece.emplace(all.local_work,
                      [this] { whole = evaluate_gradient(all, own.rank, x, number); });
    }

    SharedState& all;
    WorkerState& own;
    Vector x;  // snapshot
    const Vector* read_later;
    Arrived arrived;  // null: the whole model is there
    Reach reach;      // null: not by micro-batches
    Vector whole;
    std::int64_t number;
    // In time of computation from the beginning of the pass, by micro-batch and bucket:
    std::vector<Duration> forward_ends;
    std::vector<Duration> backward_ends;
    Duration reached{};
    Duration held{};                        // by kernels of collectives, in addition
    std::vector<Signal> complete;           // by micro-batch and bucket
    std::optional<LocalWork::Piece> piece;  // only if there are values
    std::optional<Computing> computing;     // while the device goes on with this pass
};

Task<> Backward::wait_for(Pass& pass, Task<> arrival) {
    Simulation& simulation = pass.all.simulation();
    Pending<> arriving = simulation.start(simulation.running_process(), std::move(arrival));
    if (!arriving.finished()) pass.computing.reset();
    co_await std::move(arriving);
}

WorkOnDevice Backward::begin_segment(Pass& pass, Duration time) {
    if (!pass.computing)
        pass.computing.emplace(pass.all.observer(), pass.all.host(pass.own.rank),
                               Work{Work::Kind::gradient, pass.number});
    return work_on_device(pass.all, pass.own, time);
}

// What follows the segment of bucket i of a step's last gradient.
void Backward::end_bucket(Pass& pass, std::size_t i) {
    if (i == 0 && pass.piece) pass.piece->join();
    if (i == 0) check_finite(pass.whole, pass.own.rank, pass.number);
    if (i + 1 < pass.buckets()) return;
    ++pass.own.gradients;
    pass.own.compute_time += pass.reached + pass.held;
    pass.computing.reset();
}

// Computations that follow one another without a break are reported as one.
Task<> Backward::run(std::shared_ptr<Pass> pass) {
    WorkerState& own = pass->own;
    Simulation& simulation = pass->all.simulation();
    if (pass->forward_passes() == 0) pass->submit_arithmetic();
    for (std::size_t j = 0; j < pass->computations(); ++j) {
        const Computation what = pass->computation(j);
        if (pass->reach)
            co_await wait_for(*pass, pass->reach(j));
        else if (what.is_forward)
            co_await wait_for(*pass, pass->arrived(what.bucket));
        const Duration time = pass->go_to(pass->end_of(what));
        const bool queues = own.device.free() == 0;
        if (queues) pass->computing.reset();
        bool waits = queues || time > Duration::zero();
        {
            const Resource::Lease device = co_await own.device.acquire();
            if (own.checkpoint_due > Duration::zero()) {
                waits = true;
                pass->computing.reset();
                co_await write_due_checkpoint(pass->all, own);
            }
            const Time begin = simulation.now();
            const WorkOnDevice work = begin_segment(*pass, time);
            for (Duration left = time; left > Duration::zero(); left = work.left(simulation.now()))
                co_await simulation.sleep(left);
            pass->held += work.held_until(simulation.now());
            if (pass->is_of_last(what))
                pass->computing->report_bucket(what.bucket, begin, simulation.now());
        }
        if (waits)
            co_await simulation.sleep(Duration::zero());  // the next on the device goes first
        if (what.is_forward) {
            if (j + 1 == pass->forward_passes()) pass->submit_arithmetic();
            continue;
        }
        if (pass->is_of_last(what)) end_bucket(*pass, what.bucket);
        pass->complete[pass->place_of(what)].fire();
        co_await simulation.sleep(Duration::zero());  // what it wakes asks first
    }
}

Backward::Backward(SharedState& shared, std::shared_ptr<Pass> pass, Task<> running)
    : shared_(&shared),
      buckets_(&shared.job.timing.buckets),
      charged_(shared.job.charged ? shared.job.charged : pass->x.layout()),
      pass_(std::move(pass)),
      running_(
          shared.simulation().start(shared.simulation().running_process(), std::move(running))) {}

Backward Backward::of_model(SharedState& shared, WorkerState& own, Vector x) {
    const auto pass = std::make_shared<Pass>(shared, own, std::move(x));
    return {shared, pass, run(pass)};
}

Backward Backward::into_forward(SharedState& shared, WorkerState& own, const Vector& x,
                                Arrived arrived) {
    const auto pass =
        std::make_shared<Pass>(shared, own, Vector(x.layout()), &x, std::move(arrived));
    return {shared, pass, run(pass)};
}

Backward Backward::by_micro_batch(SharedState& shared, WorkerState& own, const Vector& x,
                                  Reach reach) {
    const auto pass =
        std::make_shared<Pass>(shared, own, Vector(x.layout()), &x, nullptr, std::move(reach));
    return {shared, pass, run(pass)};
}

std::int64_t Backward::offset(std::size_t i) const {
    return same_share(pass_->whole.entries(), charged_->offset((*buckets_)[i].first), *charged_);
}

LayoutPtr Backward::layout(std::size_t i) const {
    const Bucket& bucket = (*buckets_)[i];
    if (shared_->job.start.has_values() && charged_ != pass_->x.layout()) {
        const std::int64_t end = same_share(
            pass_->x.entries(), charged_->offset(bucket.first + bucket.count), *charged_);
        return std::make_shared<const Layout>(std::vector<Tensor>{{"part", {end - offset(i)}}});
    }
    const auto first = charged_->tensors().begin() + static_cast<std::ptrdiff_t>(bucket.first);
    return std::make_shared<const Layout>(
        std::vector<Tensor>(first, first + static_cast<std::ptrdiff_t>(bucket.count)));
}

std::size_t Backward::micro_batches() const {
    return pass_->micro_batches();
}

Signal::Happened Backward::completed(std::size_t i) const {
    return completed(micro_batches() - 1, i);
}

Signal::Happened Backward::completed(std::size_t m, std::size_t i) const {
    PACELINE_CHECK(i < buckets(), "a bucket has a number below buckets()");
    PACELINE_CHECK(m < micro_batches(), "a gradient has a number below those of a step");
    return pass_->complete[m * buckets() + i].happened(
        {"backward to complete bucket", static_cast<int>(i)});
}

const Vector& Backward::gradient() const {
    PACELINE_CHECK(pass_->complete[pass_->complete.size() - buckets()].fired(),
                   "a gradient is asked for after its first bucket");
    return pass_->whole;
}

Vector part_of(const Vector& whole, std::int64_t offset, LayoutPtr part) {
    if (!whole.has_values()) return Vector(std::move(part));
    const std::int64_t entries = part->entries();
    return {std::move(part), whole.values().segment(offset, entries)};
}

}  // namespace paceline
