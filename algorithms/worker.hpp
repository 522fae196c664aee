// A worker: the training process of one node, as an algorithm sees it.
//
// An algorithm is a coroutine over a Worker, written once and run on every node:
//
//   Task<> decentralized_sgd(Worker& self) {
//       Vector& x = self.model();
//       while (self.keeps_training()) {
//           const double gamma = self.learning_rate();
//           const Vector g = co_await self.gradient(x);
//           x = co_await self.neighbor_average(x - gamma * g);
//       }
//   }
//
// Time and values go together: each operation takes the simulated time of its computation or
// messages, and its value depends only on what the messages it waited for could have brought. In
// timing-only runs vectors have no values and the same code costs the same time.
//
// The k-th call of a collective on one worker answers the k-th call on every other member of its
// group (its round). The group is the whole cluster unless one is named. A blocking call is
// `co_await self.all_reduce(g)`, a non-blocking one `self.start(self.all_reduce(g))`, awaited
// later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/cluster.hpp"
#include "algorithms/membership.hpp"
#include "algorithms/observer.hpp"
#include "algorithms/waiting.hpp"
#include "models/vector.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce_plan.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/random.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// What a collective makes of the contributions of all workers.
using Form = std::function<Vector(const Round<Vector>&)>;

/// The messages of one member of a collective, on the stream of `rank` or on others.
using CollectiveOfOwn = std::function<Task<>(const Rank& rank)>;

/// The lane of letters to a box.
[[nodiscard]] constexpr Stream lane_of_box(int box) {
    return 1 + static_cast<Stream>(box);
}

/// The backward pass of one step: its buckets become complete one after the other, last layer
/// first.
class Backward {
  public:
    [[nodiscard]] std::size_t buckets() const { return buckets_->size(); }
    /// Where bucket i begins in the whole gradient.
    [[nodiscard]] std::int64_t offset(std::size_t i) const;
    /// What bucket i weighs on the wire.
    [[nodiscard]] Bytes weight(std::size_t i) const;

    /// Waits until bucket i is complete and returns its part of the gradient, with a layout of its
    /// own. The last bucket ends the step. Where messages weigh as another layout than the model's,
    /// buckets are those of that layout, and each holds the same share of the gradient's entries.
    Task<Vector> bucket(std::size_t i);

  private:
    friend class Worker;
    struct Gradient;

    Backward(Worker& worker, Vector x, std::int64_t k, Time begin);

    Worker* worker_;
    const std::vector<Bucket>* buckets_;
    [[nodiscard]] Duration ready(std::size_t i) const { return ready_[i]; }

    LayoutPtr charged_;  // what the buckets are parts of
    Time begin_;
    std::vector<Duration> ready_;         // when each bucket is complete, from the beginning
    std::shared_ptr<Gradient> gradient_;  // joined when the first bucket is complete
};

class Worker {
  public:
    Worker(Cluster& cluster, int rank);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int nodes() const { return cluster_.nodes(); }
    [[nodiscard]] Simulation& simulation() const { return cluster_.network_.simulation(); }
    [[nodiscard]] WireFormat wire() const { return cluster_.job_.wire; }
    [[nodiscard]] bool timing_only() const { return !cluster_.job_.start.has_values(); }

    // --- steps ---

    /// Begins the next step if there is one. Whether step k is taken is decided once, for all
    /// workers.
    [[nodiscard]] bool keeps_training();
    /// Number of the current step: 0, 1, ...
    [[nodiscard]] std::int64_t step() const { return step_; }
    /// Epochs that have passed at the beginning of this step; 0 when the size of the data set is
    /// not known.
    [[nodiscard]] double epoch() const;
    [[nodiscard]] double learning_rate() const { return cluster_.job_.learning_rate(step_); }

    // --- state ---

