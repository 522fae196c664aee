// A worker: the training process of one node, as an algorithm sees it.
//
// An algorithm is a coroutine over a Worker, written once and run on every node:
//
//   Task<> decentralized_sgd(Worker& self) {
//       Vector& x = self.model();
//       while (self.begins_step()) {
//           const double gamma = self.learning_rate();
//           const Vector g = co_await self.gradient(x);
//           x = co_await self.neighbor_average(x - gamma * g);
//       }
//   }
//
// Time and values go together. Each operation takes the simulated time of its computation or its
// messages, and its value depends only on what the messages it waited for could have brought. In
// timing-only runs vectors have no values, and the same code takes the same simulated time.
//
// The k-th call of a collective on one worker belongs with the k-th call on every other member of
// its group; together these calls are a round. The group is the whole cluster unless one is named.
// Collectives that run side by side, and whose order may differ between workers, use groups of
// different channels: each channel counts its own calls.
// A blocking call is `co_await self.all_reduce(g)`; a non-blocking one is
// `self.start(self.all_reduce(g))`, awaited later.
//
// A worker may also be a view of a device: as a member of a group (`among`), or as its island
// (`as`). The view has the device's clock and model, and is a worker of the group, or of the
// islands.
//
// What a loop needs at every step is a verb of the worker. The rest is in groups: `self.mail()` for
// methods without rounds, `self.lives()` for those that ask who is present, `self.metrics()`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/mail/worker_mail.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "algorithms/runtime/collectives.hpp"
#include "algorithms/runtime/method_metrics.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/engine/random.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

class Backward;
class CommonOrder;
class ExchangeToCome;
struct Island;
class LayoutParts;
class Lives;
class SharedSparseSizes;
struct StepTiming;
struct SharedState;
struct WorkerState;

class Worker {
  public:
    /// Requires that both outlive the worker.
    Worker(SharedState& shared, WorkerState& own) : Worker(shared, own, nullptr, nullptr) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Returns this device as a worker among the members of a group, which are its everybody().
    [[nodiscard]] Worker among(GroupPtr group) const;
    /// Returns this device as its island, which must outlive the view; a server as one that serves
    /// islands. An island has no backward pass in pieces, and no collectives of its own but those
    /// that name a group.
    [[nodiscard]] Worker as(const Island& island) const;
    /// Returns the island that this is a view of; null if it is none.
    [[nodiscard]] const Island* island() const { return island_; }

    [[nodiscard]] int rank() const;
    [[nodiscard]] int workers() const;
    [[nodiscard]] Simulation& simulation() const;
    [[nodiscard]] bool timing_only() const;
    [[nodiscard]] WireFormat wire() const;
    /// Returns the layout that messages weigh as: the model's own, or that of the net it stands in
    /// for.
    [[nodiscard]] const LayoutPtr& charged_layout() const;
    [[nodiscard]] bool stands_in() const;
    /// Return the layouts, and the sizes of sparse messages, that the workers share.
    [[nodiscard]] LayoutParts& layouts() const;
    [[nodiscard]] SharedSparseSizes& sparse_sizes() const;

    // --- steps ---

    /// Begins the next step and returns true, or returns false if there is none. Whether step k is
    /// taken is decided once, for all workers, unless the job counts the gradients of all of them.
    [[nodiscard]] bool begins_step();
    /// Returns the number of the current step: 0, 1, ...
    [[nodiscard]] std::int64_t step() const;
    /// Returns the number of epochs passed at the beginning of this step; 0 if the size of the data
    /// set is not known.
    [[nodiscard]] double epoch() const;
    [[nodiscard]] double learning_rate() const;
    /// Returns false once the job allows no more gradients of all workers together to begin.
    [[nodiscard]] bool gradients_left() const;

    // --- state ---

    /// Returns this worker's own model.
    [[nodiscard]] Vector& model();
    /// Returns the model of a synchronous method, which is equal on all workers and exists once.
    [[nodiscard]] Vector& replicated_model();
    /// Returns state that is equal on all workers and exists once; it is zero at first.
    [[nodiscard]] Vector& replicated(std::string_view name);
    /// The same, but the state is `first` at first.
    [[nodiscard]] Vector& replicated(std::string_view name, const Vector& first);
    /// Runs the k-th update of replicated state on the first worker that calls this; does nothing
    /// on the others. Updates are numbered 0, 1, ... without gaps, except where all workers died
    /// before an update.
    template <class Update>
    void once(std::int64_t k, Update update) {
        if (begins_update(k)) update();
    }
    /// Returns the number of updates of replicated state so far.
    [[nodiscard]] std::int64_t updates_done() const;
    /// Returns the current model of this worker, its own or the replicated one; for measurement.
    [[nodiscard]] const Vector& current_model() const;
    /// Notes that the current model of this worker is that of another one.
    void follow(int rank);
    [[nodiscard]] RandomStream stream(std::string_view name) const;
    /// Returns a random stream that is the same on all workers, such as that of a step. Requires
    /// that no other stream has this name.
    [[nodiscard]] RandomStream common_stream(std::string_view name, std::int64_t index) const;
    /// Returns an order that worker 0 decides and all follow. The k-th call here on a channel gives
    /// the same order as the k-th call of every other worker. Requires !lives().others_fail().
    [[nodiscard]] std::shared_ptr<CommonOrder> common_order(int channel);
    /// Returns the number of samples that worker `rank` trains on; 1 if it is not known.
    [[nodiscard]] double samples(int rank) const;

