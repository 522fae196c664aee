#include "topologies/mixing/mixing_schedule.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>

#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

// Node i mixes itself with a share `give` of node peer[i]. A node that is its own peer stays
// unchanged.
Mixing one_peer(const std::vector<int>& peer, double give) {
    std::vector<std::vector<MixingWeight>> rows;
    rows.reserve(peer.size());
    for (int i = 0; std::cmp_less(i, peer.size()); ++i) {
        const int j = peer[static_cast<std::size_t>(i)];
        if (i == j)
            rows.push_back({{i, 1}});
        else if (i < j)
            rows.push_back({{i, 1 - give}, {j, give}});
        else
            rows.push_back({{j, give}, {i, 1 - give}});
    }
    return Mixing(std::move(rows));
}

// Shuffles the nodes (Fisher-Yates) and pairs neighbors in the shuffled order.
std::vector<int> matching(int nodes, RandomStream random) {
    std::vector<int> order(static_cast<std::size_t>(nodes));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t last = order.size() - 1; last > 0; --last) {
        boost::random::uniform_int_distribution<std::size_t> up_to(0, last);
        std::swap(order[last], order[up_to(random)]);
    }
    std::vector<int> peer(order.size());
    std::iota(peer.begin(), peer.end(), 0);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
        peer[static_cast<std::size_t>(order[i])] = order[i + 1];
        peer[static_cast<std::size_t>(order[i + 1])] = order[i];
    }
    return peer;
}

}  // namespace

MixingSchedule::MixingSchedule(MixingPtr always) {
    if (always == nullptr) return;
    nodes_ = always->nodes();
    period_.push_back(std::move(always));
}

MixingSchedule::MixingSchedule(Mixing always)
    : MixingSchedule(std::make_shared<const Mixing>(std::move(always))) {}

MixingSchedule MixingSchedule::periodic(std::vector<Mixing> period) {
    PACELINE_CHECK(!period.empty(), "a period has a mixing or more");
    MixingSchedule schedule;
    schedule.nodes_ = period.front().nodes();
    for (Mixing& mixing : period) {
        PACELINE_CHECK(mixing.nodes() == schedule.nodes_,
                       "mixings of a period have the same nodes");
        schedule.period_.push_back(std::make_shared<const Mixing>(std::move(mixing)));
    }
    return schedule;
}

MixingSchedule MixingSchedule::drawn(int nodes, std::function<Mixing(std::int64_t)> draw,
                                     std::optional<double> mean_square) {
    PACELINE_CHECK(nodes >= 1, "a mixing has a node or more");
    PACELINE_CHECK(draw != nullptr, "what is drawn has a way to draw it");
    MixingSchedule schedule;
    schedule.nodes_ = nodes;
    schedule.draw_ = std::move(draw);
    schedule.mean_square_ = mean_square;
    return schedule;
}

MixingPtr MixingSchedule::at(std::int64_t step) const {
    PACELINE_CHECK(!empty(), "a schedule that is asked has mixings");
    PACELINE_CHECK(step >= 0, "steps count from 0");
    if (!is_drawn()) return period_[static_cast<std::size_t>(step % period())];
    auto mixing = std::make_shared<const Mixing>(draw_(step));
    PACELINE_CHECK(mixing->nodes() == nodes_, "what is drawn has the nodes it should have");
    return mixing;
}

MixingSchedule make_one_peer_exponential(int nodes) {
    PACELINE_CHECK(nodes >= 1, "a mixing has a node or more");
    std::vector<Mixing> period;
    std::vector<int> peer(static_cast<std::size_t>(nodes));
    for (std::int64_t away = 1; away < nodes; away *= 2) {
        for (int i = 0; i < nodes; ++i)
            peer[static_cast<std::size_t>(i)] = static_cast<int>((i + nodes - away) % nodes);
        period.push_back(one_peer(peer, 0.5));
    }
    if (period.empty()) period.push_back(one_peer({0}, 0.5));
    return MixingSchedule::periodic(std::move(period));
}

MixingSchedule make_one_peer_hypercube(int nodes) {
    PACELINE_CHECK(nodes >= 1 && std::has_single_bit(static_cast<unsigned>(nodes)),
                   "a hypercube has a power of two of nodes");
    std::vector<Mixing> period;
    std::vector<int> peer(static_cast<std::size_t>(nodes));
    for (int bit = 1; bit < nodes; bit *= 2) {
        for (int i = 0; i < nodes; ++i) peer[static_cast<std::size_t>(i)] = i ^ bit;
        period.push_back(one_peer(peer, 0.5));
    }
    if (period.empty()) period.push_back(one_peer({0}, 0.5));
    return MixingSchedule::periodic(std::move(period));
}

MixingSchedule make_one_peer_inner_outer(int machines, int per_machine) {
    PACELINE_CHECK(machines >= 1 && per_machine >= 1, "a machine has a node or more");
    if (machines == 1 || per_machine == 1) return make_one_peer_exponential(machines * per_machine);
    PACELINE_CHECK(per_machine >= 3, "a pair stays when one node of a machine is out");
    const auto hops = [](int places) {
        return static_cast<int>(std::bit_width(unsigned(places - 1)));
    };
    const int outer = hops(machines);
    const int inner = hops(per_machine - 1);
    std::vector<Mixing> period;
    std::vector<int> peer(static_cast<std::size_t>(machines) *
                          static_cast<std::size_t>(per_machine));
    for (int k = 0; k < std::lcm(per_machine, std::lcm(outer, inner)); ++k) {
        const int out = k % per_machine;
        const int machines_back = 1 << (k % outer);
        const int places_back = 1 << (k % inner);
        for (int machine = 0; machine < machines; ++machine)
            for (int place = 0; place < per_machine; ++place) {
                int& other = peer[static_cast<std::size_t>(machine * per_machine + place)];
                if (place == out) {
                    other = (machine + machines - machines_back) % machines * per_machine + place;
                    continue;
                }
                // Places behind the one that is out, from 0, in the circle of the others.
                const int behind = (place - out - 1 + per_machine) % per_machine;
                const int others = per_machine - 1;
                const int found = (behind + others - places_back) % others;
                other = machine * per_machine + (out + 1 + found) % per_machine;
            }
        period.push_back(one_peer(peer, 0.5));
    }
    return MixingSchedule::periodic(std::move(period));
}

MixingSchedule make_random_matching(int nodes, std::uint64_t seed, double give) {
    PACELINE_CHECK(nodes >= 1, "a mixing has a node or more");
    PACELINE_CHECK(give > 0 && give < 1, "a pair shares a part of each");
    const double stays = 1 - give;
    const double p = nodes % 2 == 0 ? -1.0 / (nodes - 1) : 0;
    const double mean_square = nodes == 1 ? 0 : stays * stays + give * give + 2 * give * stays * p;
    const auto draw = [nodes, give, streams = RandomStreams(seed)](std::int64_t step) {
        const auto index = static_cast<std::uint64_t>(step);
        return one_peer(matching(nodes, streams.stream("mixing", index)), give);
    };
    return MixingSchedule::drawn(nodes, draw, mean_square);
}

MixingSchedule lazy(const MixingSchedule& schedule) {
    PACELINE_CHECK(!schedule.is_drawn() && !schedule.empty(), "only what is known is made lazy");
    std::vector<Mixing> period;
    for (std::int64_t step = 0; step < schedule.period(); ++step)
        period.push_back(lazy(*schedule.at(step)));
    return MixingSchedule::periodic(std::move(period));
}

}  // namespace paceline
