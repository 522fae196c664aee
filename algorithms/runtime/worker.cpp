#include "algorithms/runtime/worker.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/node_failures.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker_state.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/check.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

constexpr Stream mail_stream = 0;  // point-to-point; then come boxes, and epochs of groups from 1

// Decides whether step k is taken, once for all workers.
bool takes_step(SharedState& all, std::int64_t k, const WorkerState& asking) {
    if (k < all.steps_decided) return true;
    if (all.stop_decided) return false;
    PACELINE_CHECK(k == all.steps_decided, "steps are taken one after the other");
    all.stop_decided = !all.job.takes_step(k);
    if (all.stop_decided) return false;
    ++all.steps_decided;
    all.newest_beginner = asking.rank;
    if (all.membership) admit_ready_workers(all, k, asking);
    return true;
}

// Each step that a worker begins for the first time is progress if the number of steps is bounded.
// The steps of a run that only a time ends are none: if they take no time, it never ends.
void note_progress(SharedState& all, WorkerState& own) {
    if (own.step <= own.newest_step) return;
    own.newest_step = own.step;
    if (all.job.steps_are_counted) all.simulation().note_progress();
}

}  // namespace

Worker::Worker(SharedState& shared, WorkerState& own) : shared_(shared), own_(own) {}

int Worker::rank() const {
    return own_.rank;
}

int Worker::nodes() const {
    return shared_.nodes;
}

Simulation& Worker::simulation() const {
    return shared_.simulation();
}

WireFormat Worker::wire() const {
    return shared_.job.wire;
}

bool Worker::timing_only() const {
    return !shared_.job.start.has_values();
}

bool Worker::keeps_training() {
    if (shared_.job.after_steps) shared_.job.after_steps(own_.rank, step() + 1);
    if (!takes_step(shared_, step() + 1, own_)) {
        own_.time_use.take_no_more_steps();
        return false;
    }
    ++own_.step;
    note_progress(shared_, own_);
    own_.time_use.begin_step(step());
    if (shared_.job.failures) save_for_checkpoint(shared_, own_);
    return true;
}

std::int64_t Worker::step() const {
    return own_.step;
}

double Worker::epoch() const {
    const double per_epoch = shared_.job.steps_per_epoch;
    return per_epoch > 0 ? static_cast<double>(step()) / per_epoch : 0;
}

double Worker::learning_rate() const {
    return shared_.job.learning_rate(step());
}

Vector& Worker::model() {
    return own_.model;
}

Vector& Worker::replicated_model() {
    return replicated("model", shared_.job.start);
}

Vector& Worker::replicated(std::string_view name) {
    return replicated(name, Vector::zero_like(shared_.job.start));
}

Vector& Worker::replicated(std::string_view name, const Vector& first) {
    const auto found = shared_.replicated.find(name);
    if (found != shared_.replicated.end()) return found->second;
    return shared_.replicated.emplace(name, first).first->second;
}

bool Worker::begins_update(std::int64_t k) {
    if (k < shared_.updates_done) return false;
    PACELINE_CHECK(k == shared_.updates_done || shared_.membership,
                   "updates follow one another without gaps");
    shared_.updates_done = k + 1;
    return true;
}

const Vector& Worker::current_model() const {
    const auto replica = shared_.replicated.find("model");
    return replica != shared_.replicated.end() ? replica->second : own_.model;
}

RandomStream Worker::stream(std::string_view name) const {
    return shared_.streams.stream(name, static_cast<std::uint64_t>(own_.rank));
}

RandomStream Worker::common_stream(std::string_view name, std::int64_t index) const {
    return shared_.streams.stream(name, static_cast<std::uint64_t>(index));
}

double Worker::samples(int rank) const {
    const std::vector<double>& samples = shared_.job.samples;
    return samples.empty() ? 1 : samples[static_cast<std::size_t>(rank)];
}

Task<Vector> Worker::gradient(Vector x) {
    Vector g(x.layout());
    if (x.has_values()) {
        co_await gradient(std::move(x), [&](Vector formed) { g = std::move(formed); });
    } else {
        co_await paceline::compute(shared_, own_, {Work::Kind::gradient, own_.gradients},
                                   gradient_time(shared_, own_));
        ++own_.gradients;
    }
    co_return g;
}

Task<> Worker::gradient(Vector x, std::function<void(Vector g)> use) {
    const std::int64_t k = own_.gradients;
    const Duration time = gradient_time(shared_, own_);
    co_await paceline::compute(shared_, own_, {Work::Kind::gradient, k}, time, [&] {
        Vector g = evaluate_gradient(shared_, own_.rank, x, k);
        check_finite(g, own_.rank, k);
        use(std::move(g));
    });
    ++own_.gradients;
}

Task<Vector> Worker::mean_gradient(Vector x, AllReducePlan how) {
    if (shared_.membership) return fault_tolerant_mean_gradient(std::move(x), how);
    return mean_gradient_in(std::move(x), how);
}

