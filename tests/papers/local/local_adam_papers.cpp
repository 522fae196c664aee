// Local Adam: each node takes steps of AdamW alone (adam_nodes.hpp); after every H-th,
//
//   x_i <- mean of x;   `buffers`: maintain   m_i and v_i go on
//                                  average    m_i <- mean of m,  v_i <- mean of v
//                                  reset      m_i <- 0,  v_i <- 0,  and t counts from 1 again
//
// A node that returns has lost m_i and v_i. Its own t begins anew, and averages leave it.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

void average(AdamNodes& nodes, const std::vector<int>& members, const std::string& buffers) {
    nodes.x.colwise() = mean_of(nodes.x, members);
    const Column m = mean_of(nodes.m, members), v = mean_of(nodes.v, members);
    for (const int i : members) {
        if (buffers == "reset") nodes.forget(i);
        if (buffers == "average") nodes.m.col(i) = m, nodes.v.col(i) = v;
    }
}

History local_adam(const Case& run) {
    const Setting& s = run.setting;
    const std::int64_t period = run.algorithm->at("period");
    Trace trace{s};
    AdamNodes nodes{s};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if ((k + 1) % period == 0) average(nodes, s.members(k), run.algorithm->at("buffers"));
        trace.note(k, nodes.x);
    }
    return trace.done();
}

// Nodes return in steps 12, 16, 36 and 40: as a block of four steps begins, and within one of five.
std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto& [buffers, period] :
         {std::pair{"maintain", 4}, std::pair{"average", 5}, std::pair{"reset", 5},
          std::pair{"average", 4}, std::pair{"average", 1}})
        for (Case run : with_failures(
                 with_adam({{"kind", "local-adam"}, {"buffers", buffers}, {"period", period}}),
                 &local_adam)) {
            run.name = fmt::format("{}, period {}: {}", buffers, period, run.name);
            all.push_back(run);
        }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"local-adam", "AdamW with bias correction; moments stay local, are averaged or start again",
     "the texts were not available: written from the equations of local_adam.hpp", &cases},
});

}  // namespace

std::span<const Paper> local_adam_papers() {
    return papers;
}

}  // namespace paceline::papers
