// Elastic averaging (Zhang, Choromanska, LeCun, NeurIPS 2015, synchronous; with momentum EAMSGD):
// after each block of local steps, from the old values,
//
//   x_i <- x_i - alpha (x_i - z);   z <- z + alpha sum over i of (x_i - z)
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/local/local.hpp"

namespace paceline::papers {

namespace {

History easgd(const Case& run) {
    const Setting& s = run.setting;
    const double alpha = run.algorithm->at("alpha");
    Trace trace{s};
    LocalNodes nodes{s};
    Column z = s.start();
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if ((k + 1) % 4 == 0) {
            const Column old_z = z;
            for (const int i : s.members(k)) {
                z += alpha * (nodes.x.col(i) - old_z);
                nodes.x.col(i) -= alpha * (nodes.x.col(i) - old_z);
            }
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    return locally({{"kind", "easgd"}, {"period", 4}, {"alpha", 0.15}}, &easgd);
}

constexpr auto papers = std::to_array<Paper>({
    {"easgd", "the synchronous form; with Nesterov EAMSGD",
     "the asynchronous form is not available", &cases},
});

}  // namespace

std::span<const Paper> easgd_papers() {
    return papers;
}

}  // namespace paceline::papers
