// What a reference of tests/papers and the product both train: a problem, a schedule and a cluster.
//
//   f_i(x) = (1/2m) sum over rows r of (a_ir . x - b_ir)^2        node i has rows of its own
//   g_i^b  = the gradient over a third of the rows, another third for each b; b counts the
//            gradients that node i has completed
//
// So shards differ, gradients are noisy, and each is a closed form. A step of node i takes pace[i]
// milliseconds; messages take nanoseconds, so the order of all events follows from the paces alone.
//
// A node that is out from step `from` to step `to` dies in the middle of its step `from`, while it
// computes, and takes part again from step `to` on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Core>

namespace paceline::papers {

using Column = Eigen::VectorXd;
using Models = Eigen::MatrixXd;       // one column per node
using History = std::vector<Models>;  // [k]: when each node has taken k steps; last: at the end

/// A tensor: `rows` of `columns` entries each, stored row by row. Biases have one row.
struct Part {
    Eigen::Index begin, rows, columns;
    bool is_matrix;
    [[nodiscard]] Eigen::Index size() const { return rows * columns; }
};
const std::vector<Part>& parts();
constexpr Eigen::Index entries = 35;

struct Outage {
    int node;
    std::int64_t from, to;
};

struct Setting {
    int nodes = 5;
    std::int64_t steps = 48;
    double beta = 0.8;
    double lambda = 0.05;
    bool nesterov = false;
    double clip = 0;
    double constant_gamma = 0;  // 0: the schedule below
    int accumulation = 1;       // micro-batches by the clock; g_i^b is their mean
    std::vector<Outage> outages{};
    bool returns_with_a_peers_model = false;  // otherwise with its own
    std::vector<double> pace{};               // empty: 1 ms everywhere
    std::vector<double> samples{};            // in each node's shard; empty: unknown
    std::vector<Models> mixing{};             // W of step k mod size, as the algorithm names it
    int part_without_gradient = -1;
    std::vector<double>
        targets{};  // t_i: f_i = |x - t_i|^2 / 2 in place of the problem above, x(0) = 0
    std::uint64_t seed = 7;

    [[nodiscard]] double gamma(std::int64_t k) const;  // warm-up, then two drops and a slow decay
    [[nodiscard]] Column start() const;
    [[nodiscard]] Models starts() const { return start().replicate(1, nodes); }
    /// Returns a node's gradient number b.
    [[nodiscard]] Column batch_gradient(const Column& x, int node, std::int64_t b) const;
    /// Returns its gradient of step k, if it takes one in each step that it completes.
    [[nodiscard]] Column gradient(const Column& x, int node, std::int64_t k) const;
    /// Returns whether a node completes step k.
    [[nodiscard]] bool present(int node, std::int64_t k) const;
    [[nodiscard]] bool returns(int node, std::int64_t k) const;
    /// Returns the nodes that complete step k.
    [[nodiscard]] std::vector<int> members(std::int64_t k) const;
};

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

/// Collects what a reference does: x after each step, where absent nodes have no model.
struct Trace {
    const Setting& setting;
    History history{setting.starts()};

    Models models{setting.starts()};  // the last one of each node, present or not

    /// Notes x after step k. Absent nodes keep their models.
    void note(std::int64_t k, Models& x);
    void note_same(std::int64_t k, const Column& x);  // one model for all
    /// The models at the end are those after the last step.
    History done();
};

/// Zeroes a node's private state in the step in which it returns.
void forget_returned(const Setting& s, std::int64_t k, Models& state);
/// Gives a node that returns in step k the model that its next living neighbor by number has had
/// during step k - 1, if nodes return with a peer's model; otherwise its own is left.
void take_returned(const Trace& trace, std::int64_t k, Models& x);

/// Returns the mean of the columns of these nodes.
Column mean_of(const Models& x, const std::vector<int>& nodes);

/// Momentum SGD of one node: m <- beta m + g, and the direction of the step.
Column momentum(const Setting& s, Eigen::Ref<Column> m, const Column& g);

}  // namespace paceline::papers
