#include "algorithms/lives/lives.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace paceline {

Lives::Lives(NetworkPart network, const std::optional<Failures>& failures, GroupPtr everybody,
             std::deque<WorkerState>& states, CloseAttempt close)
    : network_(network),
      failures_(failures),
      everybody_(std::move(everybody)),
      states_(states),
      barrier_(static_cast<int>(states.size())) {
    if (!failures) return;
    checkpoints_.emplace(workers(), states.front().model);
    if (failures->on_death != OnDeath::restart)
        membership_ = std::make_unique<Membership>(workers(), failures->on_death == OnDeath::stall,
                                                   std::move(close));
}

std::vector<int> Lives::all_present() const {
    return membership_ ? membership_->all_present() : everybody_->members;
}

bool Lives::is_known_dead(int rank, int life) const {
    if (!membership_ || is_server(rank)) return false;
    if (membership_->present(rank)) return membership_->life(rank) != life;
    return membership_->detection_time(rank) <= now();
}

Task<> Lives::death_detected(int rank) const {
    if (membership_->present(rank))
        co_await wait_for(membership_->death(rank), {"news of node", rank});
    const Time known = membership_->detection_time(rank);
    if (known > now()) co_await network_.simulation().sleep(known - now());
}

// Servers wait for one worker even if none is left.
void Lives::expect_at_barrier() {
    const auto servers = static_cast<int>(states_.size()) - workers();
    barrier_.expect(std::max(membership_->number_present(), 1) + servers);
}

void Lives::admit(std::int64_t k, const WorkerState& like) {
    if (!membership_) return;
    for (const int rank : membership_->nodes_in(Membership::State::ready)) {
        WorkerState& back = state(rank);
        if (&back != &like) back.rounds = like.rounds;
        if (&back != &like && failures_->return_from == ReturnFrom::joined_peer)
            back.model = like.model;
        back.step = k - 1;
        back.first_step = k;
        membership_->join(rank, back.next_round(*everybody_));
        expect_at_barrier();
        on_join(rank, like.rank);
    }
}

void Lives::save(WorkerState& worker, bool first, const ReplicatedState& replicated) {
    if (!failures_ || !failures_->checkpoints || is_server(worker.rank)) return;
    const Checkpoints& settings = *failures_->checkpoints;
    if (first && worker.step > 0 && checkpoints_->is_due(now(), settings.every))
        checkpoints_->begin(now(), worker.step, replicated, all_present());
    if (!checkpoints_->save(worker)) return;
    worker.checkpoint_due = settings.write;
    if (worker.checkpoint_due == Duration::zero()) note_written(worker.rank);
}

void Lives::leave(int rank) {
    network_.host_leaves(rank);
    state(rank).checkpoint_due = {};
    // A late joiner is known to be away from the start, without a detection delay.
    const Time known = now() == Time{} ? now() : later(now(), failures_->detection);
    membership_->leave(rank, known,
                       [&](Stream round, int to) { return network_.has_arrived(to, rank, round); });
    expect_at_barrier();
    note_written(rank);  // it never will, so the checkpoint is complete without it
    repeat_step_if_none_present();
}

void Lives::come_back(int rank) {
    membership_->make_ready(rank);
    repeat_step_if_none_present();
}

// If no worker is present, the ready workers begin the current step again, because it may be
// unfinished.
void Lives::repeat_step_if_none_present() {
    const std::vector<int> ready = membership_->nodes_in(Membership::State::ready);
    if (membership_->number_present() > 0 || ready.empty()) return;
    std::int64_t step = 0;
    WorkerState& first = state(ready.front());
    for (const WorkerState& other : states_) {
        step = std::max(step, other.step);
        first.rounds[everybody_->epoch] =
            std::max(first.rounds_begun(*everybody_), other.rounds_begun(*everybody_));
    }
    admit(step, first);
}

void Lives::go_back() {
    checkpoints_->drop_unfinished(now());
    barriers_before_restart_ = barrier_.times_opened();
    std::map<std::uint32_t, Stream> rounds;  // of all groups: streams are never used again
    for (const WorkerState& worker : states_)
        for (const auto& [epoch, begun] : worker.rounds)
            rounds[epoch] = std::max(rounds[epoch], begun);
    for (WorkerState& back : states_) {
        back.checkpoint_due = {};
        back.rounds = rounds;
        back.orders.clear();
        back.step = checkpoint().step - 1;
        if (is_server(back.rank)) continue;
        const auto place = static_cast<std::size_t>(back.rank);
        back.model = checkpoint().models[place];
        back.undone += back.gradients - checkpoint().gradients[place];
        back.gradients = checkpoint().gradients[place];
    }
}

}  // namespace paceline
