// NoLoCo (Kolehmainen et al., 2025; released code: gensyn-ai/noloco,
// src/noloco/sparse_optimizer_c.py @a1b4a42). After each block of steps of AdamW that every node
// takes alone, nodes meet in groups, and each node of a group takes
//
//   m_i   <- alpha m_i + beta (mean of x - phi) + beta (mean of phi - phi_i)
//   phi_i <- phi_i + m_i;   x_i <- phi_i
//
// with means over the group. Weights of a graph take the place of groups.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"
#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

constexpr std::int64_t block = 3;

History noloco(const Case& run) {
    const Setting& s = run.setting;
    const double alpha = run.algorithm->at("outer_momentum");
    const double beta = run.algorithm->at("outer_learning_rate");
    const double gamma = run.algorithm->value("pull", beta);
    Trace trace{s};
    AdamNodes nodes{s};
    Models phi = s.starts(), m = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Models begun = nodes.x;
        take_returned(trace, k, begun);
        for (int i = 0; i < s.nodes; ++i)
            if (s.returns(i, k)) phi.col(i) = begun.col(i);
        forget_returned(s, k, m);
        nodes.step(trace, k);
        if ((k + 1) % block == 0) {
            const Models moves = mixed(s, k, nodes.x - phi, after_gradient);
            const Models models = mixed(s, k, phi, after_gradient);
            for (const int i : s.members(k)) {
                m.col(i) =
                    alpha * m.col(i) + beta * moves.col(i) + gamma * (models.col(i) - phi.col(i));
                phi.col(i) += m.col(i);
                nodes.x.col(i) = phi.col(i);
            }
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

Models pairs_of_six(const std::vector<std::pair<int, int>>& pairs) {
    Models w = 0.5 * Models::Identity(6, 6);
    for (const auto& [i, j] : pairs) w(i, j) = w(j, i) = 0.5;
    return w;
}

Json edges_of(const Models& w) {
    Json mixing = explicit_mixing(w);
    mixing.erase("kind");
    return mixing;
}

std::vector<Case> cases() {
    const auto with = [](const Json& mixing) {
        return with_adam({{"kind", "noloco"},
                          {"period", block},
                          {"outer_momentum", 0.4},
                          {"outer_learning_rate", 0.6},
                          {"mixing", mixing}});
    };
    const std::vector<Models> meetings{pairs_of_six({{0, 3}, {1, 2}, {4, 5}}),
                                       pairs_of_six({{0, 1}, {2, 5}, {3, 4}})};
    Json in_turn = Json::array();
    for (const Models& w : meetings) in_turn.push_back(edges_of(w));
    const Json pairs = with({{"kind", "explicit"}, {"in_turn", in_turn}});
    const Json graph = with(explicit_mixing(irregular_weights()));
    Setting six{.nodes = 6};
    six.mixing = meetings;
    Setting five{.mixing = {irregular_weights()}};
    Setting returns = five, copies = five;
    returns.outages = {{1, 9, 17}, {4, 14, 30}};
    copies.outages = {{2, 5, 11}, {3, 31, 40}};
    copies.returns_with_a_peers_model = true;
    return {{"pairs in turn", pairs, six, &noloco},
            {"a graph", graph, five, &noloco},
            changed({"a graph, a pull of its own", graph, five, &noloco}, {{"pull", 0.9}}),
            {"two nodes die and return", graph, returns, &noloco},
            {"two nodes die, return with a peer's model", graph, copies, &noloco}};
}

constexpr auto papers = std::to_array<Paper>({
    {"noloco",
     "AdamW inside; an outer model and momentum for each node; means over pairs or neighbors; the "
     "released code's beta in place of gamma, or one of its own",
     "of the paper only the abstract was available", &cases},
});

}  // namespace

std::span<const Paper> noloco_papers() {
    return papers;
}

}  // namespace paceline::papers
