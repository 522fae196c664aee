#include "algorithms/runtime/worker.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "algorithms/lives/exchange_to_come.hpp"
#include "algorithms/lives/lives.hpp"
#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/island.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/start_up.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Each step that a worker begins for the first time is progress if the number of steps is bounded.
// The steps of a run that only a time ends are none: if they take no time, it never ends.
void note_progress(SharedState& all, WorkerState& own) {
    if (own.step <= own.newest_step) return;
    own.newest_step = own.step;
    if (all.job.steps_are_counted) all.simulation().note_progress();
}

// Ranks in increasing order, as most groups have them, need no copy.
bool names_each_once(const std::vector<int>& ranks) {
    if (std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end()) return true;
    std::vector<int> sorted = ranks;
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) == sorted.end();
}

// One step, whose point becomes the mean.
class StepAt final : public StepsByMeans {
  public:
    explicit StepAt(Vector& x) : x_(x) {}
    const Vector* begin() override { return std::exchange(ended_, true) ? nullptr : &x_; }
    Task<> end(Vector mean) override {
        x_ = std::move(mean);
        co_return;
    }

  private:
    Vector& x_;
    bool ended_ = false;
};

constexpr int channels_of_inner_methods = 1 << 20;

std::unique_ptr<const IslandAddress> address_of(const Island* island, int devices) {
    if (island == nullptr) return nullptr;
    return std::make_unique<const IslandAddress>(island->of_all, island->number, devices,
                                                 &island->news);
}

Task<Vector> inner_gradient(InnerMethod& inner, Vector x) {
    co_return co_await inner.mean_gradient(x);
}

Task<> inner_gradient(InnerMethod& inner, Vector x, std::function<void(Vector g)> use) {
    use(co_await inner.mean_gradient(x));
}

}  // namespace

Worker::Worker(SharedState& shared, WorkerState& own, GroupPtr everybody, const Island* island)
    : shared_(shared),
      own_(own),
      mail_(shared.mail, shared.lives, own.rank, address_of(island, shared.workers)),
      everybody_(std::move(everybody)),
      island_(island) {}

Worker Worker::among(GroupPtr group) const {
    return {shared_, own_, std::move(group), nullptr};
}

Worker Worker::as(const Island& island) const {
    return {shared_, own_, island.lane, &island};
}

int Worker::rank() const {
    if (island_ != nullptr) return island_->number;
    if (everybody_ == nullptr) return own_.rank;
    const std::vector<int>& all = everybody_->members;
    return static_cast<int>(std::ranges::find(all, own_.rank) - all.begin());
}

int Worker::workers() const {
    if (island_ != nullptr) return island_->islands();
    return everybody_ == nullptr ? shared_.workers : static_cast<int>(everybody_->members.size());
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
    const std::int64_t k = step() + 1;
    if (shared_.job.after_steps) shared_.job.after_steps(own_.rank, k);
    const bool newest = k == shared_.steps.begun();
    if (!shared_.steps.takes(k, own_.rank)) {
        notify(shared_.observer().steps_end, shared_.host(own_.rank));
        return false;
    }
    if (newest && own_.exchanges_to_come == 0) shared_.lives.admit(k, own_);
    own_.step = k;
    own_.before_step = own_.gradients;
    if (shared_.job.failures && shared_.job.failures->steps_count) own_.counted = own_.gradients;
    own_.schedule_step = shared_.steps.count_gradient(k);
    note_progress(shared_, own_);
    notify(shared_.observer().step_begins, shared_.host(own_.rank), k);
    shared_.lives.save(own_, shared_.steps.began_newest(k, own_.rank), shared_.replicated);
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
    return shared_.steps.gradients_left();
}

Vector& Worker::model() {
    return own_.model;
}

Vector& Worker::replicated_model() {
    return replicated("model", shared_.job.start);
}

Vector& Worker::replicated(std::string_view name) {
    return shared_.replicated.at(name, [&] { return Vector::zero_like(shared_.job.start); });
}

Vector& Worker::replicated(std::string_view name, const Vector& first) {
    return shared_.replicated.at(name, [&] { return first; });
}

bool Worker::begins_update(std::int64_t k) {
    return shared_.replicated.begin_update(k, shared_.job.failures.has_value());
}

std::int64_t Worker::updates_done() const {
    return shared_.replicated.updates_done();
}

const Vector& Worker::current_model() const {
    const Vector* const replica = shared_.replicated.find("model");
    if (replica != nullptr) return *replica;
    return own_.follows == nullptr ? own_.model : own_.follows->model;
}

void Worker::follow(int rank) {
    own_.follows = &shared_.states[static_cast<std::size_t>(rank)];
}

