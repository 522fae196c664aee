// DiLoCo (Douillard et al., 2023; released code: OpenDiLoCo): after each block of steps of AdamW
// that every node takes alone,
//
//   D <- mean of x_0 - x;   u <- mu u + D;   x_0 <- x_0 - eta (D + mu u);   x_i <- x_0
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

History diloco(const Case& run) {
    const Setting& s = run.setting;
    const double eta = run.algorithm->at("outer_learning_rate");
    const double mu = run.algorithm->at("outer_momentum");
    Trace trace{s};
    AdamNodes nodes{s};
    Column anchor = s.start(), u = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if ((k + 1) % 4 == 0) {
            const Column d = anchor - mean_of(nodes.x, s.members(k));
            u = mu * u + d;
            anchor -= eta * (d + mu * u);
            nodes.x.colwise() = anchor;
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    return with_failures(with_adam({{"kind", "diloco"},
                                    {"period", 4},
                                    {"outer_learning_rate", 0.6},
                                    {"outer_momentum", 0.7}}),
                         &diloco);
}

constexpr auto papers = std::to_array<Paper>({
    {"diloco", "inner AdamW, whose state stays local; outer SGD in Nesterov's form of PyTorch",
     "the paper's text was not available; the released code is of another group", &cases},
});

}  // namespace

std::span<const Paper> diloco_papers() {
    return papers;
}

}  // namespace paceline::papers
