#include "tests/papers/servers/federated.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>
#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"

namespace paceline::papers {

namespace {

double needed(const Case& run) {
    const double share = run.algorithm->value("fraction", 1.0);
    return std::max(1.0, std::floor(share * run.setting.nodes + 1e-9));
}

std::vector<int> drawn(const Case& run, std::vector<int> there, std::int64_t round) {
    const double more = run.algorithm->value("over_selection", 1.0) * needed(run);
    const auto wanted = static_cast<std::size_t>(std::ceil(more - 1e-9));
    if (wanted >= there.size()) return there;
    RandomStream random = RandomStreams(run.setting.seed)
                              .stream("clients of a round", static_cast<std::uint64_t>(round));
    for (std::size_t i = 0; i < wanted; ++i) {
        boost::random::uniform_int_distribution<int> any(static_cast<int>(i),
                                                         static_cast<int>(there.size()) - 1);
        std::swap(there[i], there[static_cast<std::size_t>(any(random))]);
    }
    there.resize(wanted);
    return there;
}

Round round_from(const Case& run, std::int64_t first, std::int64_t steps) {
    const Setting& s = run.setting;
    Round round{first, std::min(steps, s.steps - first), {}, {}, {}};
    std::vector<int> there;
    for (int i = 0; i < s.nodes; ++i) {
        if (s.present(i, first)) there.push_back(i);
        for (std::int64_t k = first - steps + 1; k <= first; ++k)
            if (s.returns(i, k)) round.returned.push_back(i);
    }
    round.asked = drawn(run, there, first / steps);
    for (const int i : round.asked) {
        bool stays = true;
        for (std::int64_t k = first; k < first + round.steps; ++k) stays = stays && s.present(i, k);
        if (stays) round.kept.push_back(i);
    }
    if (!s.pace.empty())
        std::ranges::sort(round.kept, {},
                          [&](int i) { return s.pace[static_cast<std::size_t>(i)]; });
    round.kept.resize(std::min(round.kept.size(), static_cast<std::size_t>(needed(run))));
    return round;
}

// Counts the gradients that each node completes before the last of those kept has finished.
void count(Clients& clients, const Round& round) {
    const Setting& s = clients.s;
    double end = 0;
    for (const int i : round.kept)
        if (!s.pace.empty())
            end = std::max(end,
                           s.pace[static_cast<std::size_t>(i)] * static_cast<double>(round.steps));
    for (const int i : round.asked) {
        std::int64_t done = 0;
        while (done < round.steps && s.present(i, round.first + done)) ++done;
        if (!s.pace.empty()) {
            const double own = end / s.pace[static_cast<std::size_t>(i)];
            done = std::min(done, static_cast<std::int64_t>(std::floor(own + 1e-9)));
        }
        clients.gradients[static_cast<std::size_t>(i)] += done;
    }
}

}  // namespace

Column Clients::gradient(const Column& x, int node, std::int64_t step) const {
    return s.batch_gradient(x, node, gradients[static_cast<std::size_t>(node)] + step) +
           s.lambda * x;
}

double Clients::samples(int node) const {
    return s.samples.empty() ? 1 : s.samples[static_cast<std::size_t>(node)];
}

History in_rounds(
    const Case& run,
    const std::function<Column(const Clients& clients, const Round& round)>& one_round) {
    const Setting& s = run.setting;
    Trace trace{s};
    Clients clients{s, std::vector<std::int64_t>(static_cast<std::size_t>(s.nodes))};
    Column x = s.start();
    const std::int64_t steps = run.algorithm->at("local_steps");
    for (std::int64_t first = 0; first < s.steps; first += steps) {
        Round round = round_from(run, first, steps);
        for (std::int64_t k = first; k < first + round.steps - 1; ++k) {
            trace.note_same(k, x);
            for (int i = 0; i < s.nodes; ++i)  // who is late skips its steps when the round is over
                if (std::ranges::find(round.kept, i) == round.kept.end())
                    trace.history.back().col(i).setConstant(nowhere);
        }
        std::ranges::sort(round.kept);
        x = one_round(clients, round);
        count(clients, round);
        trace.note_same(first + round.steps - 1, x);
    }
    return trace.done();
}

std::vector<Case> federated_cases(const Json& algorithm, History (*reference)(const Case&)) {
    const auto with = [&](const Json& more) {
        Json patched = algorithm;
        patched.update(more);
        return patched;
    };
    const std::vector<double> samples{30, 10, 25, 5, 40};
    Setting uneven{.samples = samples};
    uneven.pace = {1.31071, 1.01009, 2.11231, 1.73057, 1.13011};
    const Setting failing{.outages = {{1, 9, 18}, {4, 16, 30}}, .samples = samples};
    return {
        {"all take part, shards of different sizes",
         with({{"local_steps", 3}}),
         {.samples = samples},
         reference},
        {"three of five, drawn",
         with({{"local_steps", 5}, {"fraction", 0.6}}),
         {.samples = samples},
         reference},
        {"the first three of five",
         with({{"local_steps", 5}, {"fraction", 0.6}, {"over_selection", 2.0}}), uneven, reference},
        {"two nodes die and return", with({{"local_steps", 3}}), failing, reference}};
}

}  // namespace paceline::papers
