#include "algorithms/runtime/cluster.hpp"

#include <memory>
#include <utility>

#include "algorithms/runtime/node_failures.hpp"
#include "algorithms/runtime/plain_collectives.hpp"
#include "algorithms/runtime/surviving_collectives.hpp"

namespace paceline {

Cluster::Cluster(NetworkPart network, Job job) : state_(network, std::move(job)) {
    if (state_.membership)
        state_.collectives = std::make_unique<SurvivingCollectives>(state_);
    else
        state_.collectives = std::make_unique<PlainCollectives>(state_);
    for (WorkerState& worker : state_.states) workers_.emplace_back(state_, worker);
}

Held Cluster::held() const {
    const SharedState& all = state_;
    Held held;
    held.letters = all.letters.size() + all.delivered.size();
    for (const WorkerState& worker : all.states)
        for (const auto& [number, box] : worker.boxes) held.letters += box.size();
    for (const auto& [way, vectors] : all.mail) held.vectors += vectors.size();
    held.rounds =
        all.rounds.size() + all.mixings.size() + all.sparse_rounds.size() + all.orders.size();
    if (all.membership) {
        held.vectors += all.membership->mail();
        held.rounds += all.membership->attempts();
    }
    held.accounts = all.accounts.rounds() + all.accounts.parts();
    held.groups = all.groups.size();
    for (const auto& [rank, services] : all.services) held.services += services.size();
    return held;
}

void Cluster::mark_away(int rank) {
    paceline::mark_away(state_, rank);
}

void Cluster::mark_returned(int rank) {
    paceline::mark_returned(state_, rank);
}

void Cluster::roll_back() {
    paceline::roll_back(state_);
}

Bytes Cluster::weight_of_a_model() const {
    const Job& job = state_.job;
    return job.wire.weigh((job.charged ? job.charged : job.start.layout())->entries());
}

}  // namespace paceline