    /// This worker's own model.
    [[nodiscard]] Vector& model() { return model_; }
    /// The model of a synchronous method: equal on all workers, so it exists once.
    [[nodiscard]] Vector& replicated_model() { return replicated("model", cluster_.job_.start); }
    /// State that is equal on all workers and exists once; zero at first.
    [[nodiscard]] Vector& replicated(std::string_view name);
    /// The same, `first` at first.
    [[nodiscard]] Vector& replicated(std::string_view name, const Vector& first);
    /// Runs the k-th update of what is replicated, on the first worker that gets there; nothing on
    /// the others. Updates are numbered 0, 1, ... without gaps, but for those that nobody lived to do.
    template <class Update>
    void once(std::int64_t k, Update update) {
        if (begins_update(k)) update();
    }
    /// The model of this worker as it is now, its own or the replicated one: for measurement.
    [[nodiscard]] const Vector& current_model() const;
    [[nodiscard]] RandomStream stream(std::string_view name) const;
    /// A stream that all workers have alike, such as that of a step. Its name is no other stream's.
    [[nodiscard]] RandomStream common_stream(std::string_view name, std::int64_t index) const;
    /// Samples that worker `rank` trains on; 1 where they are not known.
    [[nodiscard]] double samples(int rank) const;

    // --- computation ---

    /// The stochastic gradient at x as it is now; takes the time of a step. Throws Diverged unless
    /// it is finite.
    Task<Vector> gradient(Vector x);
    /// The same for what is local: the gradient goes to `use` at once, on the thread that formed
    /// it and while it is in the cache. `use` changes only what is this worker's own.
    Task<> gradient(Vector x, std::function<void(Vector g)> use);
    /// gradient(x), then its all_reduce, for an x that is equal on all workers: the same time, and
    /// the mean is formed at once of all batches.
    Task<Vector> mean_gradient(Vector x, AllReducePlan how);
    /// The same, bucket by bucket. Await its buckets in order, the last one before the next
    /// computation.
    [[nodiscard]] Backward backward(Vector x);
    /// The optimizer's own work at the end of a step.
    Task<> update();
    /// Any other work of this node's device.
    Task<> compute(Duration time) { return compute_as({}, time); }
    /// The same with its arithmetic, which changes only what is this worker's own; it has been done
    /// when the time is over (local_work.hpp).
    Task<> compute(Duration time, std::function<void()> work) {
        return compute_as({}, time, std::move(work));
    }

    // --- communication ---

    /// The group of these ranks, the same for all who name the same ranks in the same order.
    /// Requires that they are distinct and this worker is one of them.
    [[nodiscard]] GroupPtr group(std::vector<int> ranks);
    /// The group of all workers.
    [[nodiscard]] const GroupPtr& everybody() const { return cluster_.everybody_; }

    /// This worker's place in the next collective of a group, for those that only cost time.
    [[nodiscard]] Rank next_rank(const GroupPtr& group);
    /// The messages of such a collective, with what is waited for told apart (waiting.hpp). The name
    /// is a literal, for whoever watches (observer.hpp).
    Task<> take_part(Rank rank, Task<> messages, std::string_view name = "collective");
    /// The mean of the v of all members.
    Task<Vector> all_reduce(Vector v, AllReducePlan how = AllReduce::ring) {
        return all_reduce(std::move(v), how, everybody());
    }
    Task<Vector> all_reduce(Vector v, AllReducePlan how, const GroupPtr& group);
    /// The same, weighing what is said instead of what v does.
    Task<Vector> all_reduce(Vector v, AllReducePlan how, Bytes weight);
    /// What v weighs on the wire; the whole model weighs as the job's charged layout.
    [[nodiscard]] Bytes weigh(const Vector& v) const;
    /// Timing of a block of these bytes from every member to every member.
    Task<> all_gather(Bytes block, AllGather how) { return all_gather(block, how, everybody()); }
    Task<> all_gather(Bytes block, AllGather how, const GroupPtr& group);
    /// Timing of an all-reduce whose messages weigh what the unions they carry do.
    Task<> sparse_all_reduce(UnionWeight weight) {
        return sparse_all_reduce(std::move(weight), everybody());
    }
    Task<> sparse_all_reduce(UnionWeight weight, const GroupPtr& group);
    /// A collective of an algorithm's own: v enters, `messages` takes its time, and the result is
    /// formed once of what all workers entered. Requires that `messages` brings something of every
    /// worker to each, as an all-gather does. Without values it returns v.
    Task<Vector> combine(Vector v, CollectiveOfOwn messages, Form form);
    /// sum over j of w_ij v_j over this worker's row of W, v_j being what j passed to its own k-th
    /// call if this is the k-th here. W is that of the step. Requires a mixing, and that all workers
    /// make as many calls in a step.
    Task<Vector> neighbor_average(Vector v);
    /// The same, v weighing `size`.
    Task<Vector> neighbor_average(Vector v, Bytes size);
    /// The v of this worker and of those whom it listens to, added up; v weighs `size`. Otherwise
    /// as neighbor_average.
    Task<Vector> neighbor_sum(Vector v, Bytes size);
    /// W of the current step.
    [[nodiscard]] MixingPtr mixing() const;
    /// Those to whom the next neighbor_sum sends: who listens to this worker, and is there.
    [[nodiscard]] std::vector<int> listeners() const;
    /// Sends v, eager: done when it has drained. Messages between two workers are received in the
    /// order of sending.
    Task<> send(int to, Vector v);
    Task<Vector> receive(int from);