RandomStream Worker::stream(std::string_view name) const {
    const int number = island_ == nullptr ? own_.rank : island_->number;
    return shared_.streams.stream(name, static_cast<std::uint64_t>(number));
}

RandomStream Worker::common_stream(std::string_view name, std::int64_t index) const {
    return shared_.streams.stream(name, static_cast<std::uint64_t>(index));
}

std::shared_ptr<CommonOrder> Worker::common_order(int channel) {
    PACELINE_CHECK(!lives().others_fail(), "an order needs the worker that decides it");
    return shared_.orders.at(channel, own_.orders[channel]++);
}

double Worker::samples(int rank) const {
    const std::vector<double>& samples = shared_.job.samples;
    if (samples.empty()) return 1;
    if (island_ == nullptr) return samples[static_cast<std::size_t>(device_of(rank))];
    double sum = 0;
    for (const int device : (*island_->of_all)[static_cast<std::size_t>(rank)])
        sum += samples[static_cast<std::size_t>(device)];
    return sum;
}

Task<Vector> Worker::gradient(Vector x) {
    if (island_ != nullptr) return inner_gradient(*island_->inner, std::move(x));
    return paceline::gradient(shared_, own_, std::move(x));
}

Task<> Worker::gradient(Vector x, std::function<void(Vector g)> use) {
    if (island_ != nullptr) return inner_gradient(*island_->inner, std::move(x), std::move(use));
    return paceline::gradient(shared_, own_, std::move(x), std::move(use));
}

Task<Vector> Worker::mean_gradient(Vector x, const AllReducePlan& how) {
    co_await mean_gradients(how, std::make_unique<StepAt>(x));
    co_return x;
}

Task<> Worker::mean_gradients(const AllReducePlan& how, std::unique_ptr<StepsByMeans> steps) {
    return shared_.collectives->mean_gradients(own_, everybody(), how, std::move(steps));
}

Backward Worker::backward(Vector x) {
    PACELINE_CHECK(island_ == nullptr, "an island's backward passes are those of its devices");
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
    if (island_ != nullptr)
        co_await island_->inner->update();
    else if (work > Duration::zero())
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
    const auto [least, most] = std::ranges::minmax(ranks);
    PACELINE_CHECK(least >= 0 && most < workers(), "a group has known ranks");
    if (everybody_ != nullptr)
        for (int& rank : ranks) rank = device_of(rank);
    PACELINE_CHECK(std::ranges::find(ranks, own_.rank) != ranks.end(),
                   "a worker names groups of its own");
    PACELINE_CHECK(names_each_once(ranks), "a group names each rank once");
    return shared_.groups.of(std::move(ranks), channel);
}

GroupPtr Worker::inside(int channel) const {
    return shared_.groups.of(island_->members(), channels_of_inner_methods + channel);
}

const GroupPtr& Worker::everybody() const {
    if (island_ != nullptr) return island_->lane;
    return everybody_ == nullptr ? shared_.groups.everybody() : everybody_;
}

const GroupPtr& Worker::or_everybody(const GroupPtr& group) const {
    PACELINE_CHECK(group != nullptr || island_ == nullptr, "an island exchanges by its lanes");
    return group == nullptr ? everybody() : group;
}

int Worker::device_of(int rank) const {
    return everybody_ == nullptr ? rank : everybody_->members[static_cast<std::size_t>(rank)];
}

// The chunks of v go between islands by their lanes, and what comes is handed to all inside.
Task<Vector> Worker::between_islands(Vector v, Bytes size,
                                     std::function<Task<Vector>(Vector v, Bytes part)> across) {
    const Island& island = *island_;
    const Resource::Lease turn = co_await island.turns.acquire();
    if (island.lane != nullptr)
        v = co_await across(std::move(v), chunk(size, island.lanes, island.place % island.lanes));
    if (island.islands() == 1) co_return v;
    co_return co_await combine(std::move(v), messages_inside(island, size), of_first<Vector>,
                               inside(), name_inside(island));
}

Task<> Worker::exchange(CollectiveOfOwn messages, std::string_view name, const GroupPtr& group) {
    return shared_.collectives->exchange(own_, or_everybody(group), name,
                                         behind_start_up(shared_, own_, std::move(messages)));
}

Task<> Worker::barrier() {
    InWait waiting(shared_.observer(), shared_.host(own_.rank), WaitFor::stragglers);
    co_await shared_.lives.barrier().arrive(island_ == nullptr ? 1 : island_->acts_for);
    waiting.note_over();
}

