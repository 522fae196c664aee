// A parameter server that nobody waits for, or that lets nobody run more than s steps ahead.
//
//   worker   m_i <- beta m_i + g_i(x_i) + lambda x_i;  pushes (gamma / n) m_i;  x_i <- the answer
//   server   x <- x - push, in the order of arrival     scaled: x - push / (1 + staleness)
//            answers all workers that wait and have taken at most min_j c_j + s steps
//
// Dean et al., NIPS 2012 (Downpour); Zhang et al., IJCAI 2016 (division by the staleness); Ho et
// al., NIPS 2013 (bounded staleness). The order of arrivals follows from the nodes' paces
// (clocks.hpp).
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/clocks.hpp"

namespace paceline::papers {

namespace {

struct Server {
    const Setting& s;
    std::int64_t bound;
    bool scaled;
    Clocks clocks{s};
    Column x = s.start();
    Models read = s.starts(), m = Models::Zero(entries, s.nodes);
    std::vector<std::int64_t> seen = std::vector<std::int64_t>(s.pace.size());  // pushes when read
    std::int64_t applied = 0;
    std::vector<int> waiting{};
    History history = without_models(s);

    void push(int i) {
        const std::int64_t step = clocks.taken(i) - 1;
        m.col(i) = s.beta * m.col(i) + s.batch_gradient(read.col(i), i, clocks.batch(i)) +
                   s.lambda * read.col(i);
        const auto staleness = static_cast<double>(applied - seen[static_cast<std::size_t>(i)]);
        x -= s.gamma(step) / s.nodes / (scaled ? 1 + staleness : 1) * m.col(i);
        ++applied;
        waiting.push_back(i);
    }
    void give(int i) {
        read.col(i) = x;
        seen[static_cast<std::size_t>(i)] = applied;
    }
    void answer() {
        std::int64_t slowest = s.steps;
        for (int i = 0; i < s.nodes; ++i)
            if (clocks.present(i)) slowest = std::min(slowest, clocks.taken(i));
        for (const int i : waiting) {
            if (clocks.taken(i) > slowest + bound) continue;
            give(i);
            history[static_cast<std::size_t>(clocks.taken(i))].col(i) = x;
            clocks.begin(i);
        }
        std::erase_if(waiting, [&](int i) { return clocks.taken(i) <= slowest + bound; });
    }
    void happens(const Clocks::Event& event) {
        if (event.kind == Clocks::Event::finished) push(event.node);
        if (event.kind == Clocks::Event::died) std::erase(waiting, event.node);
        if (event.kind == Clocks::Event::joined) {
            m.col(event.node).setZero();
            give(event.node);
        }
        answer();
    }
};

History served(const Case& run) {
    const bool stale = run.algorithm->at("kind") == "ps-stale";
    Server server{run.setting, stale ? run.algorithm->at("bound").get<int>() : run.setting.steps,
                  run.algorithm->value("staleness_scaling", false)};
    for (auto event = server.clocks.next(); event.kind != Clocks::Event::none;
         event = server.clocks.next())
        server.happens(event);
    server.history.back() = server.x.replicate(1, run.setting.nodes);
    return server.history;
}

Setting uneven(bool fails) {
    Setting s{.nodes = 6, .pace = uneven_paces};
    if (fails) s.outages = {{3, 10, 19}, {1, 21, 40}};
    return s;
}

std::vector<Case> of_async() {
    const Json plain = {{"kind", "ps-async"}};
    const Json scaled = {{"kind", "ps-async"}, {"staleness_scaling", true}};
    return {{"uneven speeds", plain, uneven(false), &served},
            {"divided by the staleness", scaled, uneven(false), &served},
            {"two nodes die and return", scaled, uneven(true), &served}};
}
std::vector<Case> of_stale() {
    std::vector<Case> all;
    for (const bool fails : {false, true})
        for (const int bound : {0, 1, 3})
            all.push_back({std::string(fails ? "two nodes die and return" : "uneven speeds") +
                               ", bound " + std::to_string(bound),
                           {{"kind", "ps-stale"}, {"bound", bound}},
                           uneven(fails),
                           &served});
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"ps-async", "one server; gamma / n, momentum in the worker",
     "n_fetch = n_push = 1, and the worker waits; no Adagrad; division by 1 + staleness as in "
     "dist-keras",
     &of_async},
    {"ps-stale", "a read at clock c waits for clock c - s of all workers that are there",
     "a worker reads from the server in every step; the code reads its cache while that is fresh",
     &of_stale},
});

}  // namespace

std::span<const Paper> server_papers() {
    return papers;
}

}  // namespace paceline::papers
