// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, Algorithms 1 and 2), for each matrix:
//
//   M_i = g_i + e_i;   P = mean of M_i Q, its columns made orthonormal;   Q = mean of M_i^T P
//   D = P Q^T;  e_i <- M_i - D;   biases: D = mean of g_i
//   m <- beta m + D;   x <- x - gamma (D + m)         Nesterov, as in Algorithm 2
//
// Without Nesterov x <- x - gamma m. Decay is added to D (released code). Q is kept from step to
// step. The first Q is drawn from N(0, 1), in the product's stream "power-sgd", column by column.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"
#include "sim/numeric/draws.hpp"
#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

Models orthonormal(Models p) {
    for (Eigen::Index c = 0; c < p.cols(); ++c) {
        for (Eigen::Index b = 0; b < c; ++b) p.col(c) -= p.col(b).dot(p.col(c)) * p.col(b);
        p.col(c).normalize();
    }
    return p;
}

// A tensor as a matrix: stored row by row.
Models as_matrix(const Column& v, const Part& part) {
    return Eigen::Map<const Models>(v.data() + part.begin, part.columns, part.rows).transpose();
}

Column as_entries(const Models& m) {
    const Models transposed = m.transpose();
    return Eigen::Map<const Column>(transposed.data(), m.size());
}

// Returns D, and keeps what it lacks in e.
Column low_rank_mean(const Setting& s, const Models& g, std::int64_t k, std::vector<Models>& qs,
                     Models& e) {
    const std::vector<int> nodes = s.members(k);
    Column d = mean_of(g, nodes);
    for (std::size_t l = 0; l < parts().size(); ++l) {
        const Part& part = parts()[l];
        if (!part.is_matrix) continue;
        const Models mean = as_matrix(mean_of(g + e, nodes), part);
        const Models p = orthonormal(mean * qs[l]);
        qs[l] = mean.transpose() * p;
        d.segment(part.begin, part.size()) = as_entries(p * qs[l].transpose());
        for (const int i : nodes)
            e.col(i).segment(part.begin, part.size()) +=
                g.col(i).segment(part.begin, part.size()) - d.segment(part.begin, part.size());
    }
    return d;
}

std::vector<Models> first_factors(const Setting& s, Eigen::Index rank) {
    RandomStream random = RandomStreams(s.seed).stream("power-sgd", 0);
    std::vector<Models> qs;
    for (const Part& part : parts()) {
        qs.emplace_back(part.columns,
                        part.is_matrix ? std::min({rank, part.rows, part.columns}) : 0);
        for (double& entry : qs.back().reshaped()) entry = draw_normal(random);
    }
    return qs;
}

History power_sgd(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries);
    Models e = Models::Zero(entries, s.nodes), g = e;
    std::vector<Models> qs = first_factors(s, run.algorithm->at("rank"));
    for (std::int64_t k = 0; k < s.steps; ++k) {
        forget_returned(s, k, e);
        for (const int i : s.members(k)) g.col(i) = s.gradient(x, i, k);
        Column d = low_rank_mean(s, g, k, qs, e);
        if (s.clip > 0) d *= std::min(1.0, s.clip / d.norm());
        d += s.lambda * x;
        m = s.beta * m + d;
        x -= s.gamma(k) * (s.nesterov ? Column(d + m) : m);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const auto of_rank = [](int rank) { return Json{{"kind", "power-sgd"}, {"rank", rank}}; };
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    return {
        {"rank 2, heavy ball", of_rank(2), {}, &power_sgd},
        {"rank 1, clipped", of_rank(1), {.clip = 0.8}, &power_sgd},
        {"two nodes die and return", of_rank(2), failing, &power_sgd},
        {"rank 2, Nesterov", of_rank(2), {.nesterov = true}, &power_sgd},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"power-sgd", "warm start, momentum after the mean; Nesterov's step is D + m",
     "no small number in the norm of Gram-Schmidt; a zero column keeps its Q", &cases},
});

}  // namespace

std::span<const Paper> power_sgd_papers() {
    return papers;
}

}  // namespace paceline::papers
