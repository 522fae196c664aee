// Deep Gradient Compression (Lin et al., ICLR 2018), on each of N nodes and each matrix:
//
//   g <- min(1, c sqrt(N) / |g|) g;  g <- g + lambda x           (the paper's g is g / N)
//   u <- beta u + g;  v <- v + u     Nesterov: u as before, v <- v + (beta u + g)
//   send v on the ceil(rho n) largest |v|;  v <- 0, u <- 0 there
//   x <- x - gamma mean of what was sent
//
// Biases: m <- beta m + mean g, x <- x - gamma m (Nesterov: mean g + beta m). At density 1 matrices
// are exchanged like biases, with u in the place of m (released code:
// synxlin/deep-gradient-compression, memory.py, `accumulate=False`). There, decay outside is a
// momentum of lambda x of its own, d <- beta d + lambda x, applied beside the rest.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

double density(const Json& dgc, std::int64_t k) {
    if (!dgc.contains("warm_up")) return dgc.at("density");
    const auto stage = static_cast<std::size_t>(k / dgc.at("warm_up").at("steps_each").get<int>());
    const Json& stages = dgc.at("warm_up").at("densities");
    return stage < stages.size() ? stages[stage].get<double>() : dgc.at("density").get<double>();
}

// Returns whether each of v is among the ceil(rho n) largest. There are no ties.
std::vector<bool> largest(const Column& v, double rho) {
    std::vector<double> sizes(static_cast<std::size_t>(v.size()));
    for (Eigen::Index e = 0; e < v.size(); ++e) sizes[static_cast<std::size_t>(e)] = std::abs(v(e));
    const auto count = static_cast<std::size_t>(std::ceil(rho * static_cast<double>(v.size())));
    std::vector<double> ordered = sizes;
    std::ranges::sort(ordered, std::greater());
    std::vector<bool> chosen(sizes.size());
    for (std::size_t e = 0; e < sizes.size(); ++e) chosen[e] = sizes[e] >= ordered[count - 1];
    return chosen;
}

struct Dgc {
    const Setting& s;
    const Json& options;
    Column x = s.start();
    Column m = Column::Zero(entries), d = Column::Zero(entries);
    Models u = Models::Zero(entries, s.nodes), v = Models::Zero(entries, s.nodes);

    [[nodiscard]] bool outside() const { return options.value("decay", "compressed") == "outside"; }

    [[nodiscard]] Column local_gradient(int i, std::int64_t k) const {
        Column g = s.gradient(x, i, k);
        if (s.clip > 0) g *= std::min(1.0, s.clip * std::sqrt(s.nodes) / g.norm());
        if (!outside()) g += s.lambda * x;
        return g;
    }
    // Returns what node i sends of a matrix, and keeps the rest.
    Column send(int i, const Part& part, const Column& g, double rho) {
        auto ui = u.col(i).segment(part.begin, part.size());
        auto vi = v.col(i).segment(part.begin, part.size());
        ui = s.beta * ui + g;
        vi += s.nesterov ? s.beta * ui + g : Column(ui);
        Column sent = Column::Zero(part.size());
        const std::vector<bool> chosen = largest(vi, rho);
        for (Eigen::Index e = 0; e < part.size(); ++e)
            if (chosen[static_cast<std::size_t>(e)]) {
                sent(e) = vi(e);
                ui(e) = vi(e) = 0;
            }
        return sent;
    }
    void step(std::int64_t k) {
        const std::vector<int> nodes = s.members(k);
        const double rho = density(options, k);
        for (int i = 0; i < s.nodes; ++i)
            if (s.returns(i, k)) u.col(i).setZero(), v.col(i).setZero();
        const auto n = static_cast<double>(nodes.size());
        Column mean = Column::Zero(entries), sent = Column::Zero(entries);
        for (const int i : nodes) {
            const Column g = local_gradient(i, k);
            mean += g / n;
            for (const Part& part : parts())
                if (part.is_matrix && rho < 1)
                    sent.segment(part.begin, part.size()) +=
                        send(i, part, g.segment(part.begin, part.size()), rho) / n;
        }
        Column change = momentum(s, m, mean);
        for (const Part& part : parts()) {
            if (!part.is_matrix) continue;
            if (rho < 1)
                change.segment(part.begin, part.size()) = sent.segment(part.begin, part.size());
            else
                u.middleRows(part.begin, part.size()) =
                    m.segment(part.begin, part.size()).replicate(1, s.nodes);
        }
        if (outside()) change += momentum(s, d, s.lambda * x);
        x -= s.gamma(k) * change;
    }
};

History dgc(const Case& run) {
    Trace trace{run.setting};
    Dgc state{run.setting, *run.algorithm};
    for (std::int64_t k = 0; k < run.setting.steps; ++k) {
        state.step(k);
        trace.note_same(k, state.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    Json plain = {{"kind", "dgc"}, {"density", 0.15}, {"selection", "exact"}};
    Json outside = plain, warm = plain, dense_first = plain;
    outside["decay"] = "outside";
    warm["warm_up"] = {{"densities", {0.7, 0.4, 0.25}}, {"steps_each", 4}};
    dense_first["warm_up"] = {{"densities", {1.0, 0.4}}, {"steps_each", 6}};
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    return {
        {"heavy ball", plain, {}, &dgc},
        {"Nesterov, clipped", plain, {.nesterov = true, .clip = 0.5}, &dgc},
        {"decay outside", outside, {.nesterov = true}, &dgc},
        {"warm-up of the density", warm, {}, &dgc},
        {"two nodes die and return", plain, failing, &dgc},
        {"dense at first", dense_first, {}, &dgc},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"dgc", "momentum correction, masking, local clipping, warm-up; exact selection; biases dense",
     "means in place of sums (the same after scaling); decay inside is PaddlePaddle's place",
     &cases},
});

}  // namespace

std::span<const Paper> dgc_papers() {
    return papers;
}

}  // namespace paceline::papers
