// A collective on an idle star of equal links: what the tests of collectives run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/rank.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline {

struct StarRun {
    Simulation simulation;
    Network network;
    std::shared_ptr<const Group> group;
    std::vector<Duration> ended;  // by place
    Processes processes{simulation};

    StarRun(int nodes, Fabric fabric)
        : network(simulation, std::move(fabric)),
          group(whole_group(nodes)),
          ended(static_cast<std::size_t>(nodes), Duration::max()) {}
    StarRun(int nodes, const Link& link) : StarRun(nodes, make_star(nodes, link, link)) {}

    [[nodiscard]] Rank rank(int place, Stream stream = 1) {
        return {network, group, place, stream};
    }
    /// Starts this work at a place, `delay` after the beginning.
    void spawn(int place, Task<> work, Duration delay = {});
    /// Starts every place. `collective(rank)` returns the work of one.
    template <class Collective>
    void spawn_all(Collective collective, Stream stream = 1) {
        for (int place = 0; place < static_cast<int>(ended.size()); ++place)
            spawn(place, collective(rank(place, stream)));
    }
    [[nodiscard]] Duration last_end() const { return *std::ranges::max_element(ended); }
};

inline Task<> take_part(StarRun& run, int place, Task<> work, Duration delay) {
    co_await run.simulation.sleep(delay);
    co_await std::move(work);
    run.ended[static_cast<std::size_t>(place)] = run.simulation.now().time_since_epoch();
}

inline void StarRun::spawn(int place, Task<> work, Duration delay) {
    processes.spawn("place " + std::to_string(place),
                    take_part(*this, place, std::move(work), delay));
}

/// Returns how long the collective takes among n places that begin together; Duration::max() if it
/// does not end.
template <class Collective>
Duration time_on_star(int n, const Link& link, Collective collective) {
    StarRun run(n, link);
    run.spawn_all(collective);
    run.simulation.run();
    return run.last_end();
}

}  // namespace paceline
