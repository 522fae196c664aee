#include "algorithms/runtime/worker.hpp"

#include <set>
#include <utility>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/exchange_to_come.hpp"
#include "algorithms/runtime/node_failures.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/start_up.hpp"
#include "algorithms/runtime/surviving_collectives.hpp"
#include "algorithms/runtime/worker_state.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Decides whether step k is taken, once for all workers.
bool takes_step(SharedState& all, std::int64_t k, const WorkerState& asking) {
    if (!all.gradients_left()) {
        all.stop_decided = true;
        return false;
    }
    if (k < all.steps_decided) return true;
    if (all.stop_decided) return false;
    PACELINE_CHECK(k == all.steps_decided, "steps are taken one after the other");
    all.stop_decided = !all.job.takes_step(k);
    if (all.stop_decided) return false;
    ++all.steps_decided;
    all.newest_beginner = asking.rank;
    if (all.membership && asking.exchanges_to_come == 0) admit_ready_workers(all, k, asking);
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

ExchangeToCome Worker::exchange_to_come() {
    return ExchangeToCome(own_);
}

int Worker::rank() const {
    return own_.rank;
}

int Worker::workers() const {
    return shared_.workers;
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

bool Worker::begins_step() {
    if (shared_.job.after_steps) shared_.job.after_steps(own_.rank, step() + 1);
    if (!takes_step(shared_, step() + 1, own_)) {
        notify(shared_.observer().steps_end, shared_.host(own_.rank));
        return false;
    }
    ++own_.step;
    own_.schedule_step =
        shared_.job.gradients ? shared_.gradients_begun++ / shared_.workers : own_.step;
    note_progress(shared_, own_);
    notify(shared_.observer().step_begins, shared_.host(own_.rank), step());
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
    return shared_.job.learning_rate(own_.schedule_step);
}

bool Worker::gradients_left() const {
    return shared_.gradients_left();
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
    PACELINE_CHECK(k == shared_.updates_done || shared_.job.failures,
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

std::shared_ptr<CommonOrder> Worker::common_order(int channel) {
    PACELINE_CHECK(!others_fail(), "an order needs the worker that decides it");
    return shared_.common_order(own_, channel);
}

double Worker::samples(int rank) const {
    const std::vector<double>& samples = shared_.job.samples;
    return samples.empty() ? 1 : samples[static_cast<std::size_t>(rank)];
}

Task<Vector> Worker::gradient(Vector x) {
    return paceline::gradient(shared_, own_, std::move(x));
}

Task<> Worker::gradient(Vector x, std::function<void(Vector g)> use) {
    return paceline::gradient(shared_, own_, std::move(x), std::move(use));
}

Task<Vector> Worker::mean_gradient(Vector x, AllReducePlan how) {
    return shared_.collectives->mean_gradient(own_, std::move(x), how);
}

Backward Worker::backward(Vector x) {
    return Backward::of_model(shared_, own_, std::move(x));
}

Backward Worker::forward_and_backward(const Vector& x,
                                      std::function<Task<>(std::size_t bucket)> arrived) {
    return Backward::into_forward(shared_, own_, x, std::move(arrived));
}

Backward Worker::micro_batches(const Vector& x, std::function<Task<>(std::size_t j)> reach) {
    return Backward::by_micro_batch(shared_, own_, x, std::move(reach));
}

const StepTiming& Worker::timing() const {
    return shared_.job.timing;
}

Task<> Worker::update() {
    const Duration work = shared_.job.update;
    if (work > Duration::zero())
        co_await paceline::compute(shared_, own_, {Work::Kind::update, own_.step}, work);
}

Task<> Worker::update_part(std::int64_t begin, std::int64_t end, std::int64_t entries) {
    const auto until = [&](std::int64_t entry) {
        return from_seconds(to_seconds(shared_.job.update) * static_cast<double>(entry) /
                            static_cast<double>(entries));
    };
    const Duration work = until(end) - until(begin);
    if (work > Duration::zero())
        co_await paceline::compute(shared_, own_, {Work::Kind::update, own_.step}, work);
}

Task<> Worker::compute(Duration time, std::function<void()> work) {
    return paceline::compute(shared_, own_, {}, time, std::move(work));
}

Bytes Worker::weigh(const Vector& v) const {
    return shared_.weigh(v);
}

GroupPtr Worker::group(std::vector<int> ranks, int channel) {
    const std::set<int> distinct(ranks.begin(), ranks.end());
    PACELINE_CHECK(distinct.size() == ranks.size(), "a group names each rank once");
    PACELINE_CHECK(distinct.contains(own_.rank), "a worker names groups of its own");
    PACELINE_CHECK(*distinct.begin() >= 0 && *distinct.rbegin() < workers(),
                   "a group has known ranks");
    return shared_.group(std::move(ranks), channel);
}

const GroupPtr& Worker::everybody() const {
    return shared_.everybody;
}

Task<> Worker::exchange(CollectiveOfOwn messages, std::string_view name, const GroupPtr& group) {
    return shared_.collectives->exchange(own_, group, name,
                                         behind_start_up(shared_, std::move(messages)));
}

Task<> Worker::barrier() {
    InWait waiting(shared_.observer(), shared_.host(own_.rank), WaitFor::stragglers);
    co_await shared_.barrier.arrive();
    waiting.note_over();
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

std::int64_t Worker::first_step(int rank) const {
    return shared_.worker(rank).first_step;
}

bool Worker::is_known_dead(int rank, int life) const {
    const Membership* const membership = shared_.membership.get();
    if (membership == nullptr || rank >= workers()) return false;
    if (membership->present(rank)) return membership->life(rank) != life;
    return membership->detection_time(rank) <= simulation().now();
}

Task<> Worker::death_detected(int node) const {
    return paceline::death_detected(shared_, node);
}

Task<Vector> Worker::all_reduce(Vector v, AllReducePlan how, const GroupPtr& group) {
    const Bytes size = weigh(v);
    return all_reduce(std::move(v), how, size, group);
}

Task<Vector> Worker::all_reduce(Vector v, AllReducePlan how, Bytes weight, const GroupPtr& group) {
    return combine(
        std::move(v),
        [how, weight](const Rank& rank) { return paceline::all_reduce(how, rank, weight); },
        mean_of<Vector>, group, name_of(how, weight));
}

Task<Vector> Worker::all_reduce_as(Vector v, const Layout& charged, AllReducePlan how) {
    return all_reduce(std::move(v), how, wire().weigh(charged.entries()));
}

Task<> Worker::all_gather(Bytes block, AllGather how, const GroupPtr& group) {
    return exchange(
        [how, block](const Rank& rank) { return paceline::all_gather(how, rank, block); },
        name_of(how), group);
}

Task<> Worker::sparse_all_reduce(UnionWeight weight, const GroupPtr& group) {
    return exchange([weight = std::move(weight)](
                        const Rank& rank) { return paceline::sparse_all_reduce(rank, weight); },
                    "sparse all-reduce", group);
}

Task<Vector> Worker::sparse_all_reduce(SparseVector v, SparsePacking packing,
                                       const GroupPtr& group) {
    return shared_.collectives->sparse_mean(own_, group, std::move(v), std::move(packing));
}

Task<Vector> Worker::combine(Vector v, CollectiveOfOwn messages, Form form, const GroupPtr& group,
                             std::string_view name) {
    return shared_.collectives->combine(own_, group, name, std::move(v),
                                        behind_start_up(shared_, std::move(messages)),
                                        std::move(form));
}

Task<Vector> Worker::combine_around(Vector v, CollectiveOfOwn collectives, Form form,
                                    const GroupPtr& group) {
    return shared_.collectives->combine(own_, group, "exchange", std::move(v),
                                        std::move(collectives), std::move(form));
}

Task<Vector> Worker::reduce_to_first(Vector v, CollectiveOfOwn messages, Form form,
                                     const GroupPtr& group, std::string_view name) {
    return shared_.collectives->reduce_to_first(own_, group, name, std::move(v),
                                                behind_start_up(shared_, std::move(messages)),
                                                std::move(form));
}

Task<Vector> Worker::neighbor_average(Vector v) {
    const Bytes size = weigh(v);
    return neighbor_average(std::move(v), size);
}

Task<Vector> Worker::neighbor_average(Vector v, Bytes size) {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "averaging with neighbors needs a mixing");
    return shared_.collectives->neighbor_sum(own_, std::move(v), size, NeighborWeights::of_row);
}

Task<Vector> Worker::machine_average(Vector v, Bytes size, int devices) {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "averaging with neighbors needs a mixing");
    return shared_.collectives->machine_sum(own_, std::move(v), size, devices);
}

Task<Vector> Worker::neighbor_sum(Vector v, Bytes size) {
    PACELINE_CHECK(!shared_.job.mixing.empty(), "adding up neighbors needs a mixing");
    return shared_.collectives->neighbor_sum(own_, std::move(v), size, NeighborWeights::one);
}

MixingPtr Worker::mixing() const {
    return shared_.mixing_of(own_);
}

std::vector<int> Worker::listeners() const {
    return shared_.collectives->listeners(own_);
}

const LayoutPtr& Worker::charged_layout() const {
    const Job& job = shared_.job;
    return job.charged == nullptr ? job.start.layout() : job.charged;
}

LayoutParts& Worker::layouts() const {
    return shared_.layouts;
}

bool Worker::stands_in() const {
    return shared_.job.charged != nullptr;
}

void Worker::count_decode_failures(std::int64_t failures) {
    shared_.decode_failures = shared_.decode_failures.value_or(0) + failures;
}

void Worker::count_staleness(double age) {
    shared_.staleness.add(age);
}

void Worker::count_round(std::size_t asked, std::size_t contributed) {
    shared_.clients.add(static_cast<double>(asked));
    shared_.participation.add(static_cast<double>(contributed) / workers());
    Traffic& until_now = shared_.traffic_of_rounds;
    until_now = {};
    for (int rank = 0; rank < workers(); ++rank) {
        until_now.sent += shared_.network.traffic(rank).sent;
        until_now.received += shared_.network.traffic(rank).received;
    }
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

}  // namespace paceline
