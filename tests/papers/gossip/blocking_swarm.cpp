// SwarmSGD, blocking (Nadiradze et al., NeurIPS 2021): after H local steps node i meets a neighbor
// j between their bursts, and x_i, x_j <- (x_i + x_j) / 2.
//
// j answers when its burst ends, before it draws a partner itself; if it waits for another node or
// has finished, at once. Whatever others add to x_i while it waits stays: with s_i = x_i as i asks
// and t = x_j as j answers, x_j <- x_j + (s_i - t) / 2 and x_i <- x_i + (t - s_i) / 2.
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/papers/gossip/swarm.hpp"

namespace paceline::papers {

namespace {

struct Blocking : SwarmNodes {
    Models asked = s.starts();  // s_i
    std::vector<char> in_burst = std::vector<char>(s.pace.size(), 1);
    std::vector<std::vector<int>> postponed = std::vector<std::vector<int>>(s.pace.size());

    void answer(int j, int i) {
        const Column t = x.col(j);
        x.col(j) += (asked.col(i) - t) / 2;
        x.col(i) += (t - asked.col(i)) / 2;
        next_burst(i);
    }
    void next_burst(int i) {
        in_burst[static_cast<std::size_t>(i)] = clocks.has_ended(i) ? 0 : 1;
        go_on(i);
    }
    void finish(int i) {
        if (!step(i)) return go_on(i);
        in_burst[static_cast<std::size_t>(i)] = 0;
        for (const int k : std::exchange(postponed[static_cast<std::size_t>(i)], {})) answer(i, k);
        const int j = partner(i);
        asked.col(i) = x.col(i);
        if (in_burst[static_cast<std::size_t>(j)] != 0)
            postponed[static_cast<std::size_t>(j)].push_back(i);
        else
            answer(j, i);
    }
};

History blocking(const Case& run) {
    Blocking nodes{{run.setting, *run.algorithm}};
    for (auto event = nodes.clocks.next(); event.kind == Clocks::Event::finished;
         event = nodes.clocks.next())
        nodes.finish(event.node);
    nodes.history.back() = nodes.x;
    return nodes.history;
}

}  // namespace

std::vector<Case> blocking_swarm_cases() {
    std::vector<Case> all;
    for (const int steps : {1, 2, 4})
        all.push_back({"blocking, bursts of " + std::to_string(steps),
                       {{"kind", "swarm-sgd"},
                        {"mode", "blocking"},
                        {"local_steps", steps},
                        {"mixing", {{"kind", "ring"}}}},
                       uneven_ring(),
                       &blocking});
    return all;
}

}  // namespace paceline::papers
