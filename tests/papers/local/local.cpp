#include "tests/papers/local/local.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paceline::papers {

void LocalNodes::step(const Trace& trace, std::int64_t k) {
    take_returned(trace, k, x);
    forget_returned(s, k, m);
    for (const int i : s.members(k)) {
        Column g = s.gradient(x.col(i), i, k);
        if (s.clip > 0) g *= std::min(1.0, s.clip / g.norm());
        x.col(i) -= s.gamma(k) * momentum(s, m.col(i), g + s.lambda * x.col(i));
    }
}

std::vector<Case> locally(const Json& algorithm, History (*reference)(const Case&)) {
    const Setting own{.outages = {{1, 9, 16}, {4, 18, 36}}};
    Setting copies{.nesterov = true, .outages = {{0, 6, 12}, {3, 26, 40}}};
    copies.returns_with_a_peers_model = true;
    return {
        {"heavy ball", algorithm, {}, reference},
        {"Nesterov, clipped", algorithm, {.nesterov = true, .clip = 0.8}, reference},
        {"two nodes die and return", algorithm, own, reference},
        {"two nodes die, return with a peer's model", algorithm, copies, reference},
    };
}

}  // namespace paceline::papers
