// SwarmSGD (Nadiradze et al., NeurIPS 2021, arXiv 1910.12308): after H local steps node i meets a
// neighbor j, drawn uniformly.
//
//   non-blocking   x_i <- x_i + (s_j - s_i) / 2;   x_j, s_j <- + (s_i - s_j) / 2;   s_i <- x_i
//   one-sided      x_i <- (x_i + x_j) / 2                       released code: ICLR-PopSGD/PopSGD
//
// A gradient is of the model as its step began; a non-blocking step begins before the meeting, a
// one-sided one after it. With a lattice, s_i and s_j are rounded to multiples of its step.
// A neighbor that is away is not met. Partners are drawn as the product draws them (stream "swarm
// partner" of the node). The order of meetings follows from the nodes' paces (clocks.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/gossip/swarm.hpp"

namespace paceline::papers {

namespace {

struct Swarm : SwarmNodes {
    Models copy = s.starts();

    [[nodiscard]] bool waits() const { return options.at("mode") == "one-sided"; }
    [[nodiscard]] Column sent(const Column& v) const {
        if (options.value("exchange", Json("exact")) == "exact") return v;
        const double step = options.at("exchange").at("step");
        return v.unaryExpr([step](double e) { return step * std::round(e / step); });
    }
    void meet(int i) {
        const int j = partner(i);
        if (!clocks.present(j)) return;
        if (waits()) {
            x.col(i) = (x.col(i) + sent(x.col(j))) / 2;
            return;
        }
        const Column shift = (sent(copy.col(j)) - sent(copy.col(i))) / 2;
        x.col(i) += shift;
        x.col(j) -= shift;
        copy.col(j) -= shift;
        copy.col(i) = x.col(i);
    }
    void finish(int i) {
        const bool burst_ends = step(i);
        if (waits() && burst_ends) meet(i);
        go_on(i);
        if (!waits() && burst_ends && !clocks.has_ended(i)) meet(i);
    }
};

History swarm(const Case& run) {
    Swarm nodes{{run.setting, *run.algorithm}};
    for (auto event = nodes.clocks.next(); event.kind != Clocks::Event::none;
         event = nodes.clocks.next()) {
        if (event.kind == Clocks::Event::finished) nodes.finish(event.node);
        if (event.kind != Clocks::Event::joined) continue;
        nodes.join(event.node);
        nodes.copy.col(event.node) = nodes.x.col(event.node);
    }
    nodes.history.back() = nodes.x;
    return nodes.history;
}

Json with(const char* mode, int steps, const Json& exchange) {
    return {{"kind", "swarm-sgd"},
            {"mode", mode},
            {"local_steps", steps},
            {"exchange", exchange},
            {"mixing", {{"kind", "ring"}}}};
}

std::vector<Case> cases() {
    Setting nesterov = uneven_ring(), failing = uneven_ring();
    nesterov.nesterov = true;
    failing.outages = {{2, 10, 19}, {1, 21, 40}};
    const Json lattice = {{"kind", "lattice"}, {"bits", 16}, {"step", 0.001}};
    std::vector<Case> all = blocking_swarm_cases();
    for (const char* mode : {"non-blocking", "one-sided"}) {
        const std::string name = mode;
        all.push_back({name, with(mode, 2, "exact"), uneven_ring(), &swarm});
        all.push_back({name + ", every step", with(mode, 1, "exact"), nesterov, &swarm});
        all.push_back({name + ", a lattice, Nesterov", with(mode, 3, lattice), nesterov, &swarm});
        all.push_back(
            {name + ", two nodes die and return", with(mode, 2, "exact"), failing, &swarm});
    }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"swarm-sgd",
     "fixed H; blocking, non-blocking in additive form, one-sided as released, lattice",
     "a passive node's model moves at once (others' code: at its next turn); the paper's "
     "pseudo-code was not available",
     &cases},
});

}  // namespace

std::span<const Paper> swarm_papers() {
    return papers;
}

}  // namespace paceline::papers
