// Block momentum (Chen, Huo, ICASSP 2016): after each block of local steps,
//
//   D <- eta D + zeta (mean of x - y)
//   classical          y <- y + D
//   nesterov           W <- W + D;  y <- W + eta D
//   nesterov-folded    y <- y + D + eta D                 released code: CNTK, fairseq
//   x_i <- y;  m_i <- 0
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/local/local.hpp"

namespace paceline::papers {

namespace {

History bmuf(const Case& run) {
    const Setting& s = run.setting;
    const double eta = run.algorithm->at("block_momentum");
    const double zeta = run.algorithm->at("block_learning_rate");
    const std::string form = run.algorithm->at("form");
    Trace trace{s};
    LocalNodes nodes{s};
    Column y = s.start(), w = y, d = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if ((k + 1) % 4 == 0) {
            d = eta * d + zeta * (mean_of(nodes.x, s.members(k)) - y);
            w += d;
            if (form == "classical") y += d;
            if (form == "nesterov") y = w + eta * d;
            if (form == "nesterov-folded") y += d + eta * d;
            nodes.all_at(y);
            nodes.m.setZero();
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const char* form : {"classical", "nesterov", "nesterov-folded"})
        for (Case run : locally({{"kind", "bmuf"},
                                 {"period", 4},
                                 {"block_momentum", 0.5},
                                 {"block_learning_rate", 0.8},
                                 {"form", form}},
                                &bmuf)) {
            run.name += std::string(", ") + form;
            all.push_back(run);
        }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"bmuf", "`classical`, `nesterov` (two variables) and `nesterov-folded` (the released code's)",
     "no text or code that keeps W apart from y was available; fairseq keeps local momentum",
     &cases},
});

}  // namespace

std::span<const Paper> bmuf_papers() {
    return papers;
}

}  // namespace paceline::papers
