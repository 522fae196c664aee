// AD-PSGD (Lian, Zhang, Zhang, Liu, ICML 2018): nodes step alone; pairs average meanwhile.
//
//   step of i   z = x_i as it begins;  x_i <- x_i - gamma (momentum of g_i(z)) as it ends
//   exchange    as an odd node begins a step: x_i, x_j <- (x_i + x_j) / 2 with the next even
//               partner
//
// Partners of an odd i, in turn (released code: facebookresearch/stochastic_gradient_push,
// DynamicBipartiteExponentialGraph): i + 1, i - 1, i + (1 + 2^h), i - (1 + 2^h), each once. An
// exchange with a partner that is away does not take place. Exchanges take no time here, so the
// order of all events follows from the nodes' paces (clocks.hpp).
#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/clocks.hpp"

namespace paceline::papers {

namespace {

std::vector<int> partners_of(int i, int n) {
    std::vector<int> partners;
    for (int h = 0; (1 << h) <= n - 1; ++h) {
        const int hop = h == 0 ? 1 : 1 + (1 << h);
        for (const int peer : {(i + hop) % n, ((i - hop) % n + n) % n})
            if (std::ranges::find(partners, peer) == partners.end()) partners.push_back(peer);
    }
    return partners;
}

struct Pairs {
    const Setting& s;
    Clocks clocks{s};
    Models x = s.starts(), z = x, m = Models::Zero(entries, s.nodes);
    std::vector<std::size_t> turn = std::vector<std::size_t>(s.pace.size());
    History history = without_models(s);

    void take_step(int i) {
        const std::int64_t step = clocks.taken(i) - 1;
        Column g = s.batch_gradient(z.col(i), i, clocks.batch(i));
        if (s.clip > 0) g *= std::min(1.0, s.clip / g.norm());
        x.col(i) -= s.gamma(step) * momentum(s, m.col(i), g + s.lambda * z.col(i));
        history[static_cast<std::size_t>(clocks.taken(i))].col(i) = x.col(i);
        clocks.begin(i);
    }
    void begin_step(int i) {
        z.col(i) = x.col(i);
        if (i % 2 == 0 || clocks.has_ended(i)) return;
        const std::vector<int> partners = partners_of(i, s.nodes);
        const int j = partners[turn[static_cast<std::size_t>(i)]++ % partners.size()];
        if (clocks.present(j)) x.col(i) = x.col(j) = Column((x.col(i) + x.col(j)) / 2);
    }
    void happens(const Clocks::Event& event) {
        if (event.kind == Clocks::Event::finished) take_step(event.node);
        if (event.kind == Clocks::Event::joined) {
            m.col(event.node).setZero();
            turn[static_cast<std::size_t>(event.node)] = 0;
        }
        if (event.kind != Clocks::Event::died) begin_step(event.node);
    }
};

History ad_psgd(const Case& run) {
    Pairs pairs{run.setting};
    for (int i = 0; i < run.setting.nodes; ++i) pairs.begin_step(i);
    for (auto event = pairs.clocks.next(); event.kind != Clocks::Event::none;
         event = pairs.clocks.next())
        pairs.happens(event);
    pairs.history.back() = pairs.x;
    return pairs.history;
}

std::vector<Case> cases() {
    const Json algorithm = {{"kind", "ad-psgd"}};
    const Setting six{.nodes = 6, .pace = uneven_paces};
    Setting nesterov = six;
    nesterov.nesterov = true;
    nesterov.clip = 0.8;
    Setting failing = six;
    failing.outages = {{2, 10, 19}, {1, 21, 40}};
    Setting four{.nodes = 4};
    four.pace.assign(uneven_paces.begin(), uneven_paces.begin() + 4);
    return {{"six nodes of uneven speed", algorithm, six, &ad_psgd},
            {"six nodes, Nesterov, clipped", algorithm, nesterov, &ad_psgd},
            {"four nodes", algorithm, four, &ad_psgd},
            {"two nodes die and return", algorithm, failing, &ad_psgd}};
}

constexpr auto papers = std::to_array<Paper>({
    {"ad-psgd", "one exchange per step of an active node; additive averages",
     "gossip does not run freely between steps", &cases},
});

}  // namespace

std::span<const Paper> ad_psgd_papers() {
    return papers;
}

}  // namespace paceline::papers
