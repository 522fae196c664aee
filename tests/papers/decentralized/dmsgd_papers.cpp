// Decentralized SGD with local momentum, M <- beta M + G at first:
//
//   DmSGD      X <- W (X - gamma M)          released code: yukiTakezawa/MomentumTracking, gossip
//   AWC-DmSGD  X <- W X - gamma M            released code: SCSLabISU/CDSGD, Polyak variant
//   DA-DmSGD   H = beta M + G;  M <- W H;  X <- W (X - gamma H)      Yu, Jin, Yang, ICML 2019
//   QG-DmSGD   X' = W (X - gamma (beta M + G));  M <- beta M + (1 - beta) (X - X') / gamma;  X <-
//                                                X'
//              Lin et al., ICML 2021; released code: epfml/quasi-global-momentum
//
// A node that returns has lost its momentum.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

// Runs `step(k, G, X, M)` from X = x(0), M = 0.
template <class Step>
History with_momentum(const Setting& s, Step step) {
    Trace trace{s};
    Models x = s.starts();
    Models m = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, m);
        step(k, gradients(s, x, k), x, m);
        trace.note(k, x);
    }
    return trace.done();
}

History dmsgd(const Case& run) {
    const Setting& s = run.setting;
    return with_momentum(s, [&s](std::int64_t k, const Models& g, Models& x, Models& m) {
        m = s.beta * m + g;
        x = mixed(s, k, x - s.gamma(k) * m, after_gradient);
    });
}

History awc_dmsgd(const Case& run) {
    const Setting& s = run.setting;
    return with_momentum(s, [&s](std::int64_t k, const Models& g, Models& x, Models& m) {
        m = s.beta * m + g;
        x = mixed(s, k, x, before_gradient) - s.gamma(k) * m;
    });
}

History da_dmsgd(const Case& run) {
    const Setting& s = run.setting;
    return with_momentum(s, [&s](std::int64_t k, const Models& g, Models& x, Models& m) {
        const Models h = s.beta * m + g;
        m = mixed(s, k, h, after_gradient);
        x = mixed(s, k, x - s.gamma(k) * h, after_gradient);
    });
}

History qg_dmsgd(const Case& run) {
    const Setting& s = run.setting;
    return with_momentum(s, [&s](std::int64_t k, const Models& g, Models& x, Models& m) {
        const double gamma = s.gamma(k);
        const Models next = mixed(s, k, x - gamma * (s.beta * m + g), after_gradient);
        m = s.beta * m + (1 - s.beta) / gamma * (x - next);
        x = next;
    });
}

std::vector<Case> of_dmsgd() {
    return on_graphs("dmsgd", &dmsgd);
}
std::vector<Case> of_awc_dmsgd() {
    return on_graphs("awc-dmsgd", &awc_dmsgd);
}
std::vector<Case> of_da_dmsgd() {
    return on_graphs("da-dmsgd", &da_dmsgd);
}
std::vector<Case> of_qg_dmsgd() {
    return on_graphs("qg-dmsgd", &qg_dmsgd);
}

constexpr auto papers = std::to_array<Paper>({
    {"dmsgd", "heavy ball, adapt then combine", "none", &of_dmsgd},
    {"awc-dmsgd", "heavy ball, adapt with combine",
     "gamma multiplies the momentum; in the code it enters it, which differs where gamma changes",
     &of_awc_dmsgd},
    {"da-dmsgd", "momentum and model are both averaged",
     "the order of its two averages is not verified in the paper's text", &of_da_dmsgd},
    {"qg-dmsgd", "heavy-ball form, weight of the average 1 - beta", "none", &of_qg_dmsgd},
});

}  // namespace

std::span<const Paper> dmsgd_papers() {
    return papers;
}

}  // namespace paceline::papers
