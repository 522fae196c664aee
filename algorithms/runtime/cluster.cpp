#include "algorithms/runtime/cluster.hpp"

#include <memory>
#include <utility>

#include "algorithms/runtime/island.hpp"
#include "algorithms/runtime/plain_collectives.hpp"
#include "algorithms/runtime/surviving_collectives.hpp"
#include "sim/network/network_observer.hpp"

namespace paceline {

Cluster::Cluster(NetworkPart network, Job job) : state_(network, std::move(job)) {
    if (state_.lives.others_fail())
        state_.collectives = std::make_unique<SurvivingCollectives>(state_);
    else
        state_.collectives = std::make_unique<PlainCollectives>(state_);
    for (WorkerState& worker : state_.states) workers_.emplace_back(state_, worker);
}

Held Cluster::held() const {
    const SharedState& all = state_;
    Held held;
    held.letters = all.mail.size();
    held.rounds = all.values.size() + all.orders.size();
    if (const Membership* membership = all.lives.membership()) {
        held.vectors = membership->mail();
        held.rounds += membership->attempts();
    }
    held.accounts = all.accounts.rounds() + all.accounts.parts();
    held.groups = all.groups.size();
    for (const auto& [rank, services] : all.services) held.services += services.size();
    return held;
}

void Cluster::mark_away(int domain) {
    SharedState& all = state_;
    for (const int rank : all.lives.domains().members(domain)) {
        all.services.erase(rank);
        all.mail.forget(rank);
    }
    const auto is_within = [&](const Group& group) {
        return all.lives.is_inside_an_island(group) &&
               all.lives.domains().of(group.members.front()) == domain;
    };
    for (const GroupPtr& group : all.groups.all(is_within)) all.forget_rounds_of(*group);
    if (all.job.failures->are_islands) all.replicated.forget_those_of(name_of_island(domain));
    all.lives.leave(domain);
    if (all.job.after_death) all.job.after_death();
}

void Cluster::roll_back() {
    SharedState& all = state_;
    all.services.clear();
    all.mail.clear();
    all.values = {};
    all.orders.clear();
    notify(all.observer().all_go_back);
    all.lives.go_back();
    all.steps.go_back(all.lives.checkpoint());
    all.replicated = all.lives.checkpoint().replicated;
    const int hosts = all.workers + all.job.servers + all.job.collective_servers;
    for (int host = 0; host < hosts; ++host) {
        all.network.host_leaves(host);
        all.network.host_returns(host);
    }
}

Bytes Cluster::weight_of_a_model() const {
    return state_.weigh(state_.job.start);
}

}  // namespace paceline
