// The order in which nodes of different speed finish their steps: messages take no time, so a node
// that begins a step at t finishes it at t + pace.
//
// No two nodes finish at the same time within a run: their paces have no small common multiples. A
// node that is out from `from` to `to` dies `from` + 1/2 ms after the beginning and is back `to` -
// 1/2 ms after it. It joins when the first node begins a step that nobody has begun, in that step.
#pragma once

#include <limits>
#include <vector>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

inline const std::vector<double> uneven_paces{1.31071, 1.01009, 2.11231, 1.73057, 1.13011, 2.57059};

class Clocks {
  public:
    explicit Clocks(const Setting& s);

    struct Event {
        enum { finished, died, joined, none } kind;
        int node;
    };
    /// Returns what happens next. A node that finishes has taken a step and is left without one;
    /// one that joins has begun its step.
    Event next();
    /// Lets a node begin its next step now, if it has one.
    void begin(int node);

    [[nodiscard]] bool present(int node) const { return at(node).present; }
    /// Returns the steps that a node has taken, counting those before it joined.
    [[nodiscard]] std::int64_t taken(int node) const { return at(node).taken; }
    /// Returns the number of the gradient that a node has just completed.
    [[nodiscard]] std::int64_t batch(int node) const { return at(node).gradients - 1; }
    [[nodiscard]] bool has_ended(int node) const { return taken(node) == setting_.steps; }

  private:
    static constexpr double never = std::numeric_limits<double>::infinity();
    struct Node {
        double finishes = 0, dies = never, returns = never;
        bool present = true, ready = false;
        std::int64_t taken = 0, gradients = 0, newest_when_back = 0;
    };
    [[nodiscard]] Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
    int join();

    const Setting& setting_;
    std::vector<Node> nodes_;
    std::int64_t newest_ = 0;  // step that anybody has begun
    double now_ = 0;
};

/// A history to be filled by node and step.
History without_models(const Setting& s);

}  // namespace paceline::papers