Task<Vector> Worker::mean_gradient_in(Vector x, AllReducePlan how) {
    const std::int64_t k = own_.gradients;
    co_await paceline::compute(shared_, own_, {Work::Kind::gradient, k},
                               gradient_time(shared_, own_));
    ++own_.gradients;
    const Rank rank = next_rank(everybody());
    co_await take_part(rank, paceline::all_reduce(how, rank, weigh(x)), name_of(how, weigh(x)));
    if (!x.has_values()) co_return x;

    const auto members = static_cast<std::size_t>(nodes());
    Round<Vector>& round = shared_.rounds.at(rank.stream(), members);
    Vector mean = round.once([&](const auto&) {
        Vector formed = evaluate_mean_gradient(shared_, x, k);
        check_finite(formed, own_.rank, k);
        return formed;
    });
    shared_.rounds.leave(rank.stream());
    co_return mean;
}

Backward Worker::backward(Vector x) {
    return {shared_, own_, std::move(x)};
}

Task<> Worker::update() {
    const Duration work = shared_.job.update;
    if (work > Duration::zero())
        co_await paceline::compute(shared_, own_, {Work::Kind::update, own_.step}, work);
}

Task<> Worker::compute(Duration time) {
    return paceline::compute(shared_, own_, {}, time);
}

Task<> Worker::compute(Duration time, std::function<void()> work) {
    return paceline::compute(shared_, own_, {}, time, std::move(work));
}

Bytes Worker::weigh(const Vector& v) const {
    const bool whole = shared_.job.charged != nullptr && v.layout() == shared_.job.start.layout();
    return wire().weigh(whole ? shared_.job.charged->entries() : v.entries());
}

GroupPtr Worker::group(std::vector<int> ranks) {
    const std::set<int> distinct(ranks.begin(), ranks.end());
    PACELINE_CHECK(distinct.size() == ranks.size(), "a group names each rank once");
    PACELINE_CHECK(distinct.contains(own_.rank), "a worker names groups of its own");
    PACELINE_CHECK(*distinct.begin() >= 0 && *distinct.rbegin() < nodes(),
                   "a group has known ranks");
    return shared_.group(std::move(ranks));
}

const GroupPtr& Worker::everybody() const {
    return shared_.everybody;
}

RoundTimer Worker::enter(const Rank& rank, std::string_view name) {
    return {shared_.entries, own_.time_use, name, rank.stream(),
            static_cast<std::size_t>(rank.size())};
}

Task<> Worker::take_part(Rank rank, Task<> messages, std::string_view name) {
    const RoundTimer timer = enter(rank, name);
    co_await std::move(messages);
}

Task<> Worker::barrier() {
    const Time came = simulation().now();
    const Duration computed = own_.time_use.computed();
    co_await shared_.barrier.arrive();
    const Time now = simulation().now();
    own_.time_use.wait_for_stragglers(now - came - (own_.time_use.computed() - computed), now);
}

unsigned Worker::barriers_passed() const {
    return shared_.barrier.times_opened() - shared_.barriers_before_restart;
}

bool Worker::present(int rank) const {
    return shared_.present(rank);
}

std::vector<int> Worker::all_present() const {
    return shared_.all_present();
}

bool Worker::others_fail() const {
    return shared_.membership != nullptr;
}

int Worker::life(int rank) const {
    return shared_.life_of(rank);
}

Rank Worker::next_rank(const GroupPtr& group) {
    std::ptrdiff_t place = own_.rank;
    if (group != shared_.everybody)
        place = std::ranges::find(group->members, own_.rank) - group->members.begin();
    PACELINE_CHECK(std::cmp_less(place, group->members.size()),
                   "a member calls a collective of its group");
    return {shared_.network, group, static_cast<int>(place), own_.begin_round(*group)};
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
        return fault_tolerant_all_reduce(own_.begin_round(*group), std::move(v), how, weight);
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
    shared_.rounds.at(key, members).enter(static_cast<std::size_t>(rank.place()), std::move(v));
    co_await paceline::all_reduce(how, rank, size);
    Vector result = shared_.rounds.at(key, members).once(mean_of<Vector>);
    shared_.rounds.leave(key);
    co_return result;
}

bool Worker::tolerates_failures(const GroupPtr& group) const {
    if (!shared_.membership) return false;
    PACELINE_CHECK(group == shared_.everybody, "where nodes fail, the group is everybody");
    return true;
}

Task<> Worker::all_gather(Bytes block, AllGather how, const GroupPtr& group) {
    if (tolerates_failures(group))
        return fault_tolerant_all_gather(own_.begin_round(*group), block, how);
    const Rank rank = next_rank(group);
    return take_part(rank, paceline::all_gather(how, rank, block), name_of(how));
}

Task<> Worker::sparse_all_reduce(UnionWeight weight, const GroupPtr& group) {
    if (tolerates_failures(group))
        return fault_tolerant_sparse_all_reduce(own_.begin_round(*group), std::move(weight));
    return sparse_all_reduce_in(next_rank(group), std::move(weight));
}

Task<> Worker::sparse_all_reduce_in(Rank rank, UnionWeight weight) {
    const RoundTimer timer = enter(rank, "sparse all-reduce");
    co_await paceline::sparse_all_reduce(rank, weight);
}

