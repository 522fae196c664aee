#include "algorithms/runtime/time_use.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

void TimeUse::change_under_way(int by) {
    computed_ = computed();
    counted_until_ = simulation_->now();
    under_way_ += by;
    change_busy(by);
}

void TimeUse::change_busy(int by) {
    const Time now = simulation_->now();
    const bool was_busy = busy_ > 0;
    busy_ += by;
    if (!was_busy) busy_since_ = now;
    if (busy_ == 0 && !parts_.empty() && now > busy_since_) used_.push_back({busy_since_, now});
    active_until_ = now;
}

void TimeUse::begin_part() {
    parts_.push_back(simulation_->now());
}

void TimeUse::change_rounds(int by) {
    rounds_ += by;
    active_until_ = simulation_->now();
}

void TimeUse::end_part(Time begun) {
    parts_.erase(std::ranges::lower_bound(parts_, begun));
    const auto needed = [this](const Span& span) {
        return !parts_.empty() && span.end > parts_.front();
    };
    used_.erase(used_.begin(), std::ranges::find_if(used_, needed));
}

std::vector<TimeUse::Span> TimeUse::count_idle(WaitFor what, Span span) {
    if (busy_ > 0) span.end = std::min(span.end, busy_since_);
    std::vector<Span> idle;
    Time from = span.begin;
    for (const Span& used : used_) {
        if (used.begin >= span.end) break;
        if (used.begin > from) idle.push_back({from, used.begin});
        from = std::max(from, used.end);
    }
    if (from < span.end) idle.push_back({from, span.end});
    Duration& total = what == WaitFor::the_dead ? dead_ : stragglers_;
    for (const Span& one : idle) total = sum(total, one.end - one.begin);
    if (!idle.empty()) waited_until_ = std::max(waited_until_, idle.back().end);
    used_.insert(used_.end(), idle.begin(), idle.end());
    std::ranges::sort(used_, {}, &Span::begin);
    return idle;
}

void TimeUse::end_steps() {
    steps_ended_ = true;
    active_until_ = simulation_->now();
}

Duration TimeUse::waited_for_stragglers(Time end) const {
    if (!steps_ended_ || busy_ > 0 || rounds_ > 0) return stragglers_;
    return stragglers_ + std::max(end - std::max(active_until_, waited_until_), Duration::zero());
}

Duration TimeUse::waited_for_network(Time end) const {
    return std::max(
        end.time_since_epoch() - computed() - waited_for_stragglers(end) - dead_ - away_ - writing_,
        Duration::zero());
}

TimeAccounts::TimeAccounts(const Simulation& simulation, int first_host, int workers,
                           const WorkerObserver* next)
    : simulation_(simulation),
      first_host_(first_host),
      next_(next == nullptr ? WorkerObserver{} : *next),
      uses_(static_cast<std::size_t>(workers), TimeUse(simulation)) {
    watch_steps();
    watch_computations();
    watch_rounds();
    watch_waits();
}

void TimeAccounts::watch_steps() {
    observer_.step_begins = [this](int host, std::int64_t step) {
        notify(next_.step_begins, host, step);
    };
    observer_.steps_end = [this](int host) {
        use(host).end_steps();
        notify(next_.steps_end, host);
    };
    observer_.dies = [this](int host) {
        use(host).steps_ended_ = false;
        notify(next_.dies, host);
    };
}

void TimeAccounts::watch_computations() {
    observer_.computing_begins = [this](int host, Work work) {
        use(host).change_under_way(1);
        return open({.host = host,
                     .next = next_.computing_begins ? next_.computing_begins(host, work) : 0});
    };
    observer_.bucket = [this](Token computing, std::size_t bucket, Time from, Time until) {
        notify(next_.bucket, open_[computing].next, bucket, from, until);
    };
    observer_.computing_ends = [this](Token token) {
        const Open computing = close(token);
        use(computing.host).change_under_way(-1);
        notify(next_.computing_ends, computing.next);
    };
}

