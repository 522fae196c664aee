// How a cluster handles workers that die and return.
#include <algorithm>
#include <utility>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

std::vector<int> Cluster::all_present() const {
    return membership_ ? membership_->all_present() : everybody_->members;
}

int Cluster::life_of(int rank) const {
    return membership_ && rank < nodes_ ? membership_->life(rank) : 0;
}

Bytes Cluster::weight_of_a_model() const {
    return job_.wire.weigh((job_.charged ? job_.charged : job_.start.layout())->entries());
}

// Servers wait for one worker even if none is left.
void Cluster::expect_at_barrier() {
    barrier_.expect(std::max(membership_->number_present(), 1) + job_.servers);
}

void Cluster::forget_letters_of(int rank) {
    std::erase_if(letters_, [rank](const LetterUnderWay& letter) { return letter.from == rank; });
}

void Cluster::leave(int rank) {
    services_.erase(rank);
    forget_letters_of(rank);
    network_.drop_messages_from(rank);
    Worker& left = worker(rank);
    left.boxes_.clear();
    left.checkpoint_due_ = {};
    // A late joiner is known to be away from the start, without a detection delay.
    const Time now = network_.simulation().now();
    const Time known = now == Time{} ? now : later(now, job_.failures->detection);
    membership_->leave(rank, known,
                       [&](Stream round, int to) { return network_.has_arrived(to, rank, round); });
    expect_at_barrier();
    mark_written(rank);  // it never will, so the checkpoint is complete without it
    repeat_step_if_none_present();
    if (job_.after_death) job_.after_death();
}

void Cluster::mark_returned(int rank) {
    membership_->make_ready(rank);
    repeat_step_if_none_present();
}

// If no worker is present, the ready workers begin the current step again, because it may be
// unfinished.
void Cluster::repeat_step_if_none_present() {
    const std::vector<int> ready = membership_->nodes_in(Membership::State::ready);
    if (membership_->number_present() > 0 || ready.empty()) return;
    std::int64_t step = 0;
    Worker& first = worker(ready.front());
    for (const Worker& other : workers_) {
        step = std::max(step, other.step_);
        first.rounds_[everybody_->epoch] = std::max(first.rounds_begun(), other.rounds_begun());
    }
    admit_ready_workers(step, first);
}

// Ready workers join at step k, in the rounds that `like`, the first worker to begin k, begins
// next.
void Cluster::admit_ready_workers(std::int64_t k, const Worker& like) {
    for (const int rank : membership_->nodes_in(Membership::State::ready)) {
        Worker& back = worker(rank);
        if (&back != &like) back.rounds_ = like.rounds_;
        back.step_ = k - 1;
        membership_->join(rank, back.next_round());
        expect_at_barrier();
        on_join(rank);
    }
}

// A checkpoint that is due starts when the first worker begins a new step.
void Cluster::save_for_checkpoint(Worker& worker) {
    const auto& checkpoints = job_.failures->checkpoints;
    if (!checkpoints || worker.rank_ >= nodes_) return;
    const Time now = network_.simulation().now();
    const bool first = worker.step_ + 1 == steps_decided_ && worker.rank_ == newest_beginner_;
    if (first && !writing_ && worker.step_ > 0 && now - checkpoint_begun_ >= checkpoints->every) {
        checkpoint_begun_ = now;
        const std::vector<int> writers = all_present();
        writing_.emplace(checkpoint_, std::set<int>(writers.begin(), writers.end()));
        writing_->checkpoint.step = worker.step_;
        writing_->checkpoint.updates = updates_done_;
        writing_->checkpoint.replicated = replicated_;
    }
    if (!writing_ || writing_->checkpoint.step != worker.step_) return;
    const auto rank = static_cast<std::size_t>(worker.rank_);
    writing_->checkpoint.models[rank] = worker.model_;
    writing_->checkpoint.gradients[rank] = worker.gradients_;
    worker.checkpoint_due_ = checkpoints->write;
    if (worker.checkpoint_due_ == Duration::zero()) mark_written(worker.rank_);
}

void Cluster::mark_written(int rank) {
    if (!writing_) return;
    writing_->missing.erase(rank);
    if (writing_->missing.empty()) checkpoint_ = std::exchange(writing_, std::nullopt)->checkpoint;
}

void Cluster::roll_back() {
    services_.clear();
    letters_.clear();
    mail_.clear();
    rounds_ = {};
    mixings_ = {};
    sparse_rounds_.clear();
    writing_.reset();
    replicated_ = checkpoint_.replicated;
    updates_done_ = checkpoint_.updates;
    steps_decided_ = checkpoint_.step;
    stop_decided_ = false;
    barriers_before_restart_ = barrier_.times_opened();
    checkpoint_begun_ = network_.simulation().now();

    Stream round = 0;
    for (const Worker& worker : workers_) round = std::max(round, worker.rounds_begun());
    for (int rank = 0; rank < nodes_ + job_.servers; ++rank) {
        network_.drop_messages_from(rank);
        Worker& back = worker(rank);
        back.boxes_.clear();
        back.checkpoint_due_ = {};
        back.rounds_ = {{everybody_->epoch, round}};
        back.step_ = checkpoint_.step - 1;
        if (rank >= nodes_) continue;
        const auto place = static_cast<std::size_t>(rank);
        back.model_ = checkpoint_.models[place];
        back.undone_ += back.gradients_ - checkpoint_.gradients[place];
        back.gradients_ = checkpoint_.gradients[place];
    }
}

}  // namespace paceline