Task<Vector> Worker::combine(Vector v, CollectiveOfOwn messages, Form form) {
    if (shared_.membership)
        return fault_tolerant_combine(own_.begin_round(*everybody()), std::move(v),
                                      std::move(messages), std::move(form));
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
    shared_.rounds.at(key, members).enter(static_cast<std::size_t>(own_.rank), std::move(v));
    co_await messages(rank);
    Vector result = shared_.rounds.at(key, members).once(form);
    shared_.rounds.leave(key);
    co_return result;
}

Task<Vector> Worker::neighbor_average(Vector v) {
    const Bytes size = weigh(v);
    return neighbor_average(std::move(v), size);
}

Task<Vector> Worker::neighbor_average(Vector v, Bytes size) {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "averaging with neighbors needs a mixing");
    return neighbor_sum(own_.begin_round(*everybody()), std::move(v), size, Weights::of_row);
}

Task<Vector> Worker::neighbor_sum(Vector v, Bytes size) {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "adding up neighbors needs a mixing");
    return neighbor_sum(own_.begin_round(*everybody()), std::move(v), size, Weights::one);
}

Task<Vector> Worker::neighbor_sum(Stream key, Vector v, Bytes size, Weights weights) {
    if (shared_.membership) return fault_tolerant_neighbor_sum(key, std::move(v), size, weights);
    return neighbor_sum_in(key, std::move(v), size, weights);
}

MixingPtr Worker::mixing() const {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "neighbors need a mixing");
    return shared_.job.mixing.at(std::max<std::int64_t>(step(), 0));
}

// The first worker that enters the round draws W of the step, and W is erased when the last worker
// has left, like the values. Several W may exist at once, because distant workers may be in
// different steps.
Task<Vector> Worker::neighbor_sum_in(Stream key, Vector v, Bytes size, Weights weights) {
    const auto members = static_cast<std::size_t>(nodes());
    const MixingPtr mixing =
        shared_.mixings.at(key, members).once([&](const auto&) { return this->mixing(); });
    std::vector<int> from;
    for (const MixingWeight& w : mixing->row(own_.rank))
        if (w.node != own_.rank) from.push_back(w.node);

    const RoundTimer timer(shared_.entries, own_.time_use, "exchange with neighbors", key, members,
                           own_.rank, from);
    shared_.rounds.at(key, members).enter(static_cast<std::size_t>(own_.rank), std::move(v));
    co_await neighbor_exchange(shared_.network, own_.rank, mixing->listeners(own_.rank), from, key,
                               size);

    const Round<Vector>& round = shared_.rounds.at(key, members);
    Vector sum = Vector::zero_like(round.of(static_cast<std::size_t>(own_.rank)));
    for (const MixingWeight& w : mixing->row(own_.rank))
        sum +=
            (weights == Weights::one ? 1 : w.weight) * round.of(static_cast<std::size_t>(w.node));
    shared_.rounds.leave(key);
    shared_.mixings.leave(key);
    co_return sum;
}

Task<> Worker::send(int to, Vector v) {
    const Bytes size = weigh(v);
    shared_.mail[{own_.rank, to}].push_back(std::move(v));
    co_await Send(shared_.network, own_.rank, to, mail_stream, size, Protocol::eager);
}

Task<Vector> Worker::receive(int from) {
    co_await Receive(shared_.network, own_.rank, from, mail_stream);
    std::deque<Vector>& mail = shared_.mail[{from, own_.rank}];
    Vector v = std::move(mail.front());
    mail.pop_front();
    co_return v;
}

Task<> Worker::post(int to, int box, Letter letter, Bytes weight) {
    if (!present(to)) co_return;
    letter.from = own_.rank;
    shared_.expect_letter(own_.rank, to, box, std::move(letter));
    co_await Send(shared_.network, own_.rank, to, lane_of_box(box), weight, Protocol::eager);
}

Task<Letter> Worker::next_letter(int box) {
    co_return co_await own_.boxes[box].get();
}

std::size_t Worker::letters_in(int box) {
    return own_.boxes[box].size();
}

void Worker::count_decode_failures(std::int64_t failures) {
    shared_.decode_failures = shared_.decode_failures.value_or(0) + failures;
}

void Worker::count_staleness(double age) {
    shared_.staleness.add(age);
}

void Worker::count_participation(double share) {
    shared_.participation.add(share);
}

std::int64_t Worker::updates_done() const {
    return shared_.updates_done;
}

std::int64_t Worker::gradients_computed() const {
    return own_.gradients;
}

std::int64_t Worker::gradients_undone() const {
    return own_.undone;
}

Duration Worker::compute_time() const {
    return own_.compute_time;
}

const TimeUse& Worker::time_use() const {
    return own_.time_use;
}

TimeUse& Worker::time_use() {
    return own_.time_use;
}

void Worker::serve(Task<> work) {
    shared_.serve(own_.rank, fmt::format("service of node {}", own_.rank), std::move(work));
}

}  // namespace paceline
