// SparseLoCo (Sarfi et al., 2025; released code: one-covenant/templar, src/tplr/neurons.py and
// compress.py @142666f, with SGD outside). After each block of steps of AdamW that every node takes
// alone,
//
//   e_i <- beta e_i + x_0 - x_i
//   S_i <- the k largest of each chunk of each tensor of e_i
//   q_i <- Q of the values of a tensor at S_i, 0 elsewhere;   e_i <- e_i - q_i
//   x_0 <- x_0 - eta q,  q(e) = the mean of q_i(e) over the nodes with e in S_i;   x_i <- x_0
//
// A tensor is a matrix, a bias one row. A chunk is h x w, the largest divisors of rows and columns
// up to s. With m the mean of the k values of a tensor and d their deviation (n - 1), Q of v is
//
//   the mean of all values that share its bin  min(max(round((v - m) / u + B / 2), 0), B - 1)
//
// with u = 6 d / B, or 1 if that is 0, and B = 2^bits; halves round to even.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/local/adam_nodes.hpp"

namespace paceline::papers {

namespace {

using Places = std::vector<Eigen::Index>;

Eigen::Index largest_divisor(Eigen::Index n, Eigen::Index most) {
    for (Eigen::Index d = std::min(n, most);; --d)
        if (n % d == 0) return d;
}

// The places that a node sends of a part. There are no ties.
Places chosen(const Part& part, const Column& e, Eigen::Index side, std::size_t k) {
    const Eigen::Index h = largest_divisor(part.rows, side);
    const Eigen::Index w = largest_divisor(part.columns, side);
    std::map<std::pair<Eigen::Index, Eigen::Index>, Places> chunks;
    for (Eigen::Index i = 0; i < part.size(); ++i)
        chunks[{i / part.columns / h, i % part.columns / w}].push_back(part.begin + i);
    Places all;
    for (auto& [at, places] : chunks) {
        std::ranges::sort(places, std::greater(), [&](Eigen::Index i) { return std::abs(e(i)); });
        places.resize(std::min(places.size(), k));
        all.insert(all.end(), places.begin(), places.end());
    }
    return all;
}

// Sends the values at these places in bins.
void into_bins(const Places& places, int bits, Column& q) {
    const auto n = static_cast<double>(places.size());
    const double bins = std::exp2(bits);
    double m = 0, squares = 0;
    for (const Eigen::Index i : places) m += q(i) / n;
    for (const Eigen::Index i : places) squares += (q(i) - m) * (q(i) - m);
    const double d = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
    const double u = d > 0 ? 6 * d / bins : 1;
    std::map<double, Places> filled;
    for (const Eigen::Index i : places)
        filled[std::clamp(std::nearbyint((q(i) - m) / u + bins / 2), 0.0, bins - 1)].push_back(i);
    for (const auto& [bin, those] : filled) {
        double sum = 0;
        for (const Eigen::Index i : those) sum += q(i);
        for (const Eigen::Index i : those) q(i) = sum / static_cast<double>(those.size());
    }
}

struct Sender {
    Eigen::Index side;
    std::size_t k;
    int bits;

    // Returns q_i, and counts the places of S_i.
    [[nodiscard]] Column sent(const Column& e, Column& senders) const {
        Column q = Column::Zero(entries);
        for (const Part& part : parts()) {
            const Places places = chosen(part, e, side, k);
            for (const Eigen::Index i : places) q(i) = e(i), senders(i) += 1;
            if (bits <= 8) into_bins(places, bits, q);
        }
        return q;
    }
};

History sparseloco(const Case& run) {
    const Setting& s = run.setting;
    const Json& codec = run.algorithm->at("codec");
    const Sender sender{codec.at("chunk"), codec.at("kept"), codec.at("value_bits")};
    const double eta = run.algorithm->at("outer_learning_rate");
    const double beta = codec.at("error_decay");
    const bool by_senders = codec.value("mean", "senders") == "senders";
    Trace trace{s};
    AdamNodes nodes{s};
    Column anchor = s.start();
    Models e = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        forget_returned(s, k, e);
        if ((k + 1) % 4 == 0) {
            Column sum = Column::Zero(entries), senders = Column::Zero(entries);
            for (const int i : s.members(k)) {
                e.col(i) = beta * e.col(i) + anchor - nodes.x.col(i);
                const Column q = sender.sent(e.col(i), senders);
                e.col(i) -= q;
                sum += q;
            }
            if (!by_senders) senders.setConstant(static_cast<double>(s.members(k).size()));
            anchor -= eta * (sum.array() / senders.array().max(1)).matrix();
            nodes.x.colwise() = anchor;
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const auto with = [](int chunk, int kept, int bits, double decay) {
        return with_adam({{"kind", "sparseloco"},
                          {"period", 4},
                          {"outer_learning_rate", 0.8},
                          {"codec",
                           {{"kind", "chunked-top-k"},
                            {"mean", "senders"},
                            {"chunk", chunk},
                            {"kept", kept},
                            {"value_bits", bits},
                            {"error_decay", decay}}}});
    };
    std::vector<Case> all = with_failures(with(3, 2, 2, 0.95), &sparseloco);
    all.push_back({"whole tensors, 4 entries, 8 bits", with(64, 4, 8, 0.999), {}, &sparseloco});
    all.push_back({"values as they are", with(2, 1, 32, 0.9), {.nodes = 6}, &sparseloco});
    all.push_back({"all entries, 3 bits, no decay", with(5, 25, 3, 1), {}, &sparseloco});
    Case of_all = {"the mean over all nodes", with(3, 2, 2, 0.95), {}, &sparseloco};
    Json codec = of_all.algorithm->at("codec");
    codec["mean"] = "all";
    all.push_back(changed(of_all, {{"codec", codec}}));
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"sparseloco",
     "inner AdamW; error feedback that decays; top-k by chunk, values in bins; the mean over the "
     "senders of an entry; SGD outside",
     "the norms of messages are not bounded by their median, as templar's are", &cases},
});

}  // namespace

std::span<const Paper> sparseloco_papers() {
    return papers;
}

}  // namespace paceline::papers
