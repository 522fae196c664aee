// DeMo (Peng, Quesnelle, Kingma, 2024; released code: bloc97/DeMo, demo.py, read as the copies in
// pytorch_optimizer and DeToNATION):
//
//   d_i <- beta d_i + gamma g_i;   q_i = the k largest components of each chunk of the DCT of d_i
//   d_i <- d_i - inverse of q_i;   Q = the mean of the components over the nodes that sent them
//   x <- (1 - gamma lambda) x - gamma sign(inverse of Q)
//
// A tensor is a matrix, a bias one row. A chunk is h x w, the largest divisors of rows and columns
// up to s. The transform is the orthonormal DCT-II, summed over a chunk for each component as its
// definition says:
//
//   Y(a,b) = c_h(a) c_w(b) sum over i, j of X(i,j) cos(pi (2i+1) a / 2h) cos(pi (2j+1) b / 2w)
//
// with c_n(0) = sqrt(1/n), c_n(b) = sqrt(2/n).
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

Eigen::Index divisor(Eigen::Index n, Eigen::Index most) {
    Eigen::Index d = std::min(n, most);
    while (n % d != 0) --d;
    return d;
}

// Entry (b, j) of the basis. The zeros of the cosine are exact: a sign depends on them.
double basis(Eigen::Index n, Eigen::Index b, Eigen::Index j) {
    const Eigen::Index quarters = (2 * j + 1) * b;  // of a period, times n
    if (quarters % (2 * n) == n) return 0;
    const double size = static_cast<double>(n);
    return std::sqrt((b == 0 ? 1 : 2) / size) *
           std::cos(std::numbers::pi * static_cast<double>(quarters) / (2 * size));
}

struct Chunk {
    Eigen::Index first, stride, h, w;  // entry (i, j) is that at first + i stride + j

    [[nodiscard]] Eigen::Index at(Eigen::Index i, Eigen::Index j) const {
        return first + i * stride + j;
    }
    [[nodiscard]] Column transformed(const Column& v, bool forward) const {
        Column out = v;
        for (Eigen::Index a = 0; a < h; ++a)
            for (Eigen::Index b = 0; b < w; ++b) {
                double sum = 0;
                for (Eigen::Index i = 0; i < h; ++i)
                    for (Eigen::Index j = 0; j < w; ++j)
                        sum += v(at(i, j)) * (forward ? basis(h, a, i) * basis(w, b, j)
                                                      : basis(h, i, a) * basis(w, j, b));
                out(at(a, b)) = sum;
            }
        return out;
    }
    // Returns the places of the k largest components; there are no ties.
    [[nodiscard]] std::vector<Eigen::Index> largest(const Column& y, std::size_t k) const {
        std::vector<Eigen::Index> places;
        for (Eigen::Index i = 0; i < h; ++i)
            for (Eigen::Index j = 0; j < w; ++j) places.push_back(at(i, j));
        std::ranges::sort(places, std::greater(), [&](Eigen::Index e) { return std::abs(y(e)); });
        places.resize(std::min(places.size(), k));
        return places;
    }
};

std::vector<Chunk> chunks(Eigen::Index side) {
    std::vector<Chunk> all;
    for (const Part& part : parts()) {
        const Eigen::Index h = divisor(part.rows, side), w = divisor(part.columns, side);
        for (Eigen::Index i = 0; i < part.rows; i += h)
            for (Eigen::Index j = 0; j < part.columns; j += w)
                all.push_back({part.begin + i * part.columns + j, part.columns, h, w});
    }
    return all;
}

struct Demo {
    const Setting& s;
    double beta;
    std::size_t k;
    std::vector<Chunk> all;
    Models d = Models::Zero(entries, s.nodes);

    [[nodiscard]] Column transformed(Column v, bool forward) const {
        for (const Chunk& chunk : all) v = chunk.transformed(v, forward);
        return v;
    }
    // Returns the inverse of Q.
    Column exchange(const Column& x, std::int64_t step) {
        forget_returned(s, step, d);
        Column sum = Column::Zero(entries), senders = Column::Zero(entries);
        for (const int i : s.members(step)) {
            d.col(i) = beta * d.col(i) + s.gamma(step) * s.gradient(x, i, step);
            const Column y = transformed(d.col(i), true);
            Column q = Column::Zero(entries);
            for (const Chunk& chunk : all)
                for (const Eigen::Index e : chunk.largest(y, k)) q(e) = y(e), senders(e) += 1;
            d.col(i) -= transformed(q, false);
            sum += q;
        }
        return transformed(sum.array() / senders.array().max(1), false);
    }
};

History demo(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Demo state{s, run.algorithm->at("decay"), run.algorithm->at("components"),
               chunks(run.algorithm->at("chunk"))};
    Column x = s.start();
    for (std::int64_t k = 0; k < s.steps; ++k) {
        const Column step = state.exchange(x, k).cwiseSign();
        x = (1 - s.gamma(k) * s.lambda) * x - s.gamma(k) * step;
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const auto with = [](int chunk, int components, double decay) {
        return Json{
            {"kind", "demo"}, {"chunk", chunk}, {"components", components}, {"decay", decay}};
    };
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    return {
        {"whole tensors, 4 components", with(64, 4, 0.999), {}, &demo},
        {"chunks of up to 3 x 3, 2 components", with(3, 2, 0.9), {}, &demo},
        {"chunks of up to 3 x 3, 1 component", with(3, 1, 0.9), {}, &demo},
        {"chunks of up to 2 x 2, 1 component, 6 nodes", with(2, 1, 0.95), {.nodes = 6}, &demo},
        {"decay 1, no weight decay", with(4, 3, 1), {.lambda = 0}, &demo},
        {"all components, no momentum", with(5, 25, 0), {}, &demo},
        {"two nodes die and return", with(4, 2, 0.9), failing, &demo},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"demo", "local momentum, chunked DCT, largest components, steps along signs; decoupled decay",
     "only the abstract and copies of the code were available; tensors of 3 dimensions and more "
     "are matrices",
     &cases},
});

}  // namespace

std::span<const Paper> demo_papers() {
    return papers;
}

}  // namespace paceline::papers
