#include "sim/compute/slow_nodes.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

namespace {

double draw_uniform(RandomStream& random) {
    return boost::random::uniform_01<double>()(random);
}

Phases always(double factor) {
    return [factor] { return Phase{factor, never}; };
}

// The alternating intervals of one node, as far as they have been drawn.
class DrawnIntervals {
  public:
    DrawnIntervals(RandomIntervals means, RandomStream random)
        : means_(means), random_(random), until_(later(Time{}, draw(means.mean_between))) {}

    [[nodiscard]] bool slow() const { return slow_; }
    [[nodiscard]] Time begin() const { return begin_; }
    [[nodiscard]] Time until() const { return until_; }
    void pass() {
        slow_ = !slow_;
        begin_ = until_;
        until_ = later(until_, draw(slow_ ? means_.mean_length : means_.mean_between));
    }

  private:
    Duration draw(Duration mean) {
        return from_seconds(draw_exponential(random_, 1 / to_seconds(mean)));
    }

    RandomIntervals means_;
    RandomStream random_;
    bool slow_ = false;
    Time begin_{};
    Time until_;
};

}  // namespace

StepFactor always_slow(double factor, ChosenNodes chosen) {
    return [factor, chosen = std::move(chosen)](int rank, std::int64_t /*k*/) {
        return chosen.has(rank) ? factor : 1;
    };
}

StepFactor slow_at_random(double factor, double share, ChosenNodes chosen, RandomStreams streams) {
    return [factor, share, chosen = std::move(chosen), streams](int rank, std::int64_t k) {
        if (!chosen.has(rank)) return 1.0;
        constexpr unsigned step_bits = 40;
        const auto index =
            (static_cast<std::uint64_t>(rank) << step_bits) + static_cast<std::uint64_t>(k);
        RandomStream random = streams.stream("stragglers", index);
        return draw_uniform(random) < share ? factor : 1.0;
    };
}

StepFactor slow_every(double factor, std::int64_t every, std::int64_t first, ChosenNodes chosen) {
    PACELINE_CHECK(every >= 1, "steps repeat after one step or more");
    return [factor, every, first, chosen = std::move(chosen)](int rank, std::int64_t k) {
        return k >= first && (k - first) % every == 0 && chosen.has(rank) ? factor : 1;
    };
}

StepFactor one_slow_node(double factor, double share, ChosenNodes chosen, int nodes,
                         RandomStreams streams) {
    PACELINE_CHECK(nodes >= 1, "one of the nodes is slow, and there is one");
    const int count = chosen.nodes.empty() ? nodes : static_cast<int>(chosen.nodes.size());
    return [factor, share, chosen = std::move(chosen), count, streams](int rank, std::int64_t k) {
        RandomStream random = streams.stream("slow node", static_cast<std::uint64_t>(k));
        if (draw_uniform(random) >= share) return 1.0;
        const int drawn = boost::random::uniform_int_distribution<int>(0, count - 1)(random);
        const int slow =
            chosen.nodes.empty() ? drawn : chosen.nodes[static_cast<std::size_t>(drawn)];
        return chosen.node_of(rank) == slow ? factor : 1.0;
    };
}

PhasesOf slow_periodically(double factor, Duration period, Duration length, Duration begin,
                           ChosenNodes chosen) {
    PACELINE_CHECK(length > Duration::zero() && length <= period, "a slow interval is of a period");
    return [=, chosen = std::move(chosen)](int rank, Time at) -> Phases {
        if (!chosen.has(rank)) return always(1);
        if (length == period && at >= Time{begin}) return always(factor);
        const Duration since = at - Time{begin};
        const std::int64_t i = since < Duration::zero() ? -1 : since / period;
        const bool slow = i >= 0 && since - multiple(i, period) < length;
        // `ahead` is the number of the period whose slow interval is the current or the next one.
        return [=, slow_now = slow, ahead = slow ? i : i + 1]() mutable {
            const Time start = later(Time{begin}, multiple(ahead, period));
            if (!slow_now) {
                slow_now = true;
                return Phase{1, start};
            }
            slow_now = length == period;
            ++ahead;
            return Phase{factor, later(start, length)};
        };
    };
}

PhasesOf slow_at_intervals(double factor, RandomIntervals means, ChosenNodes chosen,
                           RandomStreams streams) {
    PACELINE_CHECK(means.mean_between > Duration::zero() && means.mean_length > Duration::zero(),
                   "intervals take time");
    // Intervals drawn so far, per node. Queries mostly come in order of time.
    const auto drawn = std::make_shared<std::map<int, DrawnIntervals>>();
    return [=, chosen = std::move(chosen)](int rank, Time at) -> Phases {
        if (!chosen.has(rank)) return always(1);
        const int node = chosen.node_of(rank);
        const auto from_the_start = [&] {
            return DrawnIntervals(
                means, streams.stream("slow intervals", static_cast<std::uint64_t>(node)));
        };
        auto here = drawn->find(node);
        if (here == drawn->end()) here = drawn->emplace(node, from_the_start()).first;
        if (at < here->second.begin()) here->second = from_the_start();
        while (here->second.until() <= at) here->second.pass();
        return [factor, intervals = here->second, first = true]() mutable {
            if (!std::exchange(first, false)) intervals.pass();
            return Phase{intervals.slow() ? factor : 1, intervals.until()};
        };
    };
}

}  // namespace paceline