std::vector<int> Worker::all_present() const {
    if (island_ == nullptr) return lives().all_present();
    std::vector<int> islands;
    for (int number = 0; number < workers(); ++number)
        if (lives().present((*island_->of_all)[static_cast<std::size_t>(number)].front()))
            islands.push_back(number);
    return islands;
}

const Lives& Worker::lives() const {
    return shared_.lives;
}

MethodMetrics& Worker::metrics() {
    return shared_.metrics;
}

void Worker::serve(Task<> work) {
    shared_.serve(own_.rank, fmt::format("service of node {}", own_.rank), std::move(work));
}

ExchangeToCome Worker::exchange_to_come() {
    return ExchangeToCome(own_);
}

Task<Vector> Worker::all_reduce(Vector v, const AllReducePlan& how, const GroupPtr& group) {
    const Bytes size = weigh(v);
    return all_reduce(std::move(v), how, size, group);
}

Task<Vector> Worker::all_reduce(Vector v, const AllReducePlan& how, Bytes weight,
                                const GroupPtr& group) {
    const auto among = [this, how](const GroupPtr& members, Vector own, Bytes part) {
        return combine(
            std::move(own),
            [how, part](const Rank& rank) { return paceline::all_reduce(how, rank, part); },
            mean_of<Vector>, members, name_of(how, part));
    };
    if (island_ == nullptr || group != nullptr) return among(group, std::move(v), weight);
    return between_islands(std::move(v), weight, [this, among](Vector own, Bytes part) {
        return among(island_->lane, std::move(own), part);
    });
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
    return shared_.collectives->sparse_mean(own_, or_everybody(group), std::move(v),
                                            std::move(packing));
}

Task<Vector> Worker::combine(Vector v, CollectiveOfOwn messages, Form form, const GroupPtr& group,
                             std::string_view name) {
    return shared_.collectives->combine(own_, or_everybody(group), name, std::move(v),
                                        behind_start_up(shared_, own_, std::move(messages)),
                                        std::move(form));
}

Task<Vector> Worker::combine_around(Vector v, CollectiveOfOwn collectives, Form form,
                                    const GroupPtr& group) {
    return shared_.collectives->combine(own_, or_everybody(group), "exchange", std::move(v),
                                        std::move(collectives), std::move(form));
}

Task<Vector> Worker::reduce_to_first(Vector v, CollectiveOfOwn messages, Form form,
                                     const GroupPtr& group, std::string_view name) {
    return shared_.collectives->reduce_to_first(own_, or_everybody(group), name, std::move(v),
                                                behind_start_up(shared_, own_, std::move(messages)),
                                                std::move(form));
}

Task<Vector> Worker::neighbor_average(Vector v) {
    const Bytes size = weigh(v);
    return neighbor_average(std::move(v), size);
}

Task<Vector> Worker::neighbor_average(Vector v, Bytes size) {
    return sum_over_neighbors(std::move(v), size, NeighborWeights::of_row);
}

Task<Vector> Worker::machine_average(Vector v, Bytes size, int devices) {
    std::vector<int> leaders;
    for (int rank = 0; rank < workers(); rank += devices) leaders.push_back(rank);
    return shared_.collectives->neighbor_sum(own_, group(std::move(leaders)), std::move(v), size,
                                             NeighborWeights::of_row);
}

Task<Vector> Worker::neighbor_sum(Vector v, Bytes size) {
    return sum_over_neighbors(std::move(v), size, NeighborWeights::one);
}

Task<Vector> Worker::sum_over_neighbors(Vector v, Bytes size, NeighborWeights weights) {
    const auto among = [this, weights](const GroupPtr& members, Vector own, Bytes part) {
        return shared_.collectives->neighbor_sum(own_, members, std::move(own), part, weights);
    };
    if (island_ == nullptr) return among(everybody(), std::move(v), size);
    return between_islands(std::move(v), size, [this, among](Vector own, Bytes part) {
        return among(island_->lane, std::move(own), part);
    });
}

MixingPtr Worker::mixing() const {
    return shared_.mixing_of(own_);
}

std::vector<int> Worker::listeners() const {
    if (island_ != nullptr) return mixing()->listeners(island_->number);
    return shared_.collectives->listeners(own_);
}

const LayoutPtr& Worker::charged_layout() const {
    const Job& job = shared_.job;
    return job.charged == nullptr ? job.start.layout() : job.charged;
}

LayoutParts& Worker::layouts() const {
    return shared_.layouts;
}

SharedSparseSizes& Worker::sparse_sizes() const {
    return shared_.sparse_sizes;
}

bool Worker::stands_in() const {
    return shared_.job.charged != nullptr;
}

}  // namespace paceline
