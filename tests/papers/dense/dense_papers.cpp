// Synchronous SGD: g = mean of all g_i, clipped; g <- g + lambda x; m <- beta m + g;
// x <- x - gamma m, or with Nesterov's momentum x - gamma (g + beta m).
//
// Goyal et al., "Accurate, Large Minibatch SGD", 2017, for the mean; Sutskever et al., ICML 2013,
// for both forms of momentum, as PyTorch writes them; Pascanu et al., ICML 2013, for clipping. With
// failures the mean is over the nodes that are left.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

History synchronous_sgd(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start();
    Column m = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column g = Column::Zero(entries);
        for (const int i : s.members(k)) g += s.gradient(x, i, k);
        g /= static_cast<double>(s.members(k).size());
        if (s.clip > 0) g *= std::min(1.0, s.clip / g.norm());
        g += s.lambda * x;
        x -= s.gamma(k) * momentum(s, m, g);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases_of(const Json& algorithm) {
    Setting failing{.nesterov = true, .outages = {{1, 9, 17}, {4, 14, 30}}};
    failing.returns_with_a_peers_model = true;
    return {
        {"heavy ball", algorithm, {}, &synchronous_sgd},
        {"Nesterov, clipped", algorithm, {.nesterov = true, .clip = 0.7}, &synchronous_sgd},
        {"two nodes die and return", algorithm, failing, &synchronous_sgd},
    };
}

// Buckets and servers change times alone.
const Json in_buckets = {{"kind", "ddp"}, {"schedule", {{"pieces", "40B"}}}};
const Json by_servers = {{"kind", "dense"},
                         {"aggregation", {{"kind", "all-reduce"}, {"plan", "parameter-server"}}}};

std::vector<Case> dense() {
    std::vector<Case> all = cases_of({{"kind", "dense"}});
    for (const Json& algorithm : {in_buckets, by_servers})
        for (Case& run : cases_of(algorithm)) all.push_back(std::move(run));
    return all;
}
std::vector<Case> pmsgd() {
    return cases_of({{"kind", "pmsgd"},
                     {"aggregation", {{"kind", "all-reduce"}, {"plan", "halving-doubling"}}}});
}
constexpr std::string_view momenta =
    "heavy ball or Nesterov as PyTorch's; the mean is clipped, then decayed";

constexpr auto papers = std::to_array<Paper>({
    {"dense", momenta, "none", &dense},
    {"pmsgd", momenta, "none", &pmsgd},
});

}  // namespace

std::span<const Paper> dense_papers() {
    return papers;
}

}  // namespace paceline::papers
