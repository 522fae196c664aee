#include "analysis/measures/link_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_cells = 40'000'000;  // intervals of all links together
constexpr std::int64_t most_chosen = 1'000;      // intervals, before the width is settled
constexpr std::int64_t most_asked = 10'000;
constexpr std::int64_t most_shown = 200;
constexpr std::int64_t fewest = 20;

std::int64_t most_intervals(std::size_t links, bool chooses_width) {
    const auto per_link = most_cells / std::max<std::int64_t>(1, static_cast<std::int64_t>(links));
    return std::clamp(per_link, fewest, chooses_width ? most_chosen : most_asked);
}

std::int64_t ps_of(Time time) {
    return time.time_since_epoch().count();
}

double bytes_per_ps(Bandwidth rate) {
    return static_cast<double>(rate.bits_per_second) / 8e12;
}

void merge(std::vector<double>& values, std::size_t factor) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i % factor == 0)
            values[i / factor] = values[i];
        else
            values[i / factor] += values[i];
    values.resize((values.size() + factor - 1) / factor);
}

}  // namespace

LinkIntervals::LinkIntervals(const Network& network, Duration width)
    : network_(network),
      chooses_width_(width == Duration::zero()),
      width_(std::max<std::int64_t>(1, width.count())),
      most_(most_intervals(network.links(), chooses_width_)),
      links_(network.links()) {
    for (std::size_t link = 0; link < links_.size(); ++link)
        first_capacity_.push_back(network.capacity(static_cast<LinkId>(link)));
}

NetworkObserver LinkIntervals::observer() {
    NetworkObserver observer;
    observer.begins = [this](std::uint32_t id, const NetworkObserver::Message& message) {
        if (!finished_) begins(id, message.route);
    };
    observer.rate = [this](std::uint32_t id, double rate) {
        if (!finished_) set_rate(id, rate);
    };
    observer.restarts = [this](std::uint32_t id) {
        if (finished_) return;
        set_rate(id, 0);
        flows_[id].counted = 0;
    };
    observer.drains = [this](std::uint32_t id, Bytes sent) {
        if (!finished_) drains(id, sent);
    };
    observer.capacity = [this](LinkId link, Bandwidth capacity) {
        if (!finished_) change_capacity(link, capacity);
    };
    return observer;
}

LinkIntervals::Series& LinkIntervals::series(LinkId link) {
    std::unique_ptr<Series>& of = links_[link];
    if (!of) {
        of = std::make_unique<Series>();
        of->now = first_capacity_[link];
    }
    return *of;
}

// --- what flows ---

void LinkIntervals::begins(std::uint32_t id, const Route& route) {
    if (id >= flows_.size()) flows_.resize(id + 1);
    flows_[id] = {route, 0, 0, now(), true};
}

void LinkIntervals::set_rate(std::uint32_t id, double rate) {
    if (id >= flows_.size() || !flows_[id].on_links) return;
    count(flows_[id]);
    flows_[id].rate = rate;
}

void LinkIntervals::drains(std::uint32_t id, Bytes sent) {
    if (id >= flows_.size() || !flows_[id].on_links) return;
    Flow& flow = flows_[id];
    count(flow);
    const double rest = static_cast<double>(sent.count) - flow.counted;
    reach(now());
    const std::size_t last = interval_before(now());
    for (const LinkId link : flow.route) {
        std::vector<double>& bytes = series(link).bytes;
        if (bytes.size() <= last) bytes.resize(last + 1);
        bytes[last] += rest;
    }
    flow.on_links = false;
}

// Counts what a message has moved since it was last counted.
void LinkIntervals::count(Flow& flow) {
    if (flow.rate > 0 && now() > flow.since) {
        for (const LinkId link : flow.route) add(series(link).bytes, flow.since, now(), flow.rate);
        flow.counted += flow.rate * static_cast<double>((now() - flow.since).count());
    }
    flow.since = now();
}

// --- capacities ---

void LinkIntervals::change_capacity(LinkId link, Bandwidth capacity) {
    Series& of = series(link);
    count_capacity(of);
    of.now = capacity;
}

void LinkIntervals::count_capacity(Series& of) {
    reach(now());
    if (of.capacity.empty()) of.capacity.resize(1);
    add(of.capacity, of.since, now(), bytes_per_ps(of.now));
    of.since = now();
}

// --- intervals ---

std::size_t LinkIntervals::interval_before(Time time) const {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, ps_of(time) - 1) / width_);
}

void LinkIntervals::add(std::vector<double>& to, Time from, Time until, double rate) {
    if (until <= from) return;
    reach(until);
    const std::size_t last = interval_before(until);
    if (to.size() <= last) to.resize(last + 1);
    for (std::int64_t at = ps_of(from); at < ps_of(until);) {
        const std::int64_t interval = at / width_;
        const std::int64_t end = std::min(ps_of(until), (interval + 1) * width_);
        to[static_cast<std::size_t>(interval)] += rate * static_cast<double>(end - at);
        at = end;
    }
}

// Widens the intervals until this time lies in one of them.
void LinkIntervals::reach(Time time) {
    while (std::cmp_greater_equal(interval_before(time), most_)) widen(10);
}

void LinkIntervals::widen(std::int64_t factor) {
    width_ *= factor;
    for (const std::unique_ptr<Series>& of : links_) {
        if (!of) continue;
        merge(of->bytes, static_cast<std::size_t>(factor));
        merge(of->capacity, static_cast<std::size_t>(factor));
    }
}

void LinkIntervals::finish() {
    if (finished_) return;
    for (Flow& flow : flows_)
        if (flow.on_links) count(flow);
    for (const std::unique_ptr<Series>& of : links_)
        if (of && !of->capacity.empty()) count_capacity(*of);
    finished_ = true;
    end_ = now();
    reach(end_);
    if (!chooses_width_) return;
    const auto intervals = static_cast<std::int64_t>(interval_before(end_)) + 1;
    for (const std::int64_t factor : {1, 2, 5})
        if (factor == 5 || intervals <= factor * most_shown) return widen(factor);
}

// --- results ---

void LinkIntervals::visit_link(LinkId link, const Series& of,
                               const std::function<void(const LinkInterval&)>& visit) const {
    const std::size_t intervals = interval_before(end_) + 1;
    double moved = 0;
    for (std::size_t i = 0; i < intervals; ++i) {
        LinkInterval one{.link = link};
        const std::int64_t from = static_cast<std::int64_t>(i) * width_;
        const std::int64_t to = std::min(from + width_, ps_of(end_));
        one.from = Time{Duration{from}};
        one.to = Time{Duration{to}};
        const double bytes = i < of.bytes.size() ? of.bytes[i] : 0;
        const auto before = std::llround(moved);
        moved += bytes;
        one.bytes = std::llround(moved) - before;
        const auto length = static_cast<double>(to - from);
        double capacity = 0;
        if (of.capacity.empty())
            capacity = bytes_per_ps(of.now) * length;
        else if (i < of.capacity.size())
            capacity = of.capacity[i];
        if (capacity > 0) one.utilization = std::clamp(bytes / capacity, 0.0, 1.0);
        if (length > 0) one.capacity_bps = capacity / length * 8e12;
        visit(one);
    }
}

void LinkIntervals::for_each(const std::function<void(const LinkInterval&)>& visit) const {
    PACELINE_CHECK(finished_, "intervals are known at the end");
    for (LinkId link = 0; link < links_.size(); ++link)
        if (links_[link] && !links_[link]->bytes.empty()) visit_link(link, *links_[link], visit);
}

}  // namespace paceline