    // --- computation, one at a time: the device is a resource (computation.hpp) ---

    /// Returns the stochastic gradient at x as passed; takes the time of a step. Throws Diverged if
    /// the gradient is not finite.
    Task<Vector> gradient(Vector x);
    /// The same for local use: passes the gradient to `use` at once, on the thread that formed it
    /// and while it is in the cache. Requires that `use` changes only state of this worker.
    Task<> gradient(Vector x, std::function<void(Vector g)> use);
    /// Equals gradient(x) followed by its all_reduce, for an x that is equal on all workers. It
    /// takes the same time, but forms the mean gradient over all batches at once. Requires that
    /// `how` outlives the task.
    Task<Vector> mean_gradient(Vector x, const AllReducePlan& how);
    /// Takes all of these steps with one. Thousands of workers that wait in here need little
    /// memory. Requires that `how` lives as long as the steps.
    Task<> mean_gradients(const AllReducePlan& how, std::unique_ptr<StepsByMeans> steps);
    /// Begins the computation of the gradient at x as passed, which becomes complete bucket by
    /// bucket (backward.hpp). Await the last bucket before the next gradient.
    [[nodiscard]] Backward backward(Vector x);
    /// The same, but the layers of each bucket wait in the forward pass until `arrived(bucket)` has
    /// returned. The gradient is that at x as it is when the forward pass is over. Requires that x
    /// outlives the forward pass.
    [[nodiscard]] Backward forward_and_backward(const Vector& x,
                                                std::function<Task<>(std::size_t bucket)> arrived);
    /// The same, but both passes of every gradient of the step wait for each bucket: computation j
    /// of backward.hpp begins when `reach(j)` has returned.
    [[nodiscard]] Backward micro_batches(const Vector& x,
                                         std::function<Task<>(std::size_t j)> reach);
    /// Returns how long a gradient takes, and when its buckets are complete.
    [[nodiscard]] const StepTiming& timing() const;
    /// Takes the time of the optimizer's work at the end of a step.
    Task<> update();
    /// Takes the share of that time for the entries [begin, end) of `entries`.
    Task<> update_part(std::int64_t begin, std::int64_t end, std::int64_t entries);
    /// Takes the time of any other work of this node's device, once the device is free. The
    /// arithmetic `work` is done when the time is over (local_work.hpp); null: none. Requires that
    /// `work` changes only state of this worker.
    Task<> compute(Duration time, std::function<void()> work = nullptr);

    // --- communication ---

    /// Returns the group of an island's own devices, on a channel that its inner method knows not.
    [[nodiscard]] GroupPtr inside(int channel = 0) const;
    /// Returns the group of these ranks, numbers in everybody(), on a channel. All workers that
    /// name the same ranks in the same order, and the same channel, get the same group. Requires
    /// that the ranks are distinct and that this worker is one of them. A job whose nodes fail on
    /// their own knows no group but everybody() and those within an island.
    [[nodiscard]] GroupPtr group(std::vector<int> ranks, int channel = 0);
    /// Returns the group of all workers, on channel 0; of an island, the devices of its
    /// lane, or null if it has none.
    [[nodiscard]] const GroupPtr& everybody() const;

    // Without a group, these are collectives of everybody().

