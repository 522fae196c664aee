// Momentum-accelerated consensus (Balu et al., ICASSP 2021), two readings of its abstract:
//
//   iterate-difference  D = X - X_old;  X <- W X - gamma G + beta (omega W D + (1 - omega) D)
//   momentum-buffer     V <- beta (omega W V + (1 - omega) V) - gamma G;  X <- W X + V
//
// Both vectors are sent before the gradient is taken.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

History consensus(const Case& run) {
    const Setting& s = run.setting;
    const double omega = run.algorithm->at("omega");
    const bool buffers = run.algorithm->at("reading") == "momentum-buffer";
    Trace trace{s};
    Models x = s.starts(), v = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, v);
        const Models shared = s.beta * (omega * mixed(s, k, v, before_gradient) + (1 - omega) * v) -
                              s.gamma(k) * gradients(s, x, k);
        const Models next = mixed(s, k, x, before_gradient) + shared;
        v = buffers ? shared : Models(next - x);
        x = next;
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const char* reading : {"iterate-difference", "momentum-buffer"})
        for (const double omega : {0.0, 0.3, 1.0})
            for (Case run : on_graphs("momentum-consensus", &consensus)) {
                run.name += std::string(", ") + reading;
                all.push_back(changed(run, {{"reading", reading}, {"omega", omega}}));
            }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"momentum-consensus", "two readings, `iterate-difference` and `momentum-buffer`",
     "neither reading is verified: only the abstract was available", &cases},
});

}  // namespace

std::span<const Paper> momentum_consensus_papers() {
    return papers;
}

}  // namespace paceline::papers
