#include "algorithms/runtime/worker.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "algorithms/runtime/diverged.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/check.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

constexpr Stream mail_stream = 0;  // point-to-point; then come boxes, and epochs of groups from 1

constexpr Stream first_round_of(const Group& group) {
    constexpr unsigned round_bits = 40;
    return Stream{group.epoch} << round_bits;
}

}  // namespace

Worker::Worker(Cluster& cluster, int rank)
    : cluster_(cluster),
      rank_(rank),
      model_(cluster.job_.start),
      time_use_(cluster.network_.simulation(), cluster.job_.observer,
                cluster.network_.in_network(rank)) {}

bool Worker::keeps_training() {
    if (cluster_.job_.after_steps) cluster_.job_.after_steps(rank_, step_ + 1);
    if (!cluster_.takes_step(step_ + 1, *this)) {
        time_use_.take_no_more_steps();
        return false;
    }
    ++step_;
    time_use_.begin_step(step_);
    if (cluster_.job_.failures) cluster_.save_for_checkpoint(*this);
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
    PACELINE_CHECK(k == cluster_.updates_done_ || cluster_.membership_,
                   "updates follow one another without gaps");
    cluster_.updates_done_ = k + 1;
    return true;
}

const Vector& Worker::current_model() const {
    const auto replica = cluster_.replicated_.find("model");
    return replica != cluster_.replicated_.end() ? replica->second : model_;
}

RandomStream Worker::stream(std::string_view name) const {
    return cluster_.streams_.stream(name, static_cast<std::uint64_t>(rank_));
}

RandomStream Worker::common_stream(std::string_view name, std::int64_t index) const {
    return cluster_.streams_.stream(name, static_cast<std::uint64_t>(index));
}

double Worker::samples(int rank) const {
    const std::vector<double>& samples = cluster_.job_.samples;
    return samples.empty() ? 1 : samples[static_cast<std::size_t>(rank)];
}

Vector Worker::evaluate(const Vector& x, std::int64_t k) const {
    if (!x.has_values()) return Vector(x.layout());
    return {x.layout(), cluster_.job_.objective(x, rank_, k)};
}

Vector Worker::evaluate_mean(const Vector& x, std::int64_t k) const {
    if (cluster_.job_.mean_objective) return {x.layout(), cluster_.job_.mean_objective(x, k)};
    Eigen::VectorXd sum = cluster_.job_.objective(x, 0, k);
    for (int rank = 1; rank < nodes(); ++rank) sum += cluster_.job_.objective(x, rank, k);
    return {x.layout(), sum * (1.0 / nodes())};  // the same bits as mean_of
}

Task<Vector> Worker::gradient(Vector x) {
    Vector g(x.layout());
    if (x.has_values()) {
        co_await gradient(std::move(x), [&](Vector formed) { g = std::move(formed); });
    } else {
        co_await compute_as({Work::Kind::gradient, gradients_}, slowed(cluster_.job_.timing.step));
        ++gradients_;
    }
    co_return g;
}

Task<> Worker::gradient(Vector x, std::function<void(Vector g)> use) {
    const std::int64_t k = gradients_;
    const Duration time = slowed(cluster_.job_.timing.step);
    co_await compute_as({Work::Kind::gradient, k}, time, [&] {
        Vector g = evaluate(x, k);
        check_finite(g, rank_, k);
        use(std::move(g));
    });
    ++gradients_;
}

Task<Vector> Worker::mean_gradient(Vector x, AllReducePlan how) {
    if (cluster_.membership_) return fault_tolerant_mean_gradient(std::move(x), how);
    return mean_gradient_in(std::move(x), how);
}

Task<Vector> Worker::mean_gradient_in(Vector x, AllReducePlan how) {
    const std::int64_t k = gradients_;
    co_await compute_as({Work::Kind::gradient, k}, slowed(cluster_.job_.timing.step));
    ++gradients_;
    const Rank rank = next_rank(everybody());
    co_await take_part(rank, paceline::all_reduce(how, rank, weigh(x)), name_of(how, weigh(x)));
    if (!x.has_values()) co_return x;

    const auto members = static_cast<std::size_t>(nodes());
    Round<Vector>& round = cluster_.rounds_.at(rank.stream(), members);
    Vector mean = round.once([&](const auto&) {
        Vector formed = evaluate_mean(x, k);
        check_finite(formed, rank_, k);
        return formed;
    });
    cluster_.rounds_.leave(rank.stream());
    co_return mean;
}

Duration Worker::slowed(Duration time) const {
    const ComputeTime& law = cluster_.job_.compute_time;
    return law ? law(rank_, gradients_, simulation().now(), time) : time;
}

Backward Worker::backward(Vector x) {
    return {*this, std::move(x), gradients_, simulation().now()};
}