void TimeAccounts::watch_rounds() {
    observer_.round_begins = [this](int host, const RoundPart& round) {
        const Open part{.host = host,
                        .next = next_.round_begins ? next_.round_begins(host, round) : 0,
                        .begun = simulation_.now(),
                        .stream = round.stream,
                        .members = round.members,
                        .on = round.on};
        use(host).begin_part();
        if (part.is_of_group()) use(host).change_rounds(1);
        if (part.members > 0) enter(part);
        return open(part);
    };
    observer_.round_ends = [this](Token token) {
        const Open part = close(token);
        if (part.members > 0) leave(part);
        use(part.host).end_part(part.begun);
        if (part.is_of_group()) use(part.host).change_rounds(-1);
        notify(next_.round_ends, part.next);
    };
    observer_.round_closes = [this](Stream stream) {
        rounds_.erase(stream);
        notify(next_.round_closes, stream);
    };
    observer_.all_go_back = [this] {
        rounds_.clear();
        notify(next_.all_go_back);
    };
}

void TimeAccounts::watch_waits() {
    observer_.wait_begins = [this](int host, WaitFor what) {
        if (what == WaitFor::checkpoint)
            use(host).change_busy(1);
        else
            use(host).begin_part();
        return open({.host = host,
                     .what = what,
                     .next = next_.wait_begins ? next_.wait_begins(host, what) : 0,
                     .begun = simulation_.now()});
    };
    observer_.wait_ends = [this](Token token, bool over) {
        const Open wait = close(token);
        const Time now = simulation_.now();
        if (wait.what == WaitFor::checkpoint) {
            use(wait.host).change_busy(-1);
            if (over) add_wait(wait.host, wait.what, wait.begun, now);
        } else {
            if (over) wait_beside_work(wait.host, wait.what, wait.begun, now);
            use(wait.host).end_part(wait.begun);
        }
        notify(next_.wait_ends, wait.next, over);
    };
    observer_.waited = [this](int host, WaitFor what, Time from, Time until) {
        add_wait(host, what, from, until);
    };
}

TimeAccounts::Token TimeAccounts::open(const Open& what) {
    ++parts_;
    if (free_ == no_place) {
        open_.push_back(what);
        return open_.size() - 1;
    }
    const Token token = std::exchange(free_, open_[free_].next);
    open_[token] = what;
    return token;
}

TimeAccounts::Open TimeAccounts::close(Token token) {
    --parts_;
    const Open what = open_[token];
    open_[token].next = std::exchange(free_, token);
    return what;
}

void TimeAccounts::enter(const Open& part) {
    Entries& round = rounds_[part.stream];
    ++round.entered;
    round.last = part.begun;
    if (part.on == nullptr) return;
    round.of_member.resize(uses_.size(), never);  // members may be some of the workers
    round.of_member[static_cast<std::size_t>(part.host - first_host_)] = part.begun;
}

void TimeAccounts::leave(const Open& part) {
    const auto round = rounds_.find(part.stream);
    if (round == rounds_.end()) return;  // closed before
    const Time until = std::min(last_entry(part, round->second), simulation_.now());
    wait_beside_work(part.host, WaitFor::stragglers, part.begun, until);
    if (++round->second.left == part.members) rounds_.erase(round);
}

// Returns when the last member entered that this part depends on.
Time TimeAccounts::last_entry(const Open& part, const Entries& entries) const {
    if (part.on == nullptr)
        return entries.entered == part.members ? entries.last : simulation_.now();
    Time last = part.begun;
    for (const int other : *part.on)
        last = std::max(last, entries.of_member[static_cast<std::size_t>(other)]);
    return last;
}

// Counts what the worker was idle of a wait and no other wait has covered.
void TimeAccounts::wait_beside_work(int host, WaitFor what, Time from, Time until) {
    for (const TimeUse::Span& idle : use(host).count_idle(what, {from, until}))
        notify(next_.waited, host, what, idle.begin, idle.end);
}

void TimeAccounts::add_wait(int host, WaitFor what, Time from, Time until) {
    if (until == from) return;
    TimeUse& by = use(host);
    const Duration time = until - from;
    switch (what) {
        case WaitFor::stragglers:
            return wait_beside_work(host, what, from, until);
        case WaitFor::the_dead:
            by.dead_ = sum(by.dead_, time);
            break;
        case WaitFor::own_return:
            by.away_ = sum(by.away_, time);
            break;
        case WaitFor::checkpoint:
            by.writing_ = sum(by.writing_, time);
            break;
    }
    notify(next_.waited, host, what, from, until);
}

}  // namespace paceline
