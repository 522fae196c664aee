#include "algorithms/worker.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/check.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

constexpr Stream mail_stream = 0;  // point-to-point; epochs of groups count from 1

Vector mean(const Round<Vector>& round) {
    Vector sum = round.of(0);
    for (std::size_t i = 1; i < round.members(); ++i) sum += round.of(i);
    return std::move(sum) / static_cast<double>(round.members());
}

// The part of a gradient that belongs to a bucket, as a vector of its own.
Vector slice(const Vector& whole, const Bucket& bucket) {
    const Layout& layout = *whole.layout();
    const auto first = layout.tensors().begin() + static_cast<std::ptrdiff_t>(bucket.first);
    auto part = std::make_shared<const Layout>(
        std::vector<Tensor>(first, first + static_cast<std::ptrdiff_t>(bucket.count)));
    if (!whole.has_values()) return Vector(std::move(part));
    const std::int64_t entries = part->entries();
    return {std::move(part), whole.values().segment(layout.offset(bucket.first), entries)};
}

}  // namespace

Worker::Worker(Cluster& cluster, int rank)
    : cluster_(cluster), rank_(rank), model_(cluster.job_.start) {}

bool Worker::keeps_training() {
    if (!cluster_.takes_step(step_ + 1)) return false;
    ++step_;
    return true;
}

double Worker::epoch() const {
    const double per_epoch = cluster_.job_.steps_per_epoch;
    return per_epoch > 0 ? static_cast<double>(step_) / per_epoch : 0;
}

Vector& Worker::replicated(std::string_view name) {
    return replicated(name, Vector::zero_like(cluster_.job_.start));
}

Vector& Worker::replicated(std::string_view name, const Vector& first) {
    const auto found = cluster_.replicated_.find(name);
    if (found != cluster_.replicated_.end()) return found->second;
    return cluster_.replicated_.emplace(name, first).first->second;
}

bool Worker::begins_update(std::int64_t k) {
    if (k < cluster_.updates_done_) return false;
    PACELINE_CHECK(k == cluster_.updates_done_, "updates follow one another without gaps");
    ++cluster_.updates_done_;
    return true;
}

RandomStream Worker::stream(std::string_view name) const {
    return cluster_.streams_.stream(name, static_cast<std::uint64_t>(rank_));
}

Vector Worker::evaluate(const Vector& x, std::int64_t k) const {
    if (!x.has_values()) return Vector(x.layout());
    return {x.layout(), cluster_.job_.objective(x.values(), rank_, k)};
}

Task<Vector> Worker::gradient(Vector x) {
    const std::int64_t k = gradients_;
    co_await compute(cluster_.job_.timing.step);
    ++gradients_;
    co_return evaluate(x, k);
}

Backward Worker::backward(Vector x) {
    return {*this, std::move(x), gradients_, simulation().now()};
}

Task<> Worker::update() {
    const Duration work = cluster_.job_.update;
    if (work > Duration::zero()) co_await compute(work);
}

Task<> Worker::compute(Duration work) {
    co_await simulation().sleep(work);
    compute_time_ += work;
}

// A stream names a group and a round of it: the same number on each member, and on no other
// collective.
Stream Worker::next_stream(const Group& group) {
    constexpr unsigned round_bits = 40;
    return (Stream{group.epoch} << round_bits) + rounds_[group.epoch]++;
}

GroupPtr Worker::group(std::vector<int> ranks) {
    const std::set<int> distinct(ranks.begin(), ranks.end());
    PACELINE_CHECK(distinct.size() == ranks.size(), "a group names each rank once");
    PACELINE_CHECK(distinct.contains(rank_), "a worker names groups of its own");
    PACELINE_CHECK(*distinct.begin() >= 0 && *distinct.rbegin() < nodes(),
                   "a group has known ranks");
    return cluster_.group(std::move(ranks));
}

Rank Worker::next_rank(const GroupPtr& group) {
    std::ptrdiff_t place = rank_;
    if (group != cluster_.everybody_)
        place = std::ranges::find(group->members, rank_) - group->members.begin();
    PACELINE_CHECK(std::cmp_less(place, group->members.size()),
                   "a member calls a collective of its group");
    return {cluster_.network_, group, static_cast<int>(place), next_stream(*group)};
}

