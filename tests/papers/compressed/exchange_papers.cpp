// Synchronous SGD by an exchange: codec C, tensor by tensor, with errors e_i of workers;
// aggregation.
//
//   p_i = g_i + e_i;  c_i = C(p_i);  e_i <- p_i - c_i;  a = mean of the c_i;  momentum SGD with a
//
// In two phases, and with servers whose answer is encoded, entries are cut into one chunk for each
// owner, the last ones longer by one entry:
//
//   q = a + o;  a <- C(q), for each tensor's part in a chunk;  o <- q - a
//
// Without error feedback e and o are 0. Without a codec all exchanges bring the mean.
// Top-k: Stich et al., NeurIPS 2018. Scaled sign: Karimireddy et al., ICML 2019. Errors of workers
// and owners: Tang et al., ICML 2019 (DoubleSqueeze, a server) and 2021 (1-bit Adam, two phases).
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/compressed/compressed_cases.hpp"
#include "tests/papers/papers.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

Column encoded(const Json& codec, const Column& p) {
    const std::string kind = codec.at("kind");
    if (kind == "top-k") return top_k(p, codec.at("density"));
    return kind == "scaled-sign" ? scaled_sign(p) : p;
}

// Calls use(begin, size) for the entries of each tensor between two places.
template <class Use>
void for_each_part(Eigen::Index from, Eigen::Index to, Use use) {
    for (const Part& part : parts()) {
        const Eigen::Index begin = std::max(from, part.begin);
        const Eigen::Index end = std::min(to, part.begin + part.size());
        if (begin < end) use(begin, end - begin);
    }
}

// Returns C(p + error), tensor by tensor, and leaves the rest in the error.
Column said(const Json& codec, const Column& p, Eigen::Ref<Column> error, Eigen::Index from,
            Eigen::Index to) {
    Column all = Column::Zero(entries);
    for_each_part(from, to, [&](Eigen::Index begin, Eigen::Index size) {
        const Column sum = p.segment(begin, size) + error.segment(begin, size);
        all.segment(begin, size) = encoded(codec, sum);
        if (codec.value("error_feedback", false))
            error.segment(begin, size) = sum - all.segment(begin, size);
    });
    return all;
}

// Returns how many owners encode the sum; 0: none does.
int owners_of(const Json& aggregation, int nodes) {
    if (aggregation.at("kind") == "two-phase") return nodes;
    return aggregation.value("encoded", "up") == "both" ? aggregation.at("servers").get<int>() : 0;
}

Column said_again(const Json& codec, const Column& mean, Column& errors, int owners) {
    Column all = Column::Zero(entries);
    Eigen::Index from = 0;
    for (int j = 0; j < owners; ++j) {
        const Eigen::Index longer = j >= owners - entries % owners ? 1 : 0;
        const Eigen::Index to = from + entries / owners + longer;
        all += said(codec, mean, errors, from, to);
        from = to;
    }
    return all;
}

History sgd(const Case& run) {
    const Setting& s = run.setting;
    const Json& codec = run.algorithm->at("codec");
    const int owners = owners_of(run.algorithm->at("aggregation"), s.nodes);
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries), of_owners = Column::Zero(entries);
    Models e = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        forget_returned(s, k, e);
        Column mean = Column::Zero(entries);
        for (const int i : s.members(k))
            mean += said(codec, s.gradient(x, i, k), e.col(i), 0, entries);
        mean /= static_cast<double>(s.members(k).size());
        if (owners > 0) mean = said_again(codec, mean, of_owners, owners);
        if (s.clip > 0) mean *= std::min(1.0, s.clip / mean.norm());
        x -= s.gamma(k) * momentum(s, m, mean + s.lambda * x);
        trace.note_same(k, x);
    }
    return trace.done();
}

Json through(const Json& codec, const Json& aggregation, const Json& schedule = {}) {
    Json algorithm = {{"kind", "sgd"}, {"codec", codec}, {"aggregation", aggregation}};
    if (!schedule.is_null()) algorithm["schedule"] = schedule;
    return algorithm;
}

std::vector<Case> cases() {
    const Json none = {{"kind", "none"}};
    const Json top = {{"kind", "top-k"}, {"density", 0.3}, {"error_feedback", true}};
    const Json signs = {{"kind", "scaled-sign"}, {"error_feedback", true}};
    const Json memoryless = {{"kind", "scaled-sign"}, {"error_feedback", false}};
    const Json two_phase = {{"kind", "two-phase"}};
    const Json gather = {{"kind", "all-gather"}};
    const Json up = {{"kind", "servers"}, {"servers", 2}, {"encoded", "up"}};
    const Json both = {{"kind", "servers"}, {"servers", 3}, {"encoded", "both"}};
    const Json queued = {{"pieces", "tensors"},
                         {"begin", "beside-backward"},
                         {"order", "priority"},
                         {"partition", "24B"},
                         {"streams", 2}};
    const Setting clipped{.nesterov = true, .clip = 0.8};
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    Setting with_a_peers_model{.nesterov = true, .outages = failing.outages};
    with_a_peers_model.returns_with_a_peers_model = true;
    std::vector<Case> all = {
        {"no codec, in parts by priority on two streams",
         through(none, {{"kind", "all-reduce"}}, queued), clipped, &sgd},
        {"no codec, through servers",
         through(none, {{"kind", "servers"}, {"servers", 2}}),
         {},
         &sgd},
        {"top-k in messages to all", through(top, gather), clipped, &sgd},
        {"top-k to servers and back", through(top, both), {}, &sgd},
        {"scaled sign in two phases", through(signs, two_phase), clipped, &sgd},
        {"scaled sign in two phases, without errors", through(memoryless, two_phase), {}, &sgd},
        {"scaled sign to servers that answer dense", through(signs, up), {}, &sgd},
        {"top-k, two nodes die and return", through(top, gather), failing, &sgd},
        {"no codec, two nodes die and return with a peer's model",
         through(none, {{"kind", "all-reduce"}}, "tensors"), with_a_peers_model, &sgd},
    };
    for (Case& run : compressed_cases()) all.push_back(std::move(run));
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"sgd",
     "no codec, top-k, scaled sign, QSGD, TernGrad; messages to all, two phases, servers; errors "
     "of "
     "workers and owners, in units of gradients",
     "QSGD without its variable-length code; TernGrad with one scale per tensor and node", &cases},
});

}  // namespace

std::span<const Paper> exchange_papers() {
    return papers;
}

}  // namespace paceline::papers
