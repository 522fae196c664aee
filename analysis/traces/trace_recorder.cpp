#include "analysis/traces/trace_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/traces/own_cables.hpp"

namespace paceline {

namespace {

constexpr std::uint64_t events_of_a_slice = 2;         // begin, end
constexpr std::uint64_t events_of_half_a_message = 2;  // begin, end
constexpr std::uint64_t events_of_an_arrow = 2;

constexpr std::string_view waits_for_messages = "waiting for messages";

std::string_view name_of(WaitFor what) {
    switch (what) {
        case WaitFor::stragglers:
            return "waiting for stragglers";
        case WaitFor::the_dead:
            return "waiting for the dead";
        case WaitFor::own_return:
            return "away";
        case WaitFor::checkpoint:
            return "writing a checkpoint";
    }
    return "waiting";
}

std::string_view name_of(Work::Kind kind) {
    switch (kind) {
        case Work::Kind::gradient:
            return "gradient";
        case Work::Kind::update:
            return "update";
        case Work::Kind::coding:
            return "coding";
    }
    return "computing";
}

std::int32_t millionths_of(double rate, Bandwidth capacity) {
    if (capacity.bits_per_second == 0) return 0;
    const double bytes_per_ps = static_cast<double>(capacity.bits_per_second) / 8e12;
    return static_cast<std::int32_t>(std::lround(std::clamp(rate / bytes_per_ps, 0.0, 1.0) * 1e6));
}

}  // namespace

TraceRecorder::TraceRecorder(TraceMachine machine, const TraceFilter& filter)
    : machine_(std::move(machine)),
      filter_(filter),
      step_slices_(machine_.hosts.size()),
      in_steps_(machine_.hosts.size()),
      doing_(machine_.hosts.size()),
      links_(machine_.network->links()) {
    for (std::size_t link = 0; link < links_.size(); ++link)
        links_[link].capacity = machine_.network->capacity(static_cast<LinkId>(link));
    for (const OwnCable& cable : own_cables_of(machine_)) {
        follow(cable.up, {cable.process, "up"});
        follow(cable.down, {cable.process, "down"});
    }
    count_uses();
}

NetworkObserver TraceRecorder::network_observer() {
    NetworkObserver observer;
    observer.begins = [this](std::uint32_t id, const NetworkObserver::Message& message) {
        if (listens()) message_begins(id, message);
    };
    observer.rate = [this](std::uint32_t id, double rate) {
        if (listens()) set_rate(id, rate);
    };
    observer.restarts = [this](std::uint32_t id) {
        if (!listens() || id >= flows_.size()) return;
        set_rate(id, 0);
        if (!flows_[id].message) return;
        flows_[id].message->first_byte = never;
        ++flows_[id].message->restarts;
    };
    observer.drains = [this](std::uint32_t id, Bytes sent) {
        if (listens()) message_drains(id, sent);
    };
    observer.arrives = [this](std::uint32_t id, bool lost) {
        if (listens()) message_arrives(id, lost);
    };
    observer.capacity = [this](LinkId link, Bandwidth capacity) {
        if (!listens()) return;
        links_[link].capacity = capacity;
        change(link);
    };
    return observer;
}

WorkerObserver TraceRecorder::worker_observer() {
    WorkerObserver observer;
    observer.step_begins = [this](int host, std::int64_t step) {
        if (listens()) step_begins(host, step);
    };
    observer.steps_end = [this](int host) {
        if (listens()) step_is_over(host, Life::done);
    };
    observer.dies = [this](int host) {
        if (listens()) step_is_over(host, Life::absent);
    };
    observer.computing_begins = [this](int host, Work work) {
        return listens() ? work_begins(host, computing_begins(host, work)) : 0;
    };
    observer.bucket = [this](Token computing, std::size_t number, Time from, Time until) {
        if (listens()) bucket(computing, number, from, until);
    };
    observer.computing_ends = [this](Token token) { work_ends(token); };
    observer.round_begins = [this](int host, const RoundPart& round) {
        if (!listens()) return Token{0};
        return work_begins(host, open({.begin = now(),
                                       .host = host,
                                       .track = TraceTrack::rounds,
                                       .name = round.name,
                                       .stream = round.stream}));
    };
    observer.round_ends = [this](Token token) { work_ends(token); };
    observer.waited = [this](int host, WaitFor what, Time from, Time until) {
        if (listens()) waited(host, what, from, until);
    };
    return observer;
}

// Returns whether recording is still on. Before the first report of a new instant, it records the
// uses of links as the previous instant left them.
bool TraceRecorder::listens() {
    if (finished_ || cut_) return false;
    if (now() == heard_) return true;
    note_uses(heard_);
    note_waits(heard_);
    heard_ = now();
    if (heard_ >= filter_.from && pending_ > 0 && !has_room(std::exchange(pending_, 0)))
        return false;
    count_uses();
    return !cut_;
}

// Reserves room for events, or cuts the trace at this instant.
bool TraceRecorder::has_room(std::uint64_t events) {
    if (events_ + events > filter_.limit) {
        cut_ = now();
        return false;
    }
    events_ += events;
    return true;
}

bool TraceRecorder::begins_something(std::uint64_t events) {
    if (now() > filter_.until) return false;
    if (now() >= filter_.from) return has_room(events);
    pending_ += events;
    return true;
}

// Forgets pending events of something that ended before the span began.
void TraceRecorder::forget(std::uint64_t events) {
    pending_ -= std::min(pending_, events);
}

bool TraceRecorder::shows(int number) const {
    const TraceHost& at = host(number);
    if (at.process < 0) return false;
    const TraceProcess& process = machine_.processes[static_cast<std::size_t>(at.process)];
    if (!process.chosen) return false;
    if (!filter_.by_step()) return true;
    return process.of_main_job && at.takes_steps ? in_steps_[static_cast<std::size_t>(number)]
                                                 : hosts_in_steps_ > 0;
}

// --- slices ---

TraceRecorder::Token TraceRecorder::open(TraceSlice slice) {
    if (!shows(slice.host) || !begins_something(events_of_a_slice)) return 0;
    open_.emplace(++last_token_, slice);
    return last_token_;
}

void TraceRecorder::close(Token token) {
    if (token == 0 || !listens()) return;
    const auto found = open_.find(token);
    if (found == open_.end()) return;
    TraceSlice slice = found->second;
    open_.erase(found);
    slice.end = now();
    if (in_span(slice.begin, slice.end))
        slices_.push_back(slice);
    else
        forget(events_of_a_slice);
}

// Adds a slice that has ended.
void TraceRecorder::add(const TraceSlice& slice) {
    if (shows(slice.host) && in_span(slice.begin, slice.end) && has_room(events_of_a_slice))
        slices_.push_back(slice);
}

void TraceRecorder::step_begins(int number, std::int64_t step) {
    step_is_over(number, Life::in_steps);
    const auto at = static_cast<std::size_t>(number);
    const TraceHost& worker = host(number);
    if (worker.process >= 0 &&
        machine_.processes[static_cast<std::size_t>(worker.process)].of_main_job) {
        in_steps_[at] = step >= filter_.first_step && step <= filter_.last_step;
        if (in_steps_[at]) ++hosts_in_steps_;
    }
    count_uses();
    step_slices_[at] = open({.begin = now(),
                             .host = number,
                             .track = TraceTrack::steps,
                             .name = "step",
                             .number = step});
}

void TraceRecorder::step_is_over(int number, Life then) {
    const auto at = static_cast<std::size_t>(number);
    end_wait(number);
    doing_[at].life = then;
    without_work_.push_back(number);
    close(std::exchange(step_slices_[at], 0));
    if (in_steps_[at]) --hosts_in_steps_;
    in_steps_[at] = false;
    if (then == Life::done) count_uses();
}

// --- waits of workers that do nothing else ---

TraceRecorder::Token TraceRecorder::work_begins(int number, Token slice) {
    end_wait(number);
    ++doing_[static_cast<std::size_t>(number)].under_way;
    if (free_tokens_.empty()) {
        under_way_.push_back({number, slice});
        return under_way_.size();
    }
    const Token token = free_tokens_.back();
    free_tokens_.pop_back();
    under_way_[token - 1] = {number, slice};
    return token;
}

void TraceRecorder::work_ends(Token token) {
    if (token == 0 || !listens()) return;
    const UnderWay work = under_way_[token - 1];
    free_tokens_.push_back(token);
    close(work.slice);
    if (--doing_[static_cast<std::size_t>(work.host)].under_way == 0)
        without_work_.push_back(work.host);
}

void TraceRecorder::end_wait(int number) {
    close(std::exchange(doing_[static_cast<std::size_t>(number)].wait, 0));
}

// A wait whose cause is known from `from` on has been for messages until then only.
void TraceRecorder::shorten_wait(int number, Time from) {
    const Token token = std::exchange(doing_[static_cast<std::size_t>(number)].wait, 0);
    const auto found = open_.find(token);
    if (found == open_.end()) return;
    TraceSlice slice = found->second;
    open_.erase(found);
    slice.end = std::max(slice.begin, from);
    if (slice.begin < slice.end && in_span(slice.begin, slice.end))
        slices_.push_back(slice);
    else if (now() >= filter_.from)
        events_ -= events_of_a_slice;
    else
        forget(events_of_a_slice);
    without_work_.push_back(number);
}

// Begins the waits of workers that an instant has left without work.
void TraceRecorder::note_waits(Time at) {
    for (const int number : without_work_) {
        Doing& worker = doing_[static_cast<std::size_t>(number)];
        if (worker.life == Life::absent || worker.under_way > 0 || worker.wait != 0) continue;
        if (cut_ || at > filter_.until || !shows(number)) continue;
        const bool done = worker.life == Life::done;
        if (done && !machine_.processes[static_cast<std::size_t>(host(number).process)].of_main_job)
            continue;
        if (at < filter_.from) {
            pending_ += events_of_a_slice;
        } else if (events_ + events_of_a_slice > filter_.limit) {
            cut_ = at;
            continue;
        } else {
            events_ += events_of_a_slice;
        }
        worker.wait = ++last_token_;
        open_.emplace(worker.wait,
                      TraceSlice{.begin = at,
                                 .host = number,
                                 .track = TraceTrack::waiting,
                                 .name = done ? name_of(WaitFor::stragglers) : waits_for_messages});
    }
    without_work_.clear();
}

TraceRecorder::Token TraceRecorder::computing_begins(int number, Work work) {
    TraceSlice slice{
        .begin = now(), .host = number, .track = TraceTrack::compute, .name = name_of(work.kind)};
    if (work.kind != Work::Kind::coding) slice.number = work.number;
    return open(slice);
}

void TraceRecorder::bucket(Token computing, std::size_t number, Time from, Time until) {
    if (computing == 0 || !listens()) return;
    const auto found = open_.find(under_way_[computing - 1].slice);
    if (found == open_.end()) return;
    add({.begin = from,
         .end = until,
         .host = found->second.host,
         .track = TraceTrack::compute,
         .name = "bucket",
         .number = static_cast<std::int64_t>(number)});
}

void TraceRecorder::waited(int number, WaitFor what, Time from, Time until) {
    shorten_wait(number, from);
    add({.begin = from,
         .end = until,
         .host = number,
         .track = TraceTrack::waiting,
         .name = name_of(what)});
}

// --- messages ---

std::uint64_t TraceRecorder::events_of(const TraceMessage& message) {
    const bool both = message.shows_sender && message.shows_receiver;
    return both ? 2 * events_of_half_a_message + events_of_an_arrow : events_of_half_a_message;
}

void TraceRecorder::message_begins(std::uint32_t id, const NetworkObserver::Message& message) {
    if (id >= flows_.size()) flows_.resize(id + 1);
    Flow& flow = flows_[id];
    flow.route = message.route;
    flow.rate = 0;
    flow.begin = now();
    flow.on_links = true;
    flow.message.reset();
    const bool from = shows(message.from);
    const bool to = shows(message.to);
    if (from || to) {
        const TraceMessage shown{.begin = now(),
                                 .first_byte = never,
                                 .from = message.from,
                                 .to = message.to,
                                 .stream = message.stream,
                                 .size = message.size,
                                 .sent = message.size,
                                 .latency = message.latency,
                                 .shows_sender = from,
                                 .shows_receiver = to};
        if (begins_something(events_of(shown))) flow.message = shown;
        if (cut_) return;
        if (flow.message)
            for (const LinkId link : flow.route)
                if (!links_[link].followed) follow(link, {-1, machine_.link_name(link)});
    }
    for (const LinkId link : flow.route) {
        ++links_[link].flows;
        change(link);
    }
}

void TraceRecorder::set_rate(std::uint32_t id, double rate) {
    if (id >= flows_.size() || !flows_[id].on_links) return;
    Flow& flow = flows_[id];
    for (const LinkId link : flow.route) {
        links_[link].rate += rate - flow.rate;
        change(link);
    }
    flow.rate = rate;
    if (rate > 0 && flow.message && flow.message->first_byte == never)
        flow.message->first_byte = now();
}

void TraceRecorder::message_drains(std::uint32_t id, Bytes sent) {
    if (id >= flows_.size() || !flows_[id].on_links) return;
    set_rate(id, 0);
    Flow& flow = flows_[id];
    flow.on_links = false;
    for (const LinkId link : flow.route)
        if (--links_[link].flows == 0) links_[link].rate = 0;  // removes rounding errors
    if (!flow.message) return;
    flow.message->drained = now();
    flow.message->first_byte = std::min(flow.message->first_byte, now());  // a message of 0 bytes
    flow.message->sent = sent;
}

void TraceRecorder::message_arrives(std::uint32_t id, bool lost) {
    if (id >= flows_.size() || !flows_[id].message) return;
    TraceMessage message = *std::exchange(flows_[id].message, std::nullopt);
    message.arrived = now();
    message.lost = lost;
    if (in_span(message.begin, message.arrived)) return messages_.push_back(message);
    if (message.arrived < filter_.from)
        forget(events_of(message));
    else
        events_ -= events_of(message);
}

// --- uses of links ---

void TraceRecorder::follow(LinkId link, TraceCounter counter) {
    counters_[link].push_back(std::move(counter));
    links_[link].followed = true;
    change(link);
}

void TraceRecorder::change(LinkId link) {
    LinkUse& use = links_[link];
    if (!use.followed || std::exchange(use.changed, true)) return;
    changed_.push_back(link);
}

// Updates whether uses are recorded from this instant on. When recording starts, it records every
// link as it was at the beginning of the span, if nothing has happened at that instant.
void TraceRecorder::count_uses() {
    const bool counts = now() >= filter_.from && now() <= filter_.until &&
                        (!filter_.by_step() || hosts_in_steps_ > 0);
    if (counts == std::exchange(counts_, counts) || !counts) return;
    for (const auto& [link, names] : counters_) {
        links_[link].noted = -1;
        change(link);
    }
    if (!filter_.by_step() && now() > filter_.from) note_uses(filter_.from);
}

void TraceRecorder::note_uses(Time at) {
    if (counts_ && !cut_)
        for (const LinkId link : changed_) {
            LinkUse& use = links_[link];
            const std::int32_t millionths = millionths_of(use.rate, use.capacity);
            if (millionths == use.noted) continue;
            if (events_ + counters_[link].size() > filter_.limit) {
                cut_ = at;
                break;
            }
            events_ += counters_[link].size();
            use.noted = millionths;
            uses_.push_back({at, link, millionths});
        }
    for (const LinkId link : changed_) links_[link].changed = false;
    changed_.clear();
}

// --- the end ---

void TraceRecorder::finish() {
    if (finished_) return;
    if (listens()) note_uses(heard_);
    finished_ = true;
    const Time end = end_ = cut_.value_or(now());
    for (auto& [token, slice] : open_) {
        slice.end = end;
        slice.cut = cut_ || slice.track != TraceTrack::waiting;
        if (in_span(slice.begin, end)) slices_.push_back(slice);
    }
    for (Flow& flow : flows_) {
        if (!flow.message || !in_span(flow.message->begin, end)) continue;
        flow.message->cut = true;
        messages_.push_back(*flow.message);
    }
    const auto is_cut = [this](Time begin) { return cut_ && begin >= *cut_; };
    std::erase_if(slices_, [&](const TraceSlice& slice) { return is_cut(slice.begin); });
    std::erase_if(messages_, [&](const TraceMessage& message) { return is_cut(message.begin); });
    std::erase_if(uses_, [&](const TraceUse& use) { return is_cut(use.at); });
    for (TraceSlice& slice : slices_) slice.end = std::min(slice.end, end);
}

}  // namespace paceline
