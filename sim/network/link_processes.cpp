#include "sim/network/link_processes.hpp"

#include <algorithm>
#include <utility>

#include <boost/random/uniform_01.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

namespace {

Duration exponential(Duration mean, RandomStream& random) {
    const double drawn = draw_exponential(random);
    return std::max(Duration{1}, from_seconds(drawn * to_seconds(mean)));
}

// Returns a uniform draw in [0, whole).
Duration share(Duration whole, RandomStream& random) {
    const double drawn = boost::random::uniform_01<double>()(random);
    return std::min(from_seconds(drawn * to_seconds(whole)), whole - Duration{1});
}

// Returns when a direction that is down in this row comes up again. Returns `never` for one that is
// up, because no transfer waits for its next change.
Time next_up(const LinkTrace& trace, Time begin, std::size_t row,
             Bandwidth AccessBandwidth::* way) {
    const auto up = [way](const LinkTrace::Row& r) { return r.bandwidth.*way > Bandwidth{0}; };
    if (up(trace.rows[row])) return never;
    const auto from = trace.rows.begin() + static_cast<std::ptrdiff_t>(row);
    if (const auto later_row = std::find_if(from, trace.rows.end(), up);
        later_row != trace.rows.end())
        return later(begin, later_row->at);
    if (trace.period == Duration::zero()) return never;
    const auto wrapped = std::find_if(trace.rows.begin(), from, up);
    return wrapped == from ? never : later(later(begin, trace.period), wrapped->at);
}

void check(const LinkTrace& trace) {
    PACELINE_CHECK(!trace.rows.empty() && trace.rows.front().at == Duration::zero(),
                   "a trace begins at 0");
    for (std::size_t i = 1; i < trace.rows.size(); ++i)
        PACELINE_CHECK(trace.rows[i].at > trace.rows[i - 1].at, "times of a trace rise");
    PACELINE_CHECK(trace.period == Duration::zero() || trace.period > trace.rows.back().at,
                   "a period ends after the last row of its trace");
    PACELINE_CHECK(trace.period > Duration::zero() || trace.phase == LinkPhase::start,
                   "a trace begins at random in its period");
}

void check(const Outages& outages) {
    if (outages.schedule.empty())
        PACELINE_CHECK(std::min(outages.mean_between, outages.mean_length) > Duration::zero(),
                       "lengths are above 0");
    Duration end{};
    for (const Outages::Outage& outage : outages.schedule) {
        PACELINE_CHECK(outage.at >= end && outage.length > Duration::zero(),
                       "outages follow one another and take time");
        end = sum(outage.at, outage.length);
    }
}

}  // namespace

LinkProcesses::~LinkProcesses() {
    for (const Process& process : processes_) network_.simulation().cancel(process.event);
}

LinkProcesses::Index LinkProcesses::state_of(const Access& access) {
    const auto next = static_cast<Index>(states_.size());
    const auto [found, is_new] = state_of_.try_emplace(access.number, next);
    if (is_new) states_.push_back({.access = access, .bandwidth = access.usual});
    ++states_[found->second].processes;
    return found->second;
}

LinkProcesses::Index LinkProcesses::source_of(const Access& access) {
    const Index state = state_of(access);
    PACELINE_CHECK(!std::exchange(states_[state].has_source, true),
                   "an access has one source of its bandwidth");
    return state;
}

// Returns a separate stream for each process of an access.
RandomStream LinkProcesses::stream(std::string_view name, Index state) {
    constexpr unsigned access_bits = 40;
    const State& of = states_[state];
    return streams_.stream(name, (of.processes << access_bits) + of.access.number);
}

void LinkProcesses::add_trace(const Access& access, std::shared_ptr<const LinkTrace> trace) {
    check(*trace);
    const Index state = source_of(access);
    Trace kind{.trace = std::move(trace), .begin = now()};
    const std::vector<LinkTrace::Row>& rows = kind.trace->rows;
    if (kind.trace->phase == LinkPhase::random) {
        RandomStream random = stream("trace", state);
        const Duration passed = share(kind.trace->period, random);
        kind.begin -= passed;
        while (kind.next + 1 < rows.size() && rows[kind.next + 1].at <= passed) ++kind.next;
    }
    add({.state = state, .kind = std::move(kind)}, now());
}

