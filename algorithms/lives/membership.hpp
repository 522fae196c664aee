// Tracks which nodes of a job take part, and in which rounds, when nodes die and return.
//
// A round of a collective is run as an attempt. Its members are the nodes that are present when the
// first of them begins the attempt. The attempt ends for all members at once, when the last of them
// has finished; they agree on this without messages. If a member dies before then, the attempt is
// void for all of them, and the survivors begin another attempt on a stream of its own. So every
// survivor sums the same contributions.
//
// A node that returns takes part from the first step that no node has begun yet, and from the round
// that this step begins with. Nodes that are still in an earlier step never wait for it. At a
// step whose first node has an exchange to come (exchange_to_come.hpp), nobody joins.
//
// Averaging with neighbors has no common group: each node uses what its own neighbors have sent. A
// vector that is sent is kept as mail under its round, and a receiver can use it once the message
// has reached it.
//
// A job whose nodes do not fail has no Membership.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/rounds/rounds.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// Called when nobody takes part in an attempt any more, with its members and its stream.
using CloseAttempt = std::function<void(const Group& group, Stream stream)>;

/// One attempt at a round by the members of `group`. It owns its stream: it lives until its last
/// member has let go of it, and closes the stream then.
struct Attempt {
    Attempt(GroupPtr of, Stream on, CloseAttempt closing)
        : group(std::move(of)),
          stream(on),
          round(group->members.size()),
          agreement(static_cast<int>(group->members.size())),
          close(std::move(closing)) {}
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    ~Attempt() { close(*group, stream); }

    GroupPtr group;
    Stream stream;
    Round<Vector> round;
    std::optional<SparseRound> sparse;
    Barrier agreement;
    Signal broken;  // a member has died
    CloseAttempt close;
};
using AttemptPtr = std::shared_ptr<Attempt>;

/// Waits until a signal fires, and keeps it alive until then.
Task<> wait_for(std::shared_ptr<Signal> signal, WaitReason reason);

class Membership {
  public:
    enum class State : std::uint8_t { present, away, ready };  // ready: joins at the next new step

    /// `close` is called with each attempt that has ended.
    Membership(int nodes, bool stalls, CloseAttempt close);

    [[nodiscard]] bool present(int node) const { return state(node) == State::present; }
    [[nodiscard]] State state(int node) const { return at(node).state; }
    /// Returns the number of a node's life, 0 at first. Letters to an earlier life are lost.
    [[nodiscard]] int life(int node) const { return at(node).life; }
    /// Returns whether a node takes part in a round, as far as is known now.
    [[nodiscard]] bool takes_part(int node, Stream round) const {
        return present(node) && at(node).first_round <= round;
    }
    /// Returns the time at which the others detect the death of a node that is away.
    [[nodiscard]] Time detection_time(int node) const { return at(node).known; }
    /// Returns the latest such time among the nodes of a group that are away and would take part in
    /// a round of it.
    [[nodiscard]] Time last_detection(const Group& group, Stream round) const;
    /// Returns whether a node takes part in a round, or has died without being detected yet.
    [[nodiscard]] bool is_expected(int node, Stream round, Time now) const {
        return takes_part(node, round) ||
               (state(node) == State::away && detection_time(node) > now &&
                at(node).first_round <= round);
    }
    [[nodiscard]] bool any_away() const { return away_ > 0; }
    [[nodiscard]] int number_present() const { return present_; }
    /// Returns the nodes that are present, in order.
    [[nodiscard]] std::vector<int> all_present() const;
    [[nodiscard]] std::vector<int> nodes_in(State state) const;

    /// Fires the next time that a node dies or joins.
    [[nodiscard]] std::shared_ptr<Signal> change() const { return change_; }
    /// Fires when the current life of a node ends. Requires that the node is present.
    [[nodiscard]] std::shared_ptr<Signal> death(int node) { return at(node).death; }

    // --- events ---

    /// Returns whether the message that the dead node sent to `to` in a round has arrived.
    using HasArrived = std::function<bool(Stream round, int to)>;
    /// Marks a node as away. Breaks the attempts that it is a member of, and drops the mail to it
    /// and the mail from it that has not arrived. Requires that the node is not away.
    void leave(int node, Time known, const HasArrived& has_arrived);
    /// Marks a node as returned. Requires that it is away.
    void make_ready(int node);
    /// Begins a new life of a node, which takes part from `first_round` on. Requires that it is
    /// ready.
    void join(int node, Stream first_round);

    // --- rounds ---

    /// Returns the current attempt at a round of a group; begins one if there is none.
    [[nodiscard]] AttemptPtr attempt(const Group& among, Stream round);
    /// Notes that the members of the round's attempt have agreed, and removes it.
    void conclude(Stream round) { attempts_.erase(round); }
    /// Returns the number of attempts in progress.
    [[nodiscard]] std::size_t attempts() const { return attempts_.size(); }
    /// Fires when no node is away. Workers that stall wait for it.
    [[nodiscard]] std::shared_ptr<Signal> all_back();
    [[nodiscard]] bool stalls() const { return stalls_; }
    /// Returns whether a worker has begun to wait until no node is away.
    [[nodiscard]] bool somebody_stalls() const { return all_back_ != nullptr; }
    /// Called when a worker begins to wait until no node is away.
    std::function<void()> on_stall{};

    // --- mail of neighbors ---

    void put_mail(Stream round, int from, int to, const Vector& v);
    [[nodiscard]] bool has_mail(Stream round, int from, int to) const;
    /// Removes and returns what a neighbor sent, or nullopt if there is no such mail.
    std::optional<Vector> take_mail(Stream round, int from, int to);
    /// Returns the number of vectors that nobody has taken.
    [[nodiscard]] std::size_t mail() const { return mail_.size(); }

  private:
    struct Node {
        State state = State::present;
        Stream first_round = 0;
        int life = 0;
        Time known{};
        std::shared_ptr<Signal> death = std::make_shared<Signal>();
    };
    [[nodiscard]] Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

    std::vector<Node> nodes_;
    int present_;
    int away_ = 0;
    bool stalls_;
    CloseAttempt close_;
    std::uint32_t attempts_begun_ = 0;
    std::map<Stream, AttemptPtr> attempts_;  // in progress, by round
    std::shared_ptr<Signal> change_ = std::make_shared<Signal>();
    std::shared_ptr<Signal> all_back_;  // set while a node is away and a worker waits
    std::map<std::pair<Stream, std::pair<int, int>>, Vector> mail_;  // by (round, (to, from))
};

}  // namespace paceline
