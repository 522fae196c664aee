// SPARTA (released code: exo-explore/gym, exogym/strategy/sparta.py): each node takes steps of
// AdamW alone (adam_nodes.hpp), and after every step
//
//   S <- max(1, floor(p N)) of the N entries;   x_i[S] <- mean of x[S]
//
// S is drawn from the product's stream "shares of models" of the step, by Floyd's method (Bentley,
// Floyd, Communications of the ACM 30, 1987; from memory, unverified): for j = N - |S|, ..., N - 1
// take a number t of 0 .. j, or j if t has been taken before.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"
#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

std::set<Eigen::Index> drawn(const Setting& s, double share, std::int64_t k) {
    RandomStream random =
        RandomStreams(s.seed).stream("shares of models", static_cast<std::uint64_t>(k));
    const auto count =
        static_cast<Eigen::Index>(std::max(1.0, std::floor(share * static_cast<double>(entries))));
    std::set<Eigen::Index> those;
    for (Eigen::Index j = entries - count; j < entries; ++j)
        if (!those.insert(boost::random::uniform_int_distribution<std::int64_t>(0, j)(random))
                 .second)
            those.insert(j);
    return those;
}

History sparta(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    AdamNodes nodes{s};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        const Column mean = mean_of(nodes.x, s.members(k));
        for (const Eigen::Index e : drawn(s, run.algorithm->at("share"), k))
            nodes.x.row(e).setConstant(mean(e));
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json some = with_adam({{"kind", "sparta"}, {"share", 0.3}});
    std::vector<Case> all = with_failures(some, &sparta);
    for (const auto& [name, share] :
         {std::pair{"one entry in each step", 0.005}, std::pair{"all entries in each step", 1.0}})
        all.push_back({name, with_adam({{"kind", "sparta"}, {"share", share}}), {}, &sparta});
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"sparta",
     "AdamW inside, whose state stays local; a share of the entries, drawn anew in every step",
     "the number of drawn entries is fixed, in the code it varies; drawn from the product's stream",
     &cases},
});

}  // namespace

std::span<const Paper> sparta_papers() {
    return papers;
}

}  // namespace paceline::papers