    /// Takes the time of a collective that an algorithm defines itself. `name` is a string literal
    /// for the observer (worker_observer.hpp).
    Task<> exchange(CollectiveOfOwn messages, std::string_view name = "collective",
                    const GroupPtr& group = nullptr);
    /// Returns the mean of the v of all members.
    Task<Vector> all_reduce(Vector v, const AllReducePlan& how = AllReduce::ring,
                            const GroupPtr& group = nullptr);
    /// The same, with messages that weigh `weight` instead of what v weighs.
    Task<Vector> all_reduce(Vector v, const AllReducePlan& how, Bytes weight,
                            const GroupPtr& group = nullptr);
    /// Returns the weight of v on the wire; the whole model weighs as the job's charged layout.
    [[nodiscard]] Bytes weigh(const Vector& v) const;
    /// Takes the time of an all-gather: one block of these bytes from every member to every member.
    Task<> all_gather(Bytes block, AllGather how, const GroupPtr& group = nullptr);
    /// Takes the time of a sparse all-reduce whose messages weigh as the unions that they carry.
    Task<> sparse_all_reduce(UnionWeight weight, const GroupPtr& group = nullptr);
    /// Returns the mean of the sparse v of all members. Messages weigh what they contain
    /// (sparse_round.hpp).
    Task<Vector> sparse_all_reduce(SparseVector v, SparsePacking packing,
                                   const GroupPtr& group = nullptr);
    /// A collective that an algorithm defines itself. v enters, `messages` takes its time, and
    /// `form` is applied once to what all members entered; its result is returned. Requires that
    /// through `messages` each member learns, directly or by way of others, something from every
    /// other, as in an all-gather. Returns v if v has no values.
    Task<Vector> combine(Vector v, CollectiveOfOwn messages, Form form,
                         const GroupPtr& group = nullptr, std::string_view name = "exchange");
    /// The same, but the time is that of other collectives of this worker, which `collectives`
    /// carries out.
    Task<Vector> combine_around(Vector v, CollectiveOfOwn collectives, Form form,
                                const GroupPtr& group);
    /// Like combine, but only the member in place 0 forms the result and returns it. The others
    /// return the v that they passed, and may be done before others have entered. Requires that
    /// through `messages` the first member learns something from every other, as in a reduction.
    Task<Vector> reduce_to_first(Vector v, CollectiveOfOwn messages, Form form,
                                 const GroupPtr& group, std::string_view name = "reduce");
    /// Returns the sum over j of w_ij v_j over this worker's row of W. If this is the k-th call
    /// here, v_j is what j passed to its own k-th call. W is that of the step. Requires a mixing,
    /// and that all workers make the same number of calls in a step.
    Task<Vector> neighbor_average(Vector v);
    /// The same, with messages that weigh `size`.
    Task<Vector> neighbor_average(Vector v, Bytes size);
    /// The same among the first devices of machines of `devices`, which call it; W is one of
    /// machines.
    Task<Vector> machine_average(Vector v, Bytes size, int devices);
    /// Returns the sum of the v of this worker and of those that it listens to, without weights; v
    /// weighs `size`. Otherwise as neighbor_average.
    Task<Vector> neighbor_sum(Vector v, Bytes size);
    /// Returns W of the current step.
    [[nodiscard]] MixingPtr mixing() const;
    /// Returns the workers that the next neighbor_sum sends to: those that listen to this one and
    /// are present.
    [[nodiscard]] std::vector<int> listeners() const;

    // --- beside rounds ---

    /// Returns the letters of this worker, for methods without rounds.
    [[nodiscard]] WorkerMail& mail() { return mail_; }
    /// Returns the workers that are present, in order.
    [[nodiscard]] std::vector<int> all_present() const;
    /// Returns who is present, and what is known of deaths and returns (lives.hpp).
    [[nodiscard]] const Lives& lives() const;
    /// Returns the counts that end up in the results.
    [[nodiscard]] MethodMetrics& metrics();
    /// Runs a service of this worker (Cluster::serve). What the service refers to must outlive this
    /// worker's algorithm, because the service continues after the algorithm has ended.
    void serve(Task<> work);
    /// Waits until all workers and servers have arrived here. It sends no messages and adds no time
    /// of its own. Use it only to keep counts of the simulation equal, never in place of
    /// information that a method must exchange.
    Task<> barrier();
    /// Notes that an exchange begins whose rounds may not all begin within this step
    /// (exchange_to_come.hpp).
    [[nodiscard]] ExchangeToCome exchange_to_come();
    /// Runs a task concurrently. Await the result once, or drop it to cancel the task.
    template <class T>
    Pending<T> start(Task<T> task) {
        return simulation().start(simulation().running_process(), std::move(task));
    }

  private:
    Worker(SharedState& shared, WorkerState& own, GroupPtr everybody, const Island* island);

    [[nodiscard]] bool begins_update(std::int64_t k);
    [[nodiscard]] const GroupPtr& or_everybody(const GroupPtr& group) const;
    [[nodiscard]] int device_of(int rank) const;
    Task<Vector> sum_over_neighbors(Vector v, Bytes size, NeighborWeights weights);
    Task<Vector> between_islands(Vector v, Bytes size,
                                 std::function<Task<Vector>(Vector v, Bytes part)> across);

    SharedState& shared_;
    WorkerState& own_;
    WorkerMail mail_;
    GroupPtr everybody_{};            // null: all workers of the job
    const Island* island_ = nullptr;  // null: this is a device
};

}  // namespace paceline
