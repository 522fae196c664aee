// Gradient dropping (Aji, Heafield, EMNLP 2017): one threshold for the whole gradient.
//
//   r_i <- r_i + g_i;   t = |r_i| in ascending order, number floor((1 - rho) N) - 1 from 0 on
//   send r_i where |r_i| > t;  r_i <- 0 there;   momentum SGD with the mean of what was sent
//
// The first updates are dense (Marian: 100). The threshold and its rank are those of Marian
// (training/gradient_dropping), where a sample of up to 100,000 entries is all of this gradient.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

Column take_largest(Eigen::Ref<Column> r, double rho) {
    std::vector<double> sizes(static_cast<std::size_t>(r.size()));
    for (Eigen::Index e = 0; e < r.size(); ++e) sizes[static_cast<std::size_t>(e)] = std::abs(r(e));
    std::ranges::sort(sizes);
    const auto n = static_cast<double>(r.size());
    const double t = sizes[static_cast<std::size_t>(std::floor((1 - rho) * n)) - 1];
    Column sent = Column::Zero(r.size());
    for (Eigen::Index e = 0; e < r.size(); ++e)
        if (std::abs(r(e)) > t) std::swap(sent(e), r(e));
    return sent;
}

History dropping(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries);
    Models r = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column g = Column::Zero(entries);
        for (const int i : s.members(k)) {
            const Column own = s.gradient(x, i, k);
            if (s.returns(i, k)) r.col(i).setZero();
            if (k < run.algorithm->at("dense_steps").get<int>()) {
                g += own;
            } else {
                r.col(i) += own;
                g += take_largest(r.col(i), run.algorithm->at("density"));
            }
        }
        g /= static_cast<double>(s.members(k).size());
        if (s.clip > 0) g *= std::min(1.0, s.clip / g.norm());
        g += s.lambda * x;
        x -= s.gamma(k) * momentum(s, m, g);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json sampled = {{"kind", "gradient-dropping"}, {"density", 0.2}, {"dense_steps", 5}};
    Json exact = sampled;
    exact["selection"] = "exact";
    exact["dense_steps"] = 0;
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    return {
        {"heavy ball", sampled, {}, &dropping},
        {"Nesterov, clipped", exact, {.nesterov = true, .clip = 0.8}, &dropping},
        {"two nodes die and return", sampled, failing, &dropping},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"gradient-dropping",
     "one global threshold, residuals, momentum SGD with the mean (DGC's comparison)",
     "the exchanges of DGC in place of an asynchronous server that also drops what is fetched",
     &cases},
});

}  // namespace

std::span<const Paper> gradient_dropping_papers() {
    return papers;
}

}  // namespace paceline::papers
