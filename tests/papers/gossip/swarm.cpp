#include "tests/papers/gossip/swarm.hpp"

#include <boost/random/uniform_int_distribution.hpp>
#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

RandomStream SwarmNodes::stream(const Setting& s, int node) {
    return RandomStreams(s.seed).stream("swarm partner", static_cast<std::uint64_t>(node));
}

std::vector<RandomStream> SwarmNodes::streams(const Setting& s) {
    std::vector<RandomStream> all;
    for (int i = 0; i < s.nodes; ++i) all.push_back(stream(s, i));
    return all;
}

int SwarmNodes::partner(int i) {
    std::vector<int> neighbors;
    for (int j = 0; j < s.nodes; ++j)
        if (j != i && s.mixing[0](i, j) != 0) neighbors.push_back(j);
    boost::random::uniform_int_distribution<std::size_t> any(0, neighbors.size() - 1);
    return neighbors[any(random[static_cast<std::size_t>(i)])];
}

bool SwarmNodes::step(int i) {
    const double gamma = s.gamma(clocks.taken(i) - 1);
    const Column g = s.batch_gradient(z.col(i), i, clocks.batch(i)) + s.lambda * z.col(i);
    x.col(i) -= gamma * momentum(s, m.col(i), g);
    return ++burst[static_cast<std::size_t>(i)] % options.at("local_steps").get<int>() == 0;
}

void SwarmNodes::go_on(int i) {
    history[static_cast<std::size_t>(clocks.taken(i))].col(i) = z.col(i) = x.col(i);
    clocks.begin(i);
}

void SwarmNodes::join(int i) {
    m.col(i).setZero();
    z.col(i) = x.col(i);
    burst[static_cast<std::size_t>(i)] = 0;
    random[static_cast<std::size_t>(i)] = stream(s, i);
}

Setting uneven_ring() {
    Setting s{.nodes = 6, .pace = uneven_paces};
    s.mixing = {ring_weights(6)};
    return s;
}

}  // namespace paceline::papers
