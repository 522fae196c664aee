// 1-bit SGD (Seide et al., Interspeech 2014; released code: CNTK, ColumnQuantizer.h, zero
// threshold):
//
//   a = g_i + e_i;  each entry becomes the mean of the entries of its column that are >= 0, or < 0,
//                   like
//   itself;  e_i <- the rest.  The same with the mean over nodes and one residual of the owners;
//   then momentum SGD.
//
// A column is a row of the matrices of this setting (the weights of one output), or a bias.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

void quantize_column(Eigen::Ref<Column> a) {
    double sums[2] = {0, 0}, counts[2] = {0, 0};
    for (const double v : a) {
        sums[v >= 0] += v;
        counts[v >= 0] += 1;
    }
    for (double& v : a) v = sums[v >= 0] / counts[v >= 0];
}

// Returns v + rest quantized, and leaves the error in `rest`.
Column quantized(const Column& v, Eigen::Ref<Column> rest) {
    const Column a = v + rest;
    Column q = a;
    for (const Part& part : parts())
        for (Eigen::Index row = 0; row < part.rows; ++row)
            quantize_column(q.segment(part.begin + row * part.columns, part.columns));
    rest = a - q;
    return q;
}

History one_bit_sgd(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries), owners = m;
    Models e = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column mean = Column::Zero(entries);
        for (int i = 0; i < s.nodes; ++i)
            mean += quantized(s.gradient(x, i, k), e.col(i)) / s.nodes;
        Column q = quantized(mean, owners);
        if (s.clip > 0) q *= std::min(1.0, s.clip / q.norm());
        x -= s.gamma(k) * momentum(s, m, q + s.lambda * x);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json algorithm = {{"kind", "one-bit-sgd"}};
    return {{"heavy ball", algorithm, {}, &one_bit_sgd},
            {"four nodes, Nesterov, clipped",
             algorithm,
             {.nodes = 4, .nesterov = true, .clip = 0.8},
             &one_bit_sgd}};
}

constexpr auto papers = std::to_array<Paper>({
    {"one-bit-sgd", "zero threshold, both quantizations",
     "means in place of sums (the same after scaling); no double buffering", &cases},
});

}  // namespace

std::span<const Paper> one_bit_sgd_papers() {
    return papers;
}

}  // namespace paceline::papers
