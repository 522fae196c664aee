#include "algorithms/runtime/node_failures.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "sim/network/network_observer.hpp"

namespace paceline {

namespace {

// Servers wait for one worker even if none is left.
void expect_at_barrier(SharedState& all) {
    all.barrier.expect(std::max(all.membership->number_present(), 1) + all.job.servers);
}

// If no worker is present, the ready workers begin the current step again, because it may be
// unfinished.
void repeat_step_if_none_present(SharedState& all) {
    const std::vector<int> ready = all.membership->nodes_in(Membership::State::ready);
    if (all.membership->number_present() > 0 || ready.empty()) return;
    std::int64_t step = 0;
    WorkerState& first = all.worker(ready.front());
    for (const WorkerState& other : all.states) {
        step = std::max(step, other.step);
        first.rounds[all.everybody->epoch] =
            std::max(first.rounds_begun(*all.everybody), other.rounds_begun(*all.everybody));
    }
    admit_ready_workers(all, step, first);
}

}  // namespace

void mark_away(SharedState& all, int rank) {
    all.services.erase(rank);
    all.forget_letters_of(rank);
    all.network.host_leaves(rank);
    WorkerState& left = all.worker(rank);
    left.boxes.clear();
    left.checkpoint_due = {};
    // A late joiner is known to be away from the start, without a detection delay.
    const Time now = all.simulation().now();
    const Time known = now == Time{} ? now : later(now, all.job.failures->detection);
    all.membership->leave(rank, known, [&](Stream round, int to) {
        return all.network.has_arrived(to, rank, round);
    });
    expect_at_barrier(all);
    mark_written(all, rank);  // it never will, so the checkpoint is complete without it
    repeat_step_if_none_present(all);
    if (all.job.after_death) all.job.after_death();
}

void mark_returned(SharedState& all, int rank) {
    all.membership->make_ready(rank);
    repeat_step_if_none_present(all);
}

void admit_ready_workers(SharedState& all, std::int64_t k, const WorkerState& like) {
    for (const int rank : all.membership->nodes_in(Membership::State::ready)) {
        WorkerState& back = all.worker(rank);
        if (&back != &like) back.rounds = like.rounds;
        if (&back != &like && all.job.failures->return_from == ReturnFrom::joined_peer)
            back.model = like.model;
        back.step = k - 1;
        back.first_step = k;
        all.membership->join(rank, back.next_round(*all.everybody));
        expect_at_barrier(all);
        all.on_join(rank, like.rank);
    }
}

void save_for_checkpoint(SharedState& all, WorkerState& worker) {
    const auto& checkpoints = all.job.failures->checkpoints;
    if (!checkpoints || worker.rank >= all.workers) return;
    const Time now = all.simulation().now();
    const bool first = worker.step + 1 == all.steps_decided && worker.rank == all.newest_beginner;
    if (first && !all.writing && worker.step > 0 &&
        now - all.checkpoint_begun >= checkpoints->every) {
        all.checkpoint_begun = now;
        const std::vector<int> writers = all.all_present();
        all.writing.emplace(all.checkpoint, std::set<int>(writers.begin(), writers.end()));
        all.writing->checkpoint.step = worker.step;
        all.writing->checkpoint.updates = all.updates_done;
        all.writing->checkpoint.replicated = all.replicated;
    }
    if (!all.writing || all.writing->checkpoint.step != worker.step) return;
    const auto rank = static_cast<std::size_t>(worker.rank);
    all.writing->checkpoint.models[rank] = worker.model;
    all.writing->checkpoint.gradients[rank] = worker.gradients;
    worker.checkpoint_due = checkpoints->write;
    if (worker.checkpoint_due == Duration::zero()) mark_written(all, worker.rank);
}

void mark_written(SharedState& all, int rank) {
    if (!all.writing) return;
    all.writing->missing.erase(rank);
    if (all.writing->missing.empty())
        all.checkpoint = std::exchange(all.writing, std::nullopt)->checkpoint;
}

void roll_back(SharedState& all) {
    all.services.clear();
    all.letters.clear();
    all.delivered.clear();
    all.mail.clear();
    all.rounds = {};
    all.mixings = {};
    all.sparse_rounds.clear();
    all.orders.clear();
    notify(all.observer().all_go_back);
    all.writing.reset();
    all.replicated = all.checkpoint.replicated;
    all.updates_done = all.checkpoint.updates;
    all.steps_decided = all.checkpoint.step;
    all.stop_decided = false;
    all.gradients_begun = std::accumulate(all.checkpoint.gradients.begin(),
                                          all.checkpoint.gradients.end(), std::int64_t{0});
    all.barriers_before_restart = all.barrier.times_opened();
    all.checkpoint_begun = all.simulation().now();

    std::map<std::uint32_t, Stream> rounds;  // of all groups: streams are never used again
    for (const WorkerState& worker : all.states)
        for (const auto& [epoch, begun] : worker.rounds)
            rounds[epoch] = std::max(rounds[epoch], begun);
    const int ranks = all.workers + all.job.servers;
    for (int host = 0; host < ranks + all.job.collective_servers; ++host) {
        all.network.host_leaves(host);
        all.network.host_returns(host);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        WorkerState& back = all.worker(rank);
        back.boxes.clear();
        back.checkpoint_due = {};
        back.rounds = rounds;
        back.orders.clear();
        back.step = all.checkpoint.step - 1;
        if (rank >= all.workers) continue;
        const auto place = static_cast<std::size_t>(rank);
        back.model = all.checkpoint.models[place];
        back.undone += back.gradients - all.checkpoint.gradients[place];
        back.gradients = all.checkpoint.gradients[place];
    }
}

}  // namespace paceline