Task<Vector> Worker::all_reduce(Vector v, AllReducePlan how, const GroupPtr& group) {
    return all_reduce_in(next_rank(group), std::move(v), how);
}

Task<Vector> Worker::all_reduce_in(Rank rank, Vector v, AllReducePlan how) {
    const Bytes size = wire().weigh(v.entries());
    if (!v.has_values()) {
        co_await paceline::all_reduce(how, rank, size);
        co_return v;
    }
    const auto members = static_cast<std::size_t>(rank.size());
    const Stream key = rank.stream();
    cluster_.rounds_.at(key, members).enter(static_cast<std::size_t>(rank.place()), std::move(v));
    co_await paceline::all_reduce(how, rank, size);
    Vector result = cluster_.rounds_.at(key, members).once(mean);
    cluster_.rounds_.leave(key);
    co_return result;
}

Task<> Worker::all_gather(Bytes block, AllGather how, const GroupPtr& group) {
    return paceline::all_gather(how, next_rank(group), block);
}

Task<> Worker::sparse_all_reduce(UnionWeight weight, const GroupPtr& group) {
    return sparse_all_reduce_in(next_rank(group), std::move(weight));
}

Task<> Worker::sparse_all_reduce_in(Rank rank, UnionWeight weight) {
    co_await paceline::sparse_all_reduce(rank, weight);
}

Task<Vector> Worker::neighbor_average(Vector v) {
    PACELINE_CHECK(cluster_.job_.mixing != nullptr, "averaging with neighbors needs a mixing");
    return neighbor_average_in(next_stream(*everybody()), std::move(v));
}

Task<Vector> Worker::neighbor_average_in(Stream key, Vector v) {
    const Mixing& mixing = *cluster_.job_.mixing;
    const auto members = static_cast<std::size_t>(nodes());
    const Bytes size = wire().weigh(v.entries());
    std::vector<int> from;
    for (const MixingWeight& w : mixing.row(rank_))
        if (w.node != rank_) from.push_back(w.node);

    cluster_.rounds_.at(key, members).enter(static_cast<std::size_t>(rank_), std::move(v));
    co_await neighbor_exchange(cluster_.network_, rank_, mixing.listeners(rank_), std::move(from),
                               key, size);

    const Round<Vector>& round = cluster_.rounds_.at(key, members);
    Vector average = Vector::zero_like(round.of(static_cast<std::size_t>(rank_)));
    for (const MixingWeight& w : mixing.row(rank_))
        average += w.weight * round.of(static_cast<std::size_t>(w.node));
    cluster_.rounds_.leave(key);
    co_return average;
}

Task<> Worker::send(int to, Vector v) {
    const Bytes size = wire().weigh(v.entries());
    cluster_.mail_[{rank_, to}].push_back(std::move(v));
    co_await Send(cluster_.network_, rank_, to, mail_stream, size, Protocol::eager);
}

Task<Vector> Worker::receive(int from) {
    co_await Receive(cluster_.network_, rank_, from, mail_stream);
    std::deque<Vector>& mail = cluster_.mail_[{from, rank_}];
    Vector v = std::move(mail.front());
    mail.pop_front();
    co_return v;
}

Backward::Backward(Worker& worker, Vector x, std::int64_t k, Time begin)
    : worker_(&worker),
      buckets_(&worker.cluster_.job_.timing.buckets),
      x_(std::move(x)),
      k_(k),
      begin_(begin) {}

Task<Vector> Backward::bucket(std::size_t i) {
    PACELINE_CHECK(i < buckets_->size(), "a bucket has a number below buckets()");
    const Bucket& bucket = (*buckets_)[i];
    const Duration wait = begin_ + bucket.ready - worker_->simulation().now();
    if (wait > Duration::zero()) co_await worker_->simulation().sleep(wait);
    if (gradient_ == nullptr) gradient_ = std::make_shared<Vector>(worker_->evaluate(x_, k_));
    if (i + 1 == buckets_->size()) {
        ++worker_->gradients_;
        worker_->compute_time_ += bucket.ready;
    }
    co_return slice(*gradient_, bucket);
}

}  // namespace paceline