Task<> Worker::update() {
    const Duration work = cluster_.job_.update;
    if (work > Duration::zero()) co_await compute_as({Work::Kind::update, step_}, work);
}

Task<> Worker::compute_as(Work what, Duration time) {
    if (checkpoint_due_ > Duration::zero()) co_await write_due_checkpoint();
    const Computing computing(time_use_, what);
    co_await simulation().sleep(time);
    compute_time_ += time;
}

Task<> Worker::compute_as(Work what, Duration time, std::function<void()> work) {
    LocalWork::Piece piece(cluster_.local_work_, std::move(work));
    co_await compute_as(what, time);
    piece.join();
}

Bytes Worker::weigh(const Vector& v) const {
    const bool whole =
        cluster_.job_.charged != nullptr && v.layout() == cluster_.job_.start.layout();
    return wire().weigh(whole ? cluster_.job_.charged->entries() : v.entries());
}

// A stream identifies a group and a round of it: the number is the same on each member, and no
// other collective has it.
Stream Worker::next_stream(const Group& group) {
    return first_round_of(group) + rounds_[group.epoch]++;
}

Stream Worker::rounds_begun() const {
    const auto found = rounds_.find(everybody()->epoch);
    return found == rounds_.end() ? 0 : found->second;
}

Stream Worker::next_round() const {
    return first_round_of(*everybody()) + rounds_begun();
}

GroupPtr Worker::group(std::vector<int> ranks) {
    const std::set<int> distinct(ranks.begin(), ranks.end());
    PACELINE_CHECK(distinct.size() == ranks.size(), "a group names each rank once");
    PACELINE_CHECK(distinct.contains(rank_), "a worker names groups of its own");
    PACELINE_CHECK(*distinct.begin() >= 0 && *distinct.rbegin() < nodes(),
                   "a group has known ranks");
    return cluster_.group(std::move(ranks));
}

RoundTimer Worker::enter(const Rank& rank, std::string_view name) {
    return {cluster_.entries_, time_use_, name, rank.stream(),
            static_cast<std::size_t>(rank.size())};
}

Task<> Worker::take_part(Rank rank, Task<> messages, std::string_view name) {
    const RoundTimer timer = enter(rank, name);
    co_await std::move(messages);
}

Task<> Worker::barrier() {
    const Time came = simulation().now();
    const Duration computed = time_use_.computed();
    co_await cluster_.barrier_.arrive();
    const Time now = simulation().now();
    time_use_.wait_for_stragglers(now - came - (time_use_.computed() - computed), now);
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
    const Bytes size = weigh(v);
    return all_reduce(std::move(v), how, size, group);
}

Task<Vector> Worker::all_reduce(Vector v, AllReducePlan how, Bytes weight) {
    return all_reduce(std::move(v), how, weight, everybody());
}

Task<Vector> Worker::all_reduce(Vector v, AllReducePlan how, Bytes weight, const GroupPtr& group) {
    if (tolerates_failures(group))
        return fault_tolerant_all_reduce(next_stream(*group), std::move(v), how, weight);
    return all_reduce_in(next_rank(group), std::move(v), how, weight);
}

Task<Vector> Worker::all_reduce_in(Rank rank, Vector v, AllReducePlan how, Bytes size) {
    const RoundTimer timer = enter(rank, name_of(how, size));
    if (!v.has_values()) {
        co_await paceline::all_reduce(how, rank, size);
        co_return v;
    }
    const auto members = static_cast<std::size_t>(rank.size());
    const Stream key = rank.stream();
    cluster_.rounds_.at(key, members).enter(static_cast<std::size_t>(rank.place()), std::move(v));
    co_await paceline::all_reduce(how, rank, size);
    Vector result = cluster_.rounds_.at(key, members).once(mean_of<Vector>);
    cluster_.rounds_.leave(key);
    co_return result;
}

bool Worker::tolerates_failures(const GroupPtr& group) const {
    if (!cluster_.membership_) return false;
    PACELINE_CHECK(group == cluster_.everybody_, "where nodes fail, the group is everybody");
    return true;
}

Task<> Worker::all_gather(Bytes block, AllGather how, const GroupPtr& group) {
    if (tolerates_failures(group))
        return fault_tolerant_all_gather(next_stream(*group), block, how);
    const Rank rank = next_rank(group);
    return take_part(rank, paceline::all_gather(how, rank, block), name_of(how));
}

Task<> Worker::sparse_all_reduce(UnionWeight weight, const GroupPtr& group) {
    if (tolerates_failures(group))
        return fault_tolerant_sparse_all_reduce(next_stream(*group), std::move(weight));
    return sparse_all_reduce_in(next_rank(group), std::move(weight));
}