    // --- letters, for methods without rounds (letter.hpp) ---

    /// Sends a letter to a box of another worker or server, eager: done when it has drained.
    Task<> post(int to, int box, Letter letter, Bytes weight);
    /// Takes the next letter out of a box of this worker; waits for one.
    Task<Letter> next_letter(int box);
    /// The same, of a letter that is expected from a node: nothing once that is known to have died.
    Task<std::optional<Letter>> next_letter_from(int node, int box);
    /// Letters that lie in a box.
    [[nodiscard]] std::size_t letters_in(int box) { return this->box(box).size(); }
    /// Runs a service of this worker (Cluster::serve). What it works on must outlive this worker's
    /// algorithm: it goes on when that has ended.
    void serve(Task<> work);

    /// Waits until all workers and servers are there; no messages, no time. For what keeps the
    /// counts of a simulation alike, never for what a method has to be told.
    Task<> meet();
    /// Meetings that have taken place since the beginning, or since a restart.
    [[nodiscard]] unsigned meetings() const {
        return cluster_.meeting_.meetings() - cluster_.meetings_before_;
    }

    // --- failures (membership.hpp) ---

    /// Whether a worker is there. What is posted to one that is not is lost.
    [[nodiscard]] bool present(int rank) const { return cluster_.present(rank); }
    /// The workers that are there, in order; the same list for all who ask in the same instant.
    [[nodiscard]] std::vector<int> all_present() const { return cluster_.all_present(); }
    /// Whether nodes of this job fail.
    [[nodiscard]] bool others_fail() const { return cluster_.membership_ != nullptr; }
    /// Of a worker: grows when it comes back. What it was asked in an earlier life it has forgotten.
    [[nodiscard]] int life(int rank) const { return cluster_.life_of(rank); }
    /// Whether it is known by now that a life of a worker has ended.
    [[nodiscard]] bool is_known_gone(int rank, int life) const;
    /// Waits until it is known that the present life of a worker has ended. Requires others_fail().
    Task<> gone(int rank);
    /// The next letter out of a box of this worker, or nothing when a worker dies or joins first.
    Task<std::optional<Letter>> next_letter_or_change(int box);
    /// Updates of what is replicated that have been done.
    [[nodiscard]] std::int64_t updates_done() const { return cluster_.updates_done_; }

    /// Runs a task beside this one; await the result once, or drop it to cancel it.
    template <class T>
    Pending<T> start(Task<T> task) {
        return simulation().start(std::move(task));
    }

    /// The mean of the sparse v of all members, by messages that weigh what they hold
    /// (sparse_round.hpp).
    Task<Vector> sparse_all_reduce(SparseVector v, SparseExchange how, SparsePacking packing);
    /// The mean of the v of all members, by messages that weigh as a vector of `charged`.
    Task<Vector> all_reduce_as(Vector v, const Layout& charged, AllReducePlan how);
    /// What messages weigh as: the model's own layout, or that of the net it stands in for.
    [[nodiscard]] const LayoutPtr& charged_layout() const;
    [[nodiscard]] bool stands_in() const { return cluster_.job_.charged != nullptr; }

    // --- what metrics ask ---

    /// Notes coordinates that were decoded wrongly, and that such decoding is in use.
    void count_decode_failures(std::int64_t failures);
    /// Notes how much older than its use something is that is used in training: steps, or updates
    /// by others, as the method says.
    void count_staleness(double age);
    /// Notes which share of the workers has contributed to a round.
    void count_participation(double share);

