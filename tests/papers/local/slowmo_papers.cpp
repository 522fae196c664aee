// SlowMo (Wang, Tantia, Ballas, Rabbat, ICLR 2020, Algorithm 1): after each block of tau steps of a
// base,
//
//   u <- beta u + (x_0 - mean of x) / gamma;   x_0 <- x_0 - alpha gamma u;   x_i <- x_0
//
// gamma is that of the block's last step. The base's buffers are reset, kept or averaged. Without
// the average each node has its own u and x_0, and uses x_i in the place of the mean.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"
#include "tests/papers/local/slowmo_bases.hpp"

namespace paceline::papers {

namespace {

History slowmo(const Case& run) {
    const Setting& s = run.setting;
    const double alpha = run.algorithm->at("alpha"), slow = run.algorithm->at("beta");
    const bool average = run.algorithm->value("average", true);
    Trace trace{s};
    SlowmoBase base(s, run.algorithm->value("base", "local"));
    Models anchor = s.starts(), u = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        base.step(trace, k);
        if ((k + 1) % run.algorithm->at("period").get<int>() == 0) {
            const double gamma = s.gamma(k);
            base.drain();
            const Models means =
                average ? Models(base.mean(k).replicate(1, s.nodes)) : base.nodes.x;
            u = slow * u + (anchor - means) / gamma;
            anchor -= alpha * gamma * u;
            base.nodes.x = anchor;
            if (average) base.weights.setOnes();
            base.renew(run.algorithm->at("buffers"), k);
        }
        trace.note(k, base.nodes.x);
    }
    return trace.done();
}

// Over a base that sends something, with the average and without.
void add_both(std::vector<Case>& all, const Case& run, const char* base) {
    for (const bool average : {true, false}) {
        Case over = changed(run, {{"base", base},
                                  {"mixing", explicit_mixing(run.setting.mixing[0])},
                                  {"average", average},
                                  {"buffers", average ? "average" : "maintain"}});
        over.name = std::string("over ") + base + (average ? "" : ", without the average");
        all.push_back(over);
    }
}

std::vector<Case> cases() {
    std::vector<Case> all = locally(
        {{"kind", "slowmo"}, {"period", 4}, {"alpha", 0.9}, {"beta", 0.6}, {"buffers", "reset"}},
        &slowmo);
    Case next = changed(all.front(), {{"buffers", "average"}});
    next.name = "averaged buffers";
    all.push_back(next);
    next = changed(next, {{"base", "all-reduce"}, {"average", false}, {"buffers", "maintain"}});
    next.name = "over all-reduce";
    all.push_back(next);
    next.setting.outages = {{1, 9, 17}, {4, 14, 30}};
    next.setting.returns_with_a_peers_model = true;
    next.name = "over all-reduce, two nodes die and return";
    all.push_back(next);
    next = changed(
        all.front(),
        {{"base", "local-adam"}, {"beta2", 0.99}, {"epsilon", 1e-6}, {"buffers", "maintain"}});
    next.name = "over local Adam, without resets";
    all.push_back(next);
    next = changed(next, {{"buffers", "reset"}});
    next.name = "over local Adam, with resets";
    all.push_back(next);
    next = all.front();
    next.setting.mixing = {unbalanced_weights()};
    add_both(all, next, "sgp");
    add_both(all, next, "osgp");
    next = changed(next, {{"beta2", 0.99}, {"epsilon", 1e-6}});
    add_both(all, next, "sgp-adam");
    next = all.front();
    next.setting.mixing = {irregular_weights()};
    add_both(all, next, "dsgd");
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"slowmo",
     "bases local, SGP, OSGP, D-PSGD, all-reduce, local Adam, SGP with Adam; three treatments of "
     "buffers; with and "
     "without the average",
     "over SGP numerators are averaged and weights begin again at 1 (the paper is silent)", &cases},
});

}  // namespace

std::span<const Paper> slowmo_papers() {
    return papers;
}

}  // namespace paceline::papers
