#include "algorithms/runtime/cluster.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

Cluster::Cluster(NetworkPart network, Job job)
    : network_(network),
      job_(std::move(job)),
      nodes_(job_.workers > 0 ? job_.workers : network.hosts()),
      streams_(job_.seed),
      everybody_(group(whole_group(nodes_)->members)),
      barrier_(nodes_ + job_.servers) {
    PACELINE_CHECK(nodes_ + job_.servers <= network.hosts(), "every worker and server has a host");
    PACELINE_CHECK(job_.takes_step != nullptr, "a job has a stop rule");
    PACELINE_CHECK(!job_.timing.buckets.empty(), "a job has a step timing");
    PACELINE_CHECK(job_.start.has_values() == (job_.objective != nullptr),
                   "a model with values has an objective, and one without has none");
    PACELINE_CHECK(job_.mixing.empty() || job_.mixing.nodes() == nodes(),
                   "a mixing has a row for each node");
    PACELINE_CHECK(job_.samples.empty() || std::cmp_equal(job_.samples.size(), nodes_),
                   "samples are counted for each worker, or for none");
    for (int rank = 0; rank < nodes() + job_.servers; ++rank) workers_.emplace_back(*this, rank);
    if (!job_.failures) return;
    checkpoint_.models.assign(static_cast<std::size_t>(nodes_), job_.start);
    checkpoint_.gradients.assign(static_cast<std::size_t>(nodes_), 0);
    if (job_.failures->on_death != OnDeath::restart)
        membership_ =
            std::make_unique<Membership>(nodes_, job_.failures->on_death == OnDeath::stall);
}

Cluster::~Cluster() = default;

Worker& Cluster::worker(int rank) {
    return workers_[static_cast<std::size_t>(rank)];
}
const Worker& Cluster::worker(int rank) const {
    return workers_[static_cast<std::size_t>(rank)];
}

void Cluster::serve(int rank, std::string name, Task<> work) {
    services_.try_emplace(rank, network_.simulation(), job_.kind)
        .first->second.spawn(std::move(name), std::move(work));
}

// Delivers a letter when the next message of its lane arrives.
void Cluster::expect_letter(int from, int to, int box, Letter letter) {
    while (!letters_.empty() && letters_.front().delivery.finished()) letters_.pop_front();
    letters_.push_back(
        {from, network_.simulation().start(deliver(to, box, life_of(to), std::move(letter)))});
}

// A letter to an earlier life of its receiver is dropped.
Task<> Cluster::deliver(int to, int box, int life, Letter letter) {
    co_await Receive(network_, to, letter.from, lane_of_box(box));
    if (present(to) && life_of(to) == life) worker(to).box(box).put(std::move(letter));
}

GroupPtr Cluster::group(std::vector<int> members) {
    const auto epoch = static_cast<std::uint32_t>(groups_.size() + 1);
    GroupPtr& group = groups_[members];
    if (group == nullptr) group = std::make_shared<const Group>(Group{std::move(members), epoch});
    return group;
}

bool Cluster::takes_step(std::int64_t k, const Worker& asking) {
    if (k < steps_decided_) return true;
    if (stop_decided_) return false;
    PACELINE_CHECK(k == steps_decided_, "steps are taken one after the other");
    stop_decided_ = !job_.takes_step(k);
    if (stop_decided_) return false;
    ++steps_decided_;
    newest_beginner_ = asking.rank();
    if (membership_) admit_ready_workers(k, asking);
    return true;
}

}  // namespace paceline
