// Adam (Kingma, Ba, ICLR 2015, Algorithm 1) with decoupled decay (Loshchilov, Hutter, ICLR 2019),
// and LAMB (You et al., ICLR 2020, Algorithm 2), on the mean gradient g:
//
//   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;  m^ = m / (1 - b1^t);  v^ = v / (1 - b2^t)
//   r = m^ / (sqrt(v^) + epsilon) + lambda x
//   Adam: x <- x - gamma r      LAMB, each tensor: x <- x - gamma |x| / |r| r, ratio 1 if a norm is
//                               0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;

double lamb_ratio(const Json& lamb, const Column& x, const Column& r) {
    if (x.norm() == 0 || r.norm() == 0) return 1;
    return std::clamp(x.norm() / r.norm(), lamb.value("min_trust", 0.0),
                      lamb.value("max_trust", 1e9));
}

History adam(const Case& run) {
    const Setting& s = run.setting;
    const bool corrected = run.algorithm->value("bias_correction", true);
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries), v = m;
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column g = Column::Zero(entries);
        for (const int i : s.members(k)) g += s.gradient(x, i, k);
        g /= static_cast<double>(s.members(k).size());
        m = b1 * m + (1 - b1) * g;
        v = b2 * v + (1 - b2) * g.cwiseAbs2();
        const double t = static_cast<double>(k + 1);
        const double of_m = corrected ? 1 - std::pow(b1, t) : 1;
        const double of_v = corrected ? 1 - std::pow(b2, t) : 1;
        Column r = (m / of_m).array() / ((v / of_v).array().sqrt() + epsilon);
        r += s.lambda * x;
        if (run.algorithm->at("kind") == "lamb")
            for (const Part& part : parts())
                r.segment(part.begin, part.size()) *=
                    lamb_ratio(*run.algorithm, x.segment(part.begin, part.size()),
                               r.segment(part.begin, part.size()));
        x -= s.gamma(k) * r;
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases_of(Json algorithm) {
    algorithm.update({{"beta1", b1}, {"beta2", b2}, {"epsilon", epsilon}});
    Json uncorrected = algorithm;
    uncorrected["bias_correction"] = false;
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    return {{"bias-corrected", algorithm, {}, &adam},
            {"without correction", uncorrected, {}, &adam},
            {"two nodes die and return", algorithm, failing, &adam},
            {"a matrix without a gradient", algorithm, {.part_without_gradient = 2}, &adam}};
}

std::vector<Case> of_adam() {
    return cases_of({{"kind", "adam"}});
}
// Sharded, it is dense Adam all the same.
std::vector<Case> of_zero() {
    const Json algorithm{
        {"kind", "zero"}, {"beta1", b1}, {"beta2", b2}, {"epsilon", epsilon}, {"unit", "64B"}};
    std::vector<Case> all;
    for (const int stage : {1, 2, 3}) {
        Json sharded = algorithm;
        sharded["stage"] = stage;
        all.push_back({"stage " + std::to_string(stage), sharded, {}, &adam});
        for (const char* reduce : {"each", "last"}) {
            sharded["reduce"] = reduce;
            all.push_back(
                {"stage " + std::to_string(stage) + ", three micro-batches, reduce " + reduce,
                 sharded,
                 {.accumulation = 3},
                 &adam});
        }
    }
    return all;
}
std::vector<Case> of_lamb() {
    std::vector<Case> all = cases_of({{"kind", "lamb"}});
    Case clipped = changed(all.front(), {{"min_trust", 0.3}, {"max_trust", 0.9}});
    clipped.name = "clipped ratios";
    all.push_back(clipped);
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"adam", "decoupled decay; correction can be off", "none", &of_adam},
    {"zero", "the step of dense Adam; only time and memory differ",
     "the paper's text was not available", &of_zero},
    {"lamb", "phi is the identity; the ratio can be clipped, as in DeepSpeed",
     "the paper's phi bounds |x_l|, here the ratio is bounded; every tensor is scaled", &of_lamb},
});

}  // namespace

std::span<const Paper> adam_papers() {
    return papers;
}

}  // namespace paceline::papers
