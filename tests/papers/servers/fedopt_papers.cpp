// FedOpt (Reddi et al., ICLR 2021, arXiv 2003.00295, Algorithm 2; released code: Flower): clients
// train as in FedAvg,
//
//   x_i <- x;  m_i <- 0;  E times: m_i <- beta m_i + g_i(x_i) + lambda x_i, x_i <- x_i - gamma m_i
//   D <- sum over i in K of (n_i / sum over K of n_j) (x_i - x)
//   m <- b1 m + (1 - b1) D
//   v <- b2 v + (1 - b2) D^2    or  v - (1 - b2) D^2 sign(v - D^2)    or  v + D^2;   tau^2 at first
//   x <- x + eta m / (sqrt(v) + tau)
//
// FedAvgM (Hsu et al., 2019):  m <- b1 m + D,  x <- x + eta m.   K: federated.hpp.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"
#include "tests/papers/servers/federated.hpp"

namespace paceline::papers {

namespace {

constexpr double eta = 0.03, b1 = 0.8, b2 = 0.95, tau = 1e-2;

struct SteppingServer {
    const Setting& s;
    std::string rule;
    Column x = s.start();
    Column m = Column::Zero(entries);
    Column v = Column::Constant(entries, tau* tau);

    [[nodiscard]] Column mean_change(const Clients& clients, const Round& round) const {
        Column sum = Column::Zero(entries);
        double samples = 0;
        for (const int i : round.kept) {
            Column own = x, momentum = Column::Zero(entries);
            for (std::int64_t k = 0; k < round.steps; ++k) {
                momentum = s.beta * momentum + clients.gradient(own, i, k);
                own -= s.gamma(round.first + k) * momentum;
            }
            sum += clients.samples(i) * (own - x);
            samples += clients.samples(i);
        }
        return sum / samples;
    }
    Column run(const Clients& clients, const Round& round) {
        const Column all = mean_change(clients, round);
        for (Eigen::Index e = 0; e < entries; ++e) {
            const double d = all(e);
            if (rule == "momentum") {
                m(e) = b1 * m(e) + d;
                x(e) += eta * m(e);
                continue;
            }
            m(e) = b1 * m(e) + (1 - b1) * d;
            const double above = v(e) - d * d;
            if (rule == "adam") v(e) = b2 * v(e) + (1 - b2) * d * d;
            if (rule == "adagrad") v(e) += d * d;
            if (rule == "yogi" && above != 0) v(e) -= (1 - b2) * d * d * (above > 0 ? 1 : -1);
            x(e) += eta * m(e) / (std::sqrt(v(e)) + tau);
        }
        return x;
    }
};

History stepped(const Case& run) {
    SteppingServer server{run.setting, run.algorithm->at("rule")};
    return in_rounds(run, [&](const Clients& clients, const Round& round) {
        return server.run(clients, round);
    });
}

std::vector<Case> fedopt_cases() {
    std::vector<Case> cases;
    for (const std::string rule : {"adam", "yogi", "adagrad", "momentum"}) {
        Json algorithm = {
            {"kind", "fedopt"}, {"rule", rule}, {"server_learning_rate", eta}, {"beta1", b1}};
        if (rule != "momentum") algorithm["tau"] = tau;
        if (rule == "adam" || rule == "yogi") algorithm["beta2"] = b2;
        for (Case& one : federated_cases(algorithm, &stepped)) {
            one.name = rule + ", " + one.name;
            cases.push_back(one);
        }
    }
    return cases;
}

constexpr auto papers = std::to_array<Paper>({
    {"fedopt",
     "FedAdam, FedYogi, FedAdagrad and FedAvgM, without bias correction; v = tau^2 at first",
     "weights by samples; E counts steps, not epochs; momentum within a round", &fedopt_cases},
});

}  // namespace

std::span<const Paper> fedopt_papers() {
    return papers;
}

}  // namespace paceline::papers
