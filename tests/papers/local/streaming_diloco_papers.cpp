// Streaming DiLoCo (Douillard et al., 2025; released code of another group: pytorch/torchft,
// local_sgd.py): DiLoCo whose model is P fragments, each averaged every H steps, beside tau of
// them:
//
//   after step t of AdamW, t mod H = floor(H (p + 1) / P) mod H:   D_p <- mean of y_p - x_p
//   tau steps later:   u_p <- mu u_p + D_p;   y_p <- y_p - eta (D_p + mu u_p)
//                      x_p,i <- alpha x_p,i + (1 - alpha) y_p
//
// The first versions of torchft have these offsets and no alpha. Later ones have the merge with
// alpha, for an H that P divides, and send tau steps earlier, so that averages end where they begin
// here.
//
// A tensor belongs to the first fragment p for which (p + 1) / P of all entries is beyond the
// tensor's middle, or to the last one. A node that returns while an average is under way does not
// mix in its y_p, because it did not take part. What is under way at the end of the run is dropped.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

// Returns the entries of a fragment.
std::pair<Eigen::Index, Eigen::Index> fragment(int p, int count) {
    Eigen::Index begin = 0, size = 0;
    for (const Part& part : parts()) {
        const double middle =
            static_cast<double>(part.begin) + static_cast<double>(part.size()) / 2;
        int own = 0;
        while (own < count - 1 && middle * count >= static_cast<double>(entries) * (own + 1)) ++own;
        if (own < p) begin = part.begin + part.size();
        if (own == p) size += part.size();
    }
    return {begin, size};
}

struct Streaming {
    const Setting& s;
    const Json& options;
    AdamNodes nodes{s};
    Column y = s.start(), u = Column::Zero(entries), d = Column::Zero(entries);
    std::vector<std::vector<int>> senders =
        std::vector<std::vector<int>>(options.at("fragments").get<std::size_t>());

    // Returns whether fragment p is due after t steps.
    [[nodiscard]] bool due(int p, std::int64_t t) const {
        const std::int64_t h = options.at("period");
        const std::int64_t first = h * (p + 1) / options.at("fragments").get<int>();
        return t >= first && (t - first) % h == 0;
    }
    void begin(int p, const std::vector<int>& members) {
        const auto [from, size] = fragment(p, options.at("fragments"));
        d.segment(from, size) = (y - mean_of(nodes.x, members)).segment(from, size);
        senders[static_cast<std::size_t>(p)] = members;
    }
    void end(int p, std::int64_t k) {
        const double eta = options.at("outer_learning_rate"), mu = options.at("outer_momentum");
        const double alpha = options.at("alpha");
        const auto [from, size] = fragment(p, options.at("fragments"));
        auto up = u.segment(from, size), yp = y.segment(from, size), dp = d.segment(from, size);
        up = mu * up + dp;
        yp -= eta * (dp + mu * up);
        for (const int i : senders[static_cast<std::size_t>(p)]) {
            if (!s.present(i, k)) continue;
            auto xp = nodes.x.col(i).segment(from, size);
            xp = alpha * xp + (1 - alpha) * yp;
        }
    }
};

History streaming_diloco(const Case& run) {
    const Setting& s = run.setting;
    const int fragments = run.algorithm->at("fragments");
    const std::int64_t tau = run.algorithm->at("delay");
    Trace trace{s};
    Streaming state{s, *run.algorithm};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        state.nodes.step(trace, k);
        for (int p = 0; p < fragments; ++p) {
            if (state.due(p, k + 1)) state.begin(p, s.members(k));
            if (state.due(p, k + 1 - tau)) state.end(p, k);
        }
        trace.note(k, state.nodes.x);
    }
    return trace.done();
}

Json of(int period, int fragments, int delay, double alpha) {
    return with_adam({{"kind", "streaming-diloco"},
                      {"period", period},
                      {"fragments", fragments},
                      {"delay", delay},
                      {"alpha", alpha},
                      {"outer_learning_rate", 0.6},
                      {"outer_momentum", 0.7}});
}

std::vector<Case> cases() {
    std::vector<Case> all = with_failures(of(7, 3, 1, 0.5), &streaming_diloco);
    const Setting own{.outages = {{1, 9, 16}, {4, 18, 36}}};
    for (const Json& options :
         {of(4, 1, 0, 0), of(5, 1, 1, 0.5), of(6, 3, 0, 0.5), of(8, 3, 1, 0), of(10, 2, 4, 0.3),
          of(6, 6, 0, 0.5), of(12, 6, 1, 0.25), of(6, 3, 1, 1)}) {
        const std::string name =
            fmt::format("period {}, {} fragments, delay {}, alpha {}",
                        options.at("period").get<int>(), options.at("fragments").get<int>(),
                        options.at("delay").get<int>(), options.at("alpha").get<double>());
        all.push_back({name, options, {}, &streaming_diloco});
        all.push_back({name + ", nodes die and return", options, own, &streaming_diloco});
    }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"streaming-diloco",
     "AdamW inside; fragments of whole tensors in sequence, one under way at a time; y once for "
     "all nodes",
     "the paper's text was not available; offsets and alpha are of two versions of torchft; no "
     "exchange in few bits, which codecs have references for",
     &cases},
});

}  // namespace

std::span<const Paper> streaming_diloco_papers() {
    return papers;
}

}  // namespace paceline::papers
