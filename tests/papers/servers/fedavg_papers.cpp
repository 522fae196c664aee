// Federated averaging (McMahan et al., AISTATS 2017, arXiv 1602.05629, Algorithm 1), with E steps
// in place of epochs:
//
//   x_i <- x;  m_i <- 0;  E times: m_i <- beta m_i + g_i(x_i) + lambda x_i, x_i <- x_i - gamma m_i
//   x <- sum over i in K of (n_i / sum over K of n_j) x_i
//
// K: federated.hpp. With a compressor, what is sent is C(x_i - x + e_i), top-k per tensor with
// error feedback, and x moves by the weighted mean. A node that returns has lost e_i.
//
// FedProx (Li et al., MLSys 2020, arXiv 1812.06127; released code) adds mu (x_i - x) to the
// gradient.
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"
#include "tests/papers/servers/federated.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

struct AveragingServer {
    const Setting& s;
    const Json& options;
    Column x = s.start();
    Models e = Models::Zero(entries, s.nodes);

    [[nodiscard]] Column train(const Clients& clients, int i, const Round& round) const {
        const double mu = options.value("mu", 0.0);
        Column own = x, m = Column::Zero(entries);
        for (std::int64_t k = 0; k < round.steps; ++k) {
            m = s.beta * m + clients.gradient(own, i, k) + mu * (own - x);
            own -= s.gamma(round.first + k) * m;
        }
        return own;
    }
    Column run(const Clients& clients, const Round& round) {
        for (const int i : round.returned) e.col(i).setZero();
        Column sum = Column::Zero(entries);
        double samples = 0;
        for (const int i : round.kept) {
            Column change = train(clients, i, round) - x;
            if (options.contains("compressor")) {
                const Column p = change + e.col(i);
                for (const Part& part : parts())
                    change.segment(part.begin, part.size()) = top_k(
                        p.segment(part.begin, part.size()), options.at("compressor").at("density"));
                e.col(i) = p - change;
            }
            sum += clients.samples(i) * change;
            samples += clients.samples(i);
        }
        x += sum / samples;
        return x;
    }
};

History averaged(const Case& run) {
    AveragingServer server{run.setting, *run.algorithm};
    return in_rounds(run, [&](const Clients& clients, const Round& round) {
        return server.run(clients, round);
    });
}

std::vector<Case> with_compression(const Json& algorithm) {
    std::vector<Case> cases = federated_cases(algorithm, &averaged);
    cases.push_back(
        changed(cases.front(), {{"compressor", {{"kind", "top-k"}, {"density", 0.3}}}}));
    cases.back().name = "compressed with error feedback";
    return cases;
}

std::vector<Case> fedavg_cases() {
    return with_compression({{"kind", "fedavg"}});
}

std::vector<Case> fedprox_cases() {
    return with_compression({{"kind", "fedprox"}, {"mu", 0.7}});
}

constexpr auto papers = std::to_array<Paper>({
    {"fedavg", "weights by samples; over-selection as in FedScale; compressed changes",
     "E counts steps, not epochs; momentum within a round", &fedavg_cases},
    {"fedprox", "the proximal term in the gradient; the rest as FedAvg",
     "all clients of a round train for E steps; models that come too late are dropped",
     &fedprox_cases},
});

}  // namespace

std::span<const Paper> fedavg_papers() {
    return papers;
}

}  // namespace paceline::papers
