// Averages that run beside the next block of tau local steps.
//
// Overlap-Local-SGD (Wang, Liang, Joshi, ICASSP 2020; released code: JYWa/Overlap_Local_SGD). At
// each boundary, each node i waits for z, the mean of what was sent a block ago (x(0) at first),
// and
//   x_i <- (1 - alpha) x_i + alpha z;   v_i <- b v_i + (z - x_i) / gamma;   sends z - gamma v_i
// gamma is that of the block that has ended.
//
// CoCoD-SGD (Shen et al., IJCAI 2019): s_i = x_i as a block begins; x_i <- mean of s + (x_i - s_i)
// as it ends.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/local/local.hpp"

namespace paceline::papers {

namespace {

// Per-node v_i as in the released code. A node that returns as a block begins sends its model.
History overlap(const Case& run) {
    const Setting& s = run.setting;
    const double alpha = run.algorithm->at("alpha"), b = run.algorithm->at("anchor_momentum");
    Trace trace{s};
    LocalNodes nodes{s};
    Models v = Models::Zero(entries, s.nodes), sent = s.starts();
    std::vector<int> senders;
    const int period = run.algorithm->at("period");
    for (std::int64_t k = 0; k < s.steps; ++k) {
        if (k % period == 0) senders = s.members(k);
        nodes.step(trace, k);
        if ((k + 1) % period == 0) {
            const Column z = mean_of(sent, senders);
            for (const int i : s.members(k)) {
                nodes.x.col(i) = (1 - alpha) * nodes.x.col(i) + alpha * z;
                v.col(i) = b * v.col(i) + (z - nodes.x.col(i)) / s.gamma(k);
                sent.col(i) = z - s.gamma(k) * v.col(i);
            }
            for (int i = 0; i < s.nodes; ++i)
                if (!s.present(i, k)) sent.col(i) = nodes.x.col(i);
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

History cocod(const Case& run) {
    const Setting& s = run.setting;
    const int period = run.algorithm->at("period");
    Trace trace{s};
    LocalNodes nodes{s};
    Models begun = s.starts();
    std::vector<int> senders;
    for (std::int64_t k = 0; k < s.steps; ++k) {
        if (k % period == 0) {
            take_returned(trace, k, nodes.x);
            begun = nodes.x;
            senders = s.members(k);
        }
        nodes.step(trace, k);
        if ((k + 1) % period == 0) {
            const Column mean = mean_of(begun, senders);
            for (const int i : s.members(k)) nodes.x.col(i) += mean - begun.col(i);
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> without_failures(const Json& algorithm, History (*reference)(const Case&)) {
    return {{"heavy ball", algorithm, {}, reference},
            {"Nesterov, clipped", algorithm, {.nesterov = true, .clip = 0.8}, reference}};
}

std::vector<Case> of_overlap() {
    const Json algorithm = {
        {"kind", "overlap-local-sgd"}, {"period", 3}, {"alpha", 0.6}, {"anchor_momentum", 0.7}};
    std::vector<Case> all = without_failures(algorithm, &overlap);
    Json plain = algorithm;
    plain["anchor_momentum"] = 0.0;
    const Setting failing{.outages = {{1, 7, 18}, {4, 19, 30}}};
    all.push_back({"two nodes die and return, no anchor momentum", plain, failing, &overlap});
    return all;
}
std::vector<Case> of_cocod() {
    const Json algorithm = {{"kind", "cocod-sgd"}, {"period", 3}};
    std::vector<Case> all = without_failures(algorithm, &cocod);
    const Setting failing{.outages = {{1, 7, 18}, {4, 19, 30}}};
    all.push_back({"two nodes die and return", algorithm, failing, &cocod});
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"overlap-local-sgd", "anchor with momentum, one v in place of the code's v_i (the same mean)",
     "averages after tau steps; the code's first one is after tau + 1", &of_overlap},
    {"cocod-sgd", "momentum stays local", "none", &of_cocod},
});

}  // namespace

std::span<const Paper> overlapped_average_papers() {
    return papers;
}

}  // namespace paceline::papers
