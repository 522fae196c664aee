// Who takes part in a job whose nodes die and return, and in which rounds.
//
// A round of a collective is an attempt of those who are there when the first of them begins it. It
// is over for all at once, when the last has finished (they agree, without messages), and void for
// all if one of them dies before: then there is another attempt, on a stream of its own, by those
// who are left. So the sum of a round is of the same contributions on every survivor.
//
// A node that returns takes part from the first step that nobody has begun, and from the round that
// this step begins with: who has not come that far never waits for it.
//
// Averaging with neighbors is not of one group: each takes what its own neighbors have sent. What
// is sent goes into the mail by round, and is there for whom the message has reached.
//
// Not used, and not there, in a job whose nodes do not fail.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/rounds.hpp"
#include "algorithms/sparse_round.hpp"
#include "models/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

/// One attempt at a round, by those of `group`.
struct Attempt {
    Attempt(GroupPtr of, Stream on)
        : group(std::move(of)),
          stream(on),
          round(group->members.size()),
          agreement(static_cast<int>(group->members.size())) {}

    GroupPtr group;
    Stream stream;
    Round<Vector> round;
    std::optional<SparseRound> sparse;
    Barrier agreement;
    Signal broken;  // a member has died
};
using AttemptPtr = std::shared_ptr<Attempt>;

class Membership {
  public:
    enum class State : std::uint8_t { present, away, ready };  // ready: to take part in a new step

    Membership(int nodes, bool stalls);

    [[nodiscard]] bool present(int node) const { return state(node) == State::present; }
    [[nodiscard]] State state(int node) const { return at(node).state; }
    /// Lives of a node so far; letters of an earlier one are not for it.
    [[nodiscard]] int life(int node) const { return at(node).life; }
    /// Whether a node takes part in a round, as far as is known now.
    [[nodiscard]] bool takes_part(int node, Stream round) const {
        return present(node) && at(node).first_round <= round;
    }
    /// From when on it is known that a node that is away has died.
    [[nodiscard]] Time known(int node) const { return at(node).known; }
    /// The same of all who are away and would take part in a round.
    [[nodiscard]] Time all_known(Stream round) const;
    /// Whether a node takes part in a round, or nobody knows yet that it cannot.
    [[nodiscard]] bool is_expected(int node, Stream round, Time now) const {
        return takes_part(node, round) ||
               (state(node) == State::away && known(node) > now && at(node).first_round <= round);
    }
    [[nodiscard]] bool anybody_away() const { return away_ > 0; }
    [[nodiscard]] int number_present() const { return present_; }
    /// Those who are there, in order.
    [[nodiscard]] std::vector<int> all_present() const;
    [[nodiscard]] std::vector<int> all_in(State state) const;

    /// Fires when a node dies or joins next.
    [[nodiscard]] std::shared_ptr<Signal> change() const { return change_; }
    /// Fires when this life of a node ends. Requires that it is present.
    [[nodiscard]] std::shared_ptr<Signal> death(int node) { return at(node).death; }

    // --- what happens ---

    /// Whether a message of a node that has died, to `to` in a round, had reached it.
    using HasArrived = std::function<bool(Stream round, int to)>;
    /// Requires that it is not away. Breaks its attempts and loses its mail, and what it sent that has
    /// not arrived.
    void leave(int node, Time known, const HasArrived& has_arrived);
    /// Requires that it is away.
    void make_ready(int node);
    /// Requires that it is ready.
    void join(int node, Stream first_round);

    // --- rounds ---

    /// The attempt under way at a round, or a new one.
    [[nodiscard]] AttemptPtr attempt(Stream round);
    /// The attempt has been agreed upon.
    void conclude(Stream round) { attempts_.erase(round); }
    /// Fires when no node is away: those who stall wait for it.
    [[nodiscard]] std::shared_ptr<Signal> all_back();
    [[nodiscard]] bool stalls() const { return stalls_; }
    /// Told when somebody begins to wait for all to be back, and at each return and death while one
    /// does.
    std::function<void()> on_stall{};

    // --- mail of neighbors ---

    void put_mail(Stream round, int from, int to, const Vector& v);
    [[nodiscard]] bool has_mail(Stream round, int from, int to) const;
    /// What a neighbor sent, out of the mail; nothing if it sent nothing.
    std::optional<Vector> take_mail(Stream round, int from, int to);

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
    std::uint32_t attempts_begun_ = 0;
    std::map<Stream, AttemptPtr> attempts_;  // under way, by round
    std::shared_ptr<Signal> change_ = std::make_shared<Signal>();
    std::shared_ptr<Signal> all_back_;  // while somebody is away and somebody waits
    std::map<std::pair<Stream, std::pair<int, int>>, Vector> mail_;  // by round, to and from
};

}  // namespace paceline
