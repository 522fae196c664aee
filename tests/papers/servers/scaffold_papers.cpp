// SCAFFOLD (Karimireddy et al., ICML 2020, arXiv 1910.06378), Algorithm 1, option II:
//
//   y_i <- x;  E times: y_i <- y_i - gamma (g_i(y_i) + lambda y_i - c_i + c)
//   c_i+ <- c_i - c + (x - y_i) / (sum of gamma)
//   x <- x + eta (1/|K|) sum over K of (y_i - x),   c <- c + (1/n) sum over K of (c_i+ - c_i)
//
// With a codec (SCALLION: Huang, Li, Li, ICLR 2024, arXiv 2308.08165) each client sends
// d_i = C(alpha ((x - y_i) / (sum of gamma) - c)), from which x moves by
// -eta (sum of gamma) ((1/|K|) sum over K of d_i + c), c by (1/n) sum of d_i, and c_i by d_i.
//
// K: federated.hpp. Clients outside K keep c_i, and so do clients that die and return.
#include <array>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"
#include "tests/papers/servers/federated.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

struct ControlledServer {
    const Setting& s;
    const Json& options;
    double eta = options.value("server_learning_rate", 1.0);
    Column x = s.start();
    Column c = Column::Zero(entries);
    Models c_i = Models::Zero(entries, s.nodes);

    [[nodiscard]] Column coded(Column d) const {
        for (const Part& part : parts())
            d.segment(part.begin, part.size()) =
                top_k(d.segment(part.begin, part.size()), options.at("codec").at("density"));
        return d;
    }
    Column run(const Clients& clients, const Round& round) {
        Column dy = Column::Zero(entries), dc = dy;
        for (const int i : round.kept) {
            Column y = x;
            double rates = 0;
            for (std::int64_t k = 0; k < round.steps; ++k) {
                const double gamma = s.gamma(round.first + k);
                y -= gamma * (clients.gradient(y, i, k) - c_i.col(i) + c);
                rates += gamma;
            }
            if (options.contains("codec")) {
                const Column d = coded(options.at("scaling").get<double>() * ((x - y) / rates - c));
                dy -= rates * (d + c);
                dc += d;
                c_i.col(i) += d;
                continue;
            }
            const Column renewed = c_i.col(i) - c + (x - y) / rates;
            dy += y - x;
            dc += renewed - c_i.col(i);
            c_i.col(i) = renewed;
        }
        x += eta / static_cast<double>(round.kept.size()) * dy;
        c += dc / s.nodes;
        return x;
    }
};

History controlled(const Case& run) {
    ControlledServer server{run.setting, *run.algorithm};
    return in_rounds(run, [&](const Clients& clients, const Round& round) {
        return server.run(clients, round);
    });
}

std::vector<Case> scaffold_cases() {
    std::vector<Case> cases = federated_cases({{"kind", "scaffold"}}, &controlled);
    cases.push_back(changed(cases[1], {{"server_learning_rate", 0.7}}));
    cases.back().name = "three of five, drawn, eta = 0.7";
    const Json coded{{"codec", {{"kind", "top-k"}, {"density", 0.3}}}, {"scaling", 0.4}};
    for (const std::size_t i : {std::size_t{0}, std::size_t{2},
                                std::size_t{3}}) {  // all, the first three, nodes that die
        cases.push_back(changed(cases[i], coded));
        cases.back().name += ", SCALLION";
    }
    return cases;
}

constexpr auto papers = std::to_array<Paper>({
    {"scaffold", "option II; clients count alike; over-selection as in FedScale; SCALLION",
     "the sum of learning rates in place of K eta; a change that comes too late renews no c_i",
     &scaffold_cases},
});

}  // namespace

std::span<const Paper> scaffold_papers() {
    return papers;
}

}  // namespace paceline::papers
