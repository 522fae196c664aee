// CHOCO-SGD (Koloskova, Stich, Jaggi, ICML 2019; released code: epfml/ChocoSGD), in the order of
// the code: the copies of the step before are mixed, and what is sent travels beside the next
// gradient.
//
//   x_i <- x_i - gamma g_i + c sum over j of w_ij (xhat_j - xhat_i)
//   q_i = C(x_i - xhat_i);   xhat_i <- xhat_i + q_i
//
// All copies begin at x(0). C: top-k per tensor, or mean |p| sign(p).
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

Column compressed(const Json& compressor, const Column& p) {
    if (compressor.at("kind") == "scaled-sign") return scaled_sign(p);
    return top_k(p, compressor.at("density"));
}

History choco(const Case& run) {
    const Setting& s = run.setting;
    const double c = run.algorithm->at("consensus_step");
    Trace trace{s};
    Models x = s.starts(), hat = x;
    for (std::int64_t k = 0; k < s.steps; ++k) {
        x += -s.gamma(k) * gradients(s, x, k) + c * (mixed(s, k, hat, before_gradient) - hat);
        for (int i = 0; i < s.nodes; ++i)
            for (const Part& part : parts()) {
                const Column rest = (x - hat).col(i).segment(part.begin, part.size());
                hat.col(i).segment(part.begin, part.size()) +=
                    compressed(run.algorithm->at("compressor"), rest);
            }
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const auto with = [](const Json& compressor, const Json& mixing, double c) {
        return Json{{"kind", "choco-sgd"},
                    {"mixing", mixing},
                    {"compressor", compressor},
                    {"consensus_step", c}};
    };
    const Json top = {{"kind", "top-k"}, {"density", 0.3}};
    Setting four{.nodes = 4};
    four.mixing = {ring_weights(4)};
    Setting directed;
    directed.mixing = {directed_weights()};
    return {
        {"top-k, irregular graph",
         with(top, explicit_mixing(irregular_weights()), 0.4),
         {.mixing = {irregular_weights()}},
         &choco},
        {"scaled sign, ring of four", with({{"kind", "scaled-sign"}}, {{"kind", "ring"}}, 0.5),
         four, &choco},
        {"top-k, directed graph", with(top, explicit_mixing(directed_weights()), 0.3), directed,
         &choco},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"choco-sgd", "the code's order: the copies of the step before are mixed; no momentum",
     "the paper mixes what has just been sent; copies begin at x(0), not at 0", &cases},
});

}  // namespace

std::span<const Paper> choco_papers() {
    return papers;
}

}  // namespace paceline::papers
