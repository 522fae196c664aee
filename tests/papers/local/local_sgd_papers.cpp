// Local SGD (Stich, ICLR 2019) and post-local SGD (Lin et al., ICLR 2020): each node takes momentum
// steps alone; after every H-th all x_i <- mean of x. Post-local: H = 1 before the switch.
//
// Released code (epfml/LocalSGD-Code): momentum stays local and is not averaged. A node that
// returns has lost it.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/local/local.hpp"

namespace paceline::papers {

namespace {

History local_sgd(const Case& run) {
    const Setting& s = run.setting;
    const std::int64_t from = run.algorithm->value("switch_step", 0);
    const std::int64_t period = run.algorithm->at("period");
    Trace trace{s};
    LocalNodes nodes{s};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if (k < from || (k + 1 - from) % period == 0) nodes.all_at(mean_of(nodes.x, s.members(k)));
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> of_local_sgd() {
    return locally({{"kind", "local-sgd"}, {"period", 4}}, &local_sgd);
}
std::vector<Case> of_post_local_sgd() {
    return locally({{"kind", "post-local-sgd"}, {"period", 5}, {"switch_step", 13}}, &local_sgd);
}

constexpr auto papers = std::to_array<Paper>({
    {"local-sgd", "momentum stays local", "none", &of_local_sgd},
    {"post-local-sgd", "models are averaged in both phases", "none", &of_post_local_sgd},
});

}  // namespace

std::span<const Paper> local_sgd_papers() {
    return papers;
}

}  // namespace paceline::papers
