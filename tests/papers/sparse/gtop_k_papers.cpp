// gTop-k S-SGD (Shi et al., ICDCS 2019; released code: HKBU-HPML/gtopkssgd, read as a copy in
// Shigangli/Ok-Topk, VGG/allreducer.py, gtopk_sparse_allreduce), for n nodes:
//
//   r_i <- r_i + g_i;   a_i = r_i on its k = floor(rho N) largest entries, 1 at least
//                       (hclhkbu/gtopkssgd, compression.py @0edc19b)
//   rounds of distance 1, 2, 4, ... < n:   a_i <- the k largest of a_i + a_(i + distance), i a
//                                          multiple of 2 distance
//   G = a_0;   r_i <- 0 where node i has sent and G is not 0
//   momentum SGD with G / n
//
// The released code has rounds for powers of two alone; here a node without a partner passes a
// round.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

// Keeps the k largest entries. Zeros are no entries: a sum may have fewer than k.
Column largest(const Column& v, std::size_t k) {
    std::vector<double> sizes(static_cast<std::size_t>(v.size()));
    for (Eigen::Index e = 0; e < v.size(); ++e) sizes[static_cast<std::size_t>(e)] = std::abs(v(e));
    std::ranges::sort(sizes, std::greater());
    const double least = sizes[k - 1];
    return v.unaryExpr([least](double e) { return std::abs(e) >= least ? e : 0; });
}

Column merged(std::vector<Column> a, std::size_t k) {
    for (std::size_t distance = 1; distance < a.size(); distance *= 2)
        for (std::size_t i = 0; i + distance < a.size(); i += 2 * distance)
            a[i] = largest(a[i] + a[i + distance], k);
    return a.front();
}

struct GlobalTopK {
    const Setting& s;
    std::size_t k;
    Models r = Models::Zero(entries, s.nodes);

    // Returns G of a step.
    Column exchange(const Column& x, std::int64_t step) {
        forget_returned(s, step, r);
        const std::vector<int> nodes = s.members(step);
        std::vector<Column> sent;
        for (const int i : nodes) {
            r.col(i) += s.gradient(x, i, step);
            sent.push_back(largest(r.col(i), k));
        }
        const Column g = merged(sent, k);
        for (std::size_t j = 0; j < nodes.size(); ++j)
            for (Eigen::Index e = 0; e < entries; ++e)
                if (sent[j](e) != 0 && g(e) != 0) r(e, nodes[j]) = 0;
        return g;
    }
};

History gtop_k(const Case& run) {
    const Setting& s = run.setting;
    const double rho = run.algorithm->at("density");
    Trace trace{s};
    const double exact = rho * static_cast<double>(entries);
    GlobalTopK state{s, static_cast<std::size_t>(std::max(std::floor(exact), 1.0))};
    Column x = s.start(), m = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column g = state.exchange(x, k) / static_cast<double>(s.members(k).size());
        if (s.clip > 0) g *= std::min(1.0, s.clip / g.norm());
        x -= s.gamma(k) * momentum(s, m, g + s.lambda * x);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const auto at = [](double density) { return Json{{"kind", "gtop-k"}, {"density", density}}; };
    const Setting failing{.nodes = 7, .outages = {{1, 9, 17}, {4, 14, 30}}};
    return {
        {"5 of 35 entries, 5 nodes", at(0.15), {}, &gtop_k},
        {"2 of 35 entries, 6 nodes", at(0.07), {.nodes = 6}, &gtop_k},
        {"1 of 35 entries, 8 nodes", at(0.01), {.nodes = 8}, &gtop_k},
        {"no momentum, no decay, 7 nodes", at(0.15), {.nodes = 7, .beta = 0, .lambda = 0}, &gtop_k},
        {"Nesterov, clipped", at(0.15), {.nesterov = true, .clip = 0.05}, &gtop_k},
        {"all entries", at(1), {}, &gtop_k},
        {"two of 7 nodes die and return", at(0.15), failing, &gtop_k},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"gtop-k",
     "one selection over the whole gradient; entries that no other branch brings stay in the "
     "residual",
     "any number of nodes, in the code powers of two; no buckets of tensors", &cases},
});

}  // namespace

std::span<const Paper> gtop_k_papers() {
    return papers;
}

}  // namespace paceline::papers
