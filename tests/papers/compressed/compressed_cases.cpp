#include "tests/papers/compressed/compressed_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

using Draw = std::function<double()>;

Column qsgd(const Column& p, double s, Eigen::Index bucket, const Draw& draw) {
    Column sent = p;
    for (Eigen::Index begin = 0; begin < p.size(); begin += bucket) {
        const Eigen::Index size = std::min(bucket, p.size() - begin);
        const double norm = p.segment(begin, size).norm();
        for (Eigen::Index e = begin; e < begin + size; ++e) {
            const double level = s * std::abs(p(e)) / norm;
            const double rounded = std::floor(level) + (draw() < level - std::floor(level) ? 1 : 0);
            sent(e) = std::copysign(norm * rounded / s, p(e));
        }
    }
    return sent;
}

Column terngrad(const Column& p, const Draw& draw) {
    const double deviation = std::sqrt((p.array() - p.mean()).square().mean());
    const Column clipped = p.cwiseMin(2.5 * deviation).cwiseMax(-2.5 * deviation);
    const double most = clipped.cwiseAbs().maxCoeff();
    return clipped.unaryExpr(
        [&](double v) { return draw() < std::abs(v) / most ? std::copysign(most, v) : 0.0; });
}

Column compressed(const Json& compressor, const Column& p, const Draw& draw) {
    const std::string kind = compressor.at("kind");
    if (kind == "top-k") return top_k(p, compressor.at("density"));
    if (kind == "scaled-sign") return scaled_sign(p);
    if (kind == "qsgd") return qsgd(p, compressor.at("levels"), compressor.at("bucket"), draw);
    return terngrad(p, draw);
}

History compressed_sgd(const Case& run) {
    const Setting& s = run.setting;
    const bool feedback = run.algorithm->at("codec").at("error_feedback");
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries);
    Models e = Models::Zero(entries, s.nodes);
    std::vector<RandomStream> random;
    for (int i = 0; i < s.nodes; ++i)
        random.push_back(
            RandomStreams(s.seed).stream("compression", static_cast<std::uint64_t>(i)));
    for (std::int64_t k = 0; k < s.steps; ++k) {
        forget_returned(s, k, e);
        Column mean = Column::Zero(entries);
        for (const int i : s.members(k)) {
            const Column p = s.gradient(x, i, k) + e.col(i);
            Column sent(entries);
            for (const Part& part : parts())
                sent.segment(part.begin, part.size()) =
                    compressed(run.algorithm->at("codec"), p.segment(part.begin, part.size()), [&] {
                        return boost::random::uniform_01<>()(random[static_cast<std::size_t>(i)]);
                    });
            if (feedback) e.col(i) = p - sent;
            mean += sent / static_cast<double>(s.members(k).size());
        }
        if (s.clip > 0) mean *= std::min(1.0, s.clip / mean.norm());
        x -= s.gamma(k) * momentum(s, m, mean + s.lambda * x);
        trace.note_same(k, x);
    }
    return trace.done();
}

Json through(Json codec, bool feedback) {
    codec["error_feedback"] = feedback;
    return {{"kind", "sgd"}, {"codec", codec}};
}

}  // namespace

std::vector<Case> compressed_cases() {
    const Json top = {{"kind", "top-k"}, {"density", 0.3}};
    const Json quantized = {{"kind", "qsgd"}, {"levels", 4}, {"bucket", 6}};
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    const Setting clipped{.nesterov = true, .clip = 0.8};
    return {
        {"top-k with error feedback", through(top, true), {}, &compressed_sgd},
        {"top-k without, Nesterov, clipped", through(top, false), clipped, &compressed_sgd},
        {"scaled sign with error feedback", through({{"kind", "scaled-sign"}}, true), clipped,
         &compressed_sgd},
        {"QSGD, drawn from the nodes' streams", through(quantized, false), clipped,
         &compressed_sgd},
        {"TernGrad, drawn from the nodes' streams",
         through({{"kind", "terngrad"}}, false),
         {},
         &compressed_sgd},
        {"two nodes die and return", through(top, true), failing, &compressed_sgd},
    };
}

}  // namespace paceline::papers