void LinkProcesses::add_on_off(const Access& access, const OnOff& process) {
    PACELINE_CHECK(std::min(process.on, process.off) > Duration::zero(), "lengths are above 0");
    const Index state = source_of(access);
    Alternation kind{process, stream("on-off", state)};
    if (process.phase == LinkPhase::random) {
        const Duration passed = share(sum(process.on, process.off), kind.random);
        const bool on = passed < process.on;
        const Duration mean = on ? process.on : process.off;
        kind.first = process.law == LengthLaw::fixed
                         ? (on ? process.on : sum(process.on, process.off)) - passed
                         : exponential(mean, kind.random);  // memoryless
        kind.on = !on;                                      // the first change toggles it
    }
    add({.state = state, .kind = kind}, now());
}

void LinkProcesses::add_outages(const Access& access, std::shared_ptr<const Outages> process) {
    check(*process);
    const Index state = state_of(access);
    RandomStream random = stream("outages", state);
    const Duration first = process->schedule.empty() ? exponential(process->mean_between, random)
                                                     : process->schedule.front().at;
    add({.state = state, .kind = Interruption{std::move(process), random, now()}},
        later(now(), first));
}

void LinkProcesses::add(Process process, Time first) {
    processes_.push_back(std::move(process));
    const auto index = static_cast<Index>(processes_.size() - 1);
    if (first == now()) return fire(index);
    processes_[index].event = network_.simulation().at(
        first, action<&LinkProcesses::fire>(*this, index), EventKind::daemon);
}

void LinkProcesses::fire(Index index) {
    Process& process = processes_[index];
    State& state = states_[process.state];
    const Time next = std::visit([&](auto& kind) { return change(kind, state); }, process.kind);
    set_bandwidths(state);
    if (next == never) return;
    process.event = network_.simulation().at(next, action<&LinkProcesses::fire>(*this, index),
                                             EventKind::daemon);
}

Time LinkProcesses::change(Trace& trace, State& state) {
    const std::vector<LinkTrace::Row>& rows = trace.trace->rows;
    const Duration period = trace.trace->period;
    if (trace.next == rows.size()) {
        trace.begin = later(trace.begin, period);
        trace.next = 0;
    }
    const std::size_t row = trace.next++;
    state.bandwidth = rows[row].bandwidth;
    state.up_changes = next_up(*trace.trace, trace.begin, row, &AccessBandwidth::up);
    state.down_changes = next_up(*trace.trace, trace.begin, row, &AccessBandwidth::down);
    if (trace.next < rows.size()) return later(trace.begin, rows[trace.next].at);
    return period == Duration::zero() ? never : later(trace.begin, period);
}

Time LinkProcesses::change(Alternation& alternation, State& state) {
    const OnOff& process = alternation.process;
    alternation.on = !alternation.on;
    const Duration mean = alternation.on ? process.on : process.off;
    const Bandwidth off = process.bandwidth_off;
    state.bandwidth = alternation.on ? state.access.usual : AccessBandwidth{off, off};
    Duration length = mean;
    if (alternation.first)
        length = *std::exchange(alternation.first, std::nullopt);
    else if (process.law == LengthLaw::exponential)
        length = exponential(mean, alternation.random);
    const Time next = later(now(), length);
    state.up_changes = state.down_changes = next;
    return next;
}

Time LinkProcesses::change(Interruption& interruption, State& state) {
    const Outages& outages = *interruption.process;
    const bool drawn = outages.schedule.empty();
    interruption.down = !interruption.down;
    if (!interruption.down) {
        if (drawn) return later(now(), exponential(outages.mean_between, interruption.random));
        if (++interruption.next == outages.schedule.size()) return never;
        // An outage that begins when the previous one ends begins in the same instant.
        return later(interruption.begin, outages.schedule[interruption.next].at);
    }
    const Duration length = drawn ? exponential(outages.mean_length, interruption.random)
                                  : outages.schedule[interruption.next].length;
    const Time end = later(now(), length);
    state.back = std::max(state.back, end);
    if (outages.transfers == Transfers::restart) {
        network_.lose_flows(state.access.up);
        network_.lose_flows(state.access.down);
    }
    return end;
}

void LinkProcesses::set_bandwidths(const State& state) {
    const Access& access = state.access;
    if (now() < state.back) {
        network_.set_bandwidth(access.up, {}, state.back);
        network_.set_bandwidth(access.down, {}, state.back);
        return;
    }
    network_.set_bandwidth(access.up, state.bandwidth.up, state.up_changes);
    network_.set_bandwidth(access.down, state.bandwidth.down, state.down_changes);
}

}  // namespace paceline
