// How busy each link is over time: the bytes that it carries in each interval of a run, and the
// share of its capacity that they take.
//
//   bytes_i        = integral over interval i of the rates of the messages on the link
//   capacity_i     = integral over interval i of the rate that it has for payload
//   utilization_i  = bytes_i / capacity_i, 0..1; 0 where the link is down for all of the interval
//
// Intervals are [i w, (i+1) w); the last one ends with the run. How long a run takes is known only
// at its end, so the width w grows with it: whenever the run has outgrown the most intervals that
// are kept, ten of them become one. Sums are kept, so no byte is lost. If the caller names no
// width, w begins at 1 ps and ends as 1, 2 or 5 times a power of ten, with 80 to 200 intervals for
// a run (fewer for a run below 100 ps, and where a network has more than 40,000 links).
//
// What flows is counted when it flows: bytes include those of messages that the end of the run cuts
// short, and what an outage has lost and is sent again. The bytes of a message over all intervals
// are exact: what rounding has added or dropped goes to the interval in which it drains.
//
// Units: bytes; picoseconds. Limits: an unlimited link has no bytes
// (sim/network/network_observer.hpp). Memory: 8 bytes per interval and link that was used; twice
// that if its capacity changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/engine/simulation.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network.hpp"
#include "sim/network/network_observer.hpp"

namespace paceline {

/// One link in one interval.
struct LinkInterval {
    LinkId link = 0;
    Time from{};
    Time to{};
    std::int64_t bytes = 0;  // rounded so that the sums over consecutive intervals are, too
    double utilization = 0;
    double capacity_bps = 0;  // mean over the interval, for payload
};

class LinkIntervals {
  public:
    /// Begins to count at the simulation's now(). `width` of zero: chosen as above. Requires that
    /// the network outlives the last report.
    LinkIntervals(const Network& network, Duration width);
    LinkIntervals(const LinkIntervals&) = delete;
    LinkIntervals& operator=(const LinkIntervals&) = delete;

    /// Returns the observer to register. It refers to this object.
    [[nodiscard]] NetworkObserver observer();

    /// Ends the counting. Later reports are ignored.
    void finish();

    /// Calls `visit` for every interval of every link that has carried something, by link, then by
    /// time. Requires that it is finished.
    void for_each(const std::function<void(const LinkInterval&)>& visit) const;

    /// Returns the width of an interval: the one that was asked for, or ten times that, a hundred
    /// times, ... if the run is too long for it.
    [[nodiscard]] Duration width() const { return Duration{width_}; }

  private:
    struct Series {
        std::vector<double> bytes{};     // [interval]; empty: nothing yet
        std::vector<double> capacity{};  // [interval], in bytes; empty: it has never changed
        Bandwidth now{};                 // its capacity
        Time since{};                    // the integral of its capacity ends here
    };
    struct Flow {
        Route route{};
        double rate = 0;  // bytes per ps
        double counted = 0;
        Time since{};
        bool on_links = false;
    };

    [[nodiscard]] Time now() const { return network_.simulation().now(); }
    Series& series(LinkId link);
    void begins(std::uint32_t id, const Route& route);
    void set_rate(std::uint32_t id, double rate);
    void drains(std::uint32_t id, Bytes sent);
    void change_capacity(LinkId link, Bandwidth capacity);
    void count(Flow& flow);
    void count_capacity(Series& of);
    void add(std::vector<double>& to, Time from, Time until, double rate);
    void reach(Time time);
    void widen(std::int64_t factor);
    [[nodiscard]] std::size_t interval_before(Time time) const;
    void visit_link(LinkId link, const Series& of,
                    const std::function<void(const LinkInterval&)>& visit) const;

    const Network& network_;
    bool chooses_width_;
    std::int64_t width_;
    std::int64_t most_;
    std::vector<Bandwidth> first_capacity_;       // [link]
    std::vector<std::unique_ptr<Series>> links_;  // [link]; null: unused and unchanged
    std::vector<Flow> flows_;                     // [id of the message]
    Time end_{};
    bool finished_ = false;
};

}  // namespace paceline