Task<> Worker::sparse_all_reduce_in(Rank rank, UnionWeight weight) {
    const RoundTimer timer = enter(rank, "sparse all-reduce");
    co_await paceline::sparse_all_reduce(rank, weight);
}

Task<Vector> Worker::combine(Vector v, CollectiveOfOwn messages, Form form) {
    if (cluster_.membership_)
        return fault_tolerant_combine(next_stream(*everybody()), std::move(v), std::move(messages),
                                      std::move(form));
    return combine_in(next_rank(everybody()), std::move(v), std::move(messages), std::move(form));
}

Task<Vector> Worker::combine_in(Rank rank, Vector v, CollectiveOfOwn messages, Form form) {
    const RoundTimer timer = enter(rank, "exchange");
    if (!v.has_values()) {
        co_await messages(rank);
        co_return v;
    }
    const Stream key = rank.stream();
    const auto members = static_cast<std::size_t>(nodes());
    cluster_.rounds_.at(key, members).enter(static_cast<std::size_t>(rank_), std::move(v));
    co_await messages(rank);
    Vector result = cluster_.rounds_.at(key, members).once(form);
    cluster_.rounds_.leave(key);
    co_return result;
}

Task<Vector> Worker::neighbor_average(Vector v) {
    const Bytes size = weigh(v);
    return neighbor_average(std::move(v), size);
}

Task<Vector> Worker::neighbor_average(Vector v, Bytes size) {
    PACELINE_CHECK(!cluster_.job_.mixing.empty(), "averaging with neighbors needs a mixing");
    return neighbor_sum(next_stream(*everybody()), std::move(v), size, Weights::of_row);
}

Task<Vector> Worker::neighbor_sum(Vector v, Bytes size) {
    PACELINE_CHECK(!cluster_.job_.mixing.empty(), "adding up neighbors needs a mixing");
    return neighbor_sum(next_stream(*everybody()), std::move(v), size, Weights::one);
}

Task<Vector> Worker::neighbor_sum(Stream key, Vector v, Bytes size, Weights weights) {
    if (cluster_.membership_) return fault_tolerant_neighbor_sum(key, std::move(v), size, weights);
    return neighbor_sum_in(key, std::move(v), size, weights);
}

MixingPtr Worker::mixing() const {
    PACELINE_CHECK(!cluster_.job_.mixing.empty(), "neighbors need a mixing");
    return cluster_.job_.mixing.at(std::max<std::int64_t>(step_, 0));
}

// The first worker that enters the round draws W of the step, and W is erased when the last worker
// has left, like the values. Several W may exist at once, because distant workers may be in
// different steps.
Task<Vector> Worker::neighbor_sum_in(Stream key, Vector v, Bytes size, Weights weights) {
    const auto members = static_cast<std::size_t>(nodes());
    const MixingPtr mixing =
        cluster_.mixings_.at(key, members).once([&](const auto&) { return this->mixing(); });
    std::vector<int> from;
    for (const MixingWeight& w : mixing->row(rank_))
        if (w.node != rank_) from.push_back(w.node);

    const RoundTimer timer(cluster_.entries_, time_use_, "exchange with neighbors", key, members,
                           rank_, from);
    cluster_.rounds_.at(key, members).enter(static_cast<std::size_t>(rank_), std::move(v));
    co_await neighbor_exchange(cluster_.network_, rank_, mixing->listeners(rank_), from, key, size);

    const Round<Vector>& round = cluster_.rounds_.at(key, members);
    Vector sum = Vector::zero_like(round.of(static_cast<std::size_t>(rank_)));
    for (const MixingWeight& w : mixing->row(rank_))
        sum +=
            (weights == Weights::one ? 1 : w.weight) * round.of(static_cast<std::size_t>(w.node));
    cluster_.rounds_.leave(key);
    cluster_.mixings_.leave(key);
    co_return sum;
}

Task<> Worker::send(int to, Vector v) {
    const Bytes size = weigh(v);
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

Task<> Worker::post(int to, int box, Letter letter, Bytes weight) {
    if (!present(to)) co_return;
    letter.from = rank_;
    cluster_.expect_letter(rank_, to, box, std::move(letter));
    co_await Send(cluster_.network_, rank_, to, lane_of_box(box), weight, Protocol::eager);
}

Task<Letter> Worker::next_letter(int box) {
    co_return co_await this->box(box).get();
}

void Worker::count_decode_failures(std::int64_t failures) {
    cluster_.decode_failures_ = cluster_.decode_failures_.value_or(0) + failures;
}

void Worker::count_staleness(double age) {
    cluster_.staleness_.add(age);
}

void Worker::count_participation(double share) {
    cluster_.participation_.add(share);
}

void Worker::serve(Task<> work) {
    cluster_.serve(rank_, fmt::format("service of node {}", rank_), std::move(work));
}

}  // namespace paceline