    /// Gradients that count: those that a restart has undone do not.
    [[nodiscard]] std::int64_t gradients_computed() const { return gradients_; }
    [[nodiscard]] std::int64_t gradients_undone() const { return undone_; }
    [[nodiscard]] Duration compute_time() const { return compute_time_; }
    [[nodiscard]] const TimeUse& time_use() const { return time_use_; }
    [[nodiscard]] TimeUse& time_use() { return time_use_; }

  private:
    friend class Backward;
    friend class Cluster;

    [[nodiscard]] Channel<Letter>& box(int number) { return boxes_[number]; }
    [[nodiscard]] bool begins_update(std::int64_t k);
    /// A time of the gradient that comes next, on this worker.
    [[nodiscard]] Duration slowed(Duration time) const;
    [[nodiscard]] Vector evaluate(const Vector& x, std::int64_t k) const;
    [[nodiscard]] Vector evaluate_mean(const Vector& x, std::int64_t k) const;
    [[nodiscard]] Stream next_stream(const Group& group);
    /// Collectives of everybody that this worker has begun.
    [[nodiscard]] Stream rounds_begun() const;
    /// The stream of its next one.
    [[nodiscard]] Stream next_round() const;
    /// Whether a collective of the group goes on without members that die.
    [[nodiscard]] bool survives(const GroupPtr& group) const;
    Task<Vector> all_reduce(Vector v, AllReducePlan how, Bytes weight, const GroupPtr& group);
    [[nodiscard]] InRound enter(const Rank& rank, std::string_view name);
    Task<> compute_as(Work what, Duration time);
    Task<> compute_as(Work what, Duration time, std::function<void()> work);
    Task<Vector> all_reduce_in(Rank rank, Vector v, AllReducePlan how, Bytes size);
    Task<Vector> mean_gradient_in(Vector x, AllReducePlan how);
    Task<> sparse_all_reduce_in(Rank rank, UnionWeight weight);
    Task<Vector> sparse_all_reduce_in(Rank rank, SparseVector v, SparseExchange how,
                                      SparsePacking packing);
    /// How contributions of neighbors are added up: by the row of W, or as they are.
    enum class Weights : std::uint8_t { of_row, one };
    Task<Vector> neighbor_sum(Stream key, Vector v, Bytes size, Weights weights);
    Task<Vector> neighbor_sum_in(Stream key, Vector v, Bytes size, Weights weights);
    Task<Vector> combine_in(Rank rank, Vector v, CollectiveOfOwn messages, Form form);

    // --- the same where nodes fail (worker_surviving.cpp) ---

    using Messages = std::function<Task<>(Attempt& attempt, const Rank& rank)>;
    /// Begins attempts at a round until one is agreed upon.
    Task<AttemptPtr> survive(Stream round, std::string_view name, Messages messages);
    Task<> learn_who_is_there(Stream round);
    [[nodiscard]] Rank rank_in(const Attempt& attempt) const;
    Task<Vector> surviving_all_reduce(Stream round, Vector v, AllReducePlan how, Bytes size);
    Task<Vector> surviving_mean_gradient(Vector x, AllReducePlan how);
    Task<> surviving_all_gather(Stream round, Bytes block, AllGather how);
    Task<> surviving_sparse_all_reduce(Stream round, UnionWeight weight);
    Task<Vector> surviving_sparse_all_reduce(Stream round, SparseVector v, SparseExchange how,
                                             SparsePacking packing);
    Task<Vector> surviving_combine(Stream round, Vector v, CollectiveOfOwn messages, Form form);
    Task<Vector> surviving_neighbor_sum(Stream round, Vector v, Bytes size, Weights weights);
    [[nodiscard]] std::vector<int> listeners_in(Stream round) const;
    Task<bool> reached(int from, Stream round);
    Task<bool> reached_unless_gone(int from, Stream round);
    /// Writes the checkpoint that this worker owes.
    Task<> pay();

    Cluster& cluster_;
    int rank_;
    Vector model_;
    std::int64_t step_ = -1;
    std::int64_t gradients_ = 0;
    Duration compute_time_{};
    std::int64_t undone_ = 0;
    Duration owed_{};  // before the next computation
    TimeUse time_use_;
    std::map<std::uint32_t, Stream> rounds_;  // collectives begun, by the group's epoch
    std::map<int, Channel<Letter>> boxes_;
};

}  // namespace paceline
