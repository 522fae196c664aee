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

std::vector<Case> dense() {
    return cases_of({{"kind", "dense"}});
}
std::vector<Case> pmsgd() {
    return cases_of({{"kind", "pmsgd"}, {"all_reduce", "halving-doubling"}});
}
std::vector<Case> overlapped() {
    return cases_of({{"kind", "dense-overlapped"}, {"bucket", "40B"}});
}
std::vector<Case> ps_sync() {
    return cases_of({{"kind", "ps-sync"}});
}

constexpr std::string_view momenta =
    "heavy ball or Nesterov as PyTorch's; the mean is clipped, then decayed";

constexpr auto papers = std::to_array<Paper>({
    {"dense", "Goyal et al., arXiv 1706.02677, 2017; Sutskever et al., ICML 2013", momenta, "none",
     &dense},
    {"dense-overlapped", "Li et al., VLDB 2020 (PyTorch DDP)",
     "the values of `dense`; buckets change times alone", "none", &overlapped},
    {"pmsgd", "Yuan et al., ICCV 2021 (as a baseline)", momenta, "none", &pmsgd},
    {"ps-sync", "Li et al., OSDI 2014", "the values of `dense`", "none", &ps_sync},
});

}  // namespace

std::span<const Paper> dense_papers() {
    return papers;
}

}  // namespace paceline::papers
