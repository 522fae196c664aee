#include "algorithms/lives/lives.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

namespace {

FailureDomains domains_of(const std::optional<Failures>& failures, int workers) {
    return failures ? FailureDomains(failures->domains, workers) : FailureDomains({}, 0);
}

}  // namespace

Lives::Lives(NetworkPart network, const std::optional<Failures>& failures, Groups& groups,
             WorkerStates& states, CloseAttempt close)
    : network_(network),
      failures_(failures),
      states_(states),
      domains_(domains_of(failures, static_cast<int>(groups.everybody()->members.size()))),
      everybody_(groups.everybody()),
      barrier_(static_cast<int>(states.size())) {
    if (!failures) return;
    checkpoints_.emplace(workers(), states.front().model);
    if (failures->on_death == OnDeath::restart) return;
    membership_ = std::make_unique<Membership>(workers(), failures->on_death == OnDeath::stall,
                                               std::move(close));
    if (failures->are_islands) make_lanes(groups);
}

// Lane p consists of the devices in place p of all islands, if all have one. An island's own
// exchange uses the first lanes of these (island.hpp).
void Lives::make_lanes(Groups& groups) {
    circles_.resize(everybody_->members.size());
    std::size_t least = domains_.members(0).size();
    for (int island = 1; island < domains_.count(); ++island)
        least = std::min(least, domains_.members(island).size());
    for (std::size_t place = 0; place < least; ++place) {
        std::vector<int> lane;
        for (int island = 0; island < domains_.count(); ++island)
            lane.push_back(domains_.members(island)[place]);
        const GroupPtr group = groups.of(lane);
        for (const int rank : lane) circles_[static_cast<std::size_t>(rank)] = group;
    }
}

bool Lives::is_inside_an_island(const Group& group) const {
    if (!failures_ || !failures_->are_islands) return false;
    const int island = domains_.of(group.members.front());
    return std::ranges::all_of(group.members,
                               [&](int rank) { return domains_.of(rank) == island; });
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

// Rounds of a circle have the same numbers on all workers: those that the worker in the same place
// of the first island to begin the step has begun are over, because its island met after each.
void Lives::count_as(WorkerState& back, const WorkerState& like) const {
    if (!failures_->are_islands) {
        if (&back != &like) back.rounds = like.rounds;
        return;
    }
    const GroupPtr& lane = circle(back.rank);
    if (lane == nullptr) return;
    const WorkerState& other = state(domains_.counterpart(back.rank, domains_.of(like.rank)));
    back.rounds[lane->epoch] = other.rounds_begun(*lane);
}

// The whole steps that nobody else has are in the model that a worker brings back.
void Lives::begin_life(WorkerState& back) const {
    const bool brings_steps = failures_->return_from == ReturnFrom::own;
    const std::int64_t brought =
        brings_steps ? std::max<std::int64_t>(back.before_step - back.counted, 0) : 0;
    back.lost -= brought;
    back.counted = back.gradients - brought;
    back.before_life = back.counted;
}

void Lives::admit(std::int64_t k, const WorkerState& like) {
    if (!membership_) return;
    const int first = domains_.of(like.rank);
    for (int domain = 0; domain < domains_.count(); ++domain) {
        const std::vector<int>& members = domains_.members(domain);
        if (membership_->state(members.front()) != Membership::State::ready) continue;
        for (const int rank : members) {
            WorkerState& back = state(rank);
            count_as(back, like);
            if (domain != first && failures_->return_from == ReturnFrom::joined_peer)
                back.model = like.model;
            back.step = k - 1;
            back.first_step = k;
            begin_life(back);
            const GroupPtr& circle_of = circle(rank);
            membership_->join(rank, circle_of == nullptr ? 0 : back.next_round(*circle_of));
        }
        expect_at_barrier();
        on_join(domain, like.rank);
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

// What the workers of a domain have computed is lost unless others have it. An island has sent what
// one of its devices has.
void Lives::lose_work_of(int domain) {
    const std::vector<int>& members = domains_.members(domain);
    if (!membership_->present(members.front())) return;  // it has computed nothing since
    std::int64_t sent = 0;
    for (const int rank : members)
        sent = std::max(sent, state(rank).counted - state(rank).before_life);
    for (const int rank : members) {
        WorkerState& left = state(rank);
        if (failures_->are_islands) {
            left.counted = std::min(left.gradients, left.before_life + sent);
            left.model = state(members.front()).model;
        }
        left.lost += left.gradients - left.counted;
    }
}

void Lives::leave(int domain) {
    // A late joiner is known to be away from the start, without a detection delay.
    const Time known = now() == Time{} ? now() : later(now(), failures_->detection);
    lose_work_of(domain);
    for (const int rank : domains_.members(domain)) {
        network_.host_leaves(rank);
        state(rank).checkpoint_due = {};
        membership_->leave(rank, known, [&](Stream round, int to) {
            return network_.has_arrived(to, rank, round);
        });
    }
    expect_at_barrier();
    // They never will write, so the checkpoint is complete without them.
    for (const int rank : domains_.members(domain)) note_written(rank);
    repeat_step_if_none_present();
}

void Lives::come_back(int domain) {
    for (const int rank : domains_.members(domain)) membership_->make_ready(rank);
    repeat_step_if_none_present();
}

// If no worker is present, the ready workers begin the current step again, because it may be
// unfinished.
void Lives::repeat_step_if_none_present() {
    const std::vector<int> ready = membership_->nodes_in(Membership::State::ready);
    if (membership_->number_present() > 0 || ready.empty()) return;
    std::int64_t step = 0;
    for (const WorkerState& other : states_) step = std::max(step, other.step);
    for (const int rank : domains_.members(domains_.of(ready.front()))) {
        const GroupPtr& lane = circle(rank);
        if (lane == nullptr) continue;
        Stream& begun = state(rank).rounds[lane->epoch];
        for (const int other : lane->members)
            begun = std::max(begun, state(other).rounds_begun(*lane));
    }
    admit(step, state(ready.front()));
}

void Lives::go_back() {
    checkpoints_->drop_unfinished(now());
    barriers_before_restart_ = barrier_.times_opened();
    decltype(WorkerState::rounds) rounds;  // of all groups: streams are never used again
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
