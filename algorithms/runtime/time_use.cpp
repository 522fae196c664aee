#include "algorithms/runtime/time_use.hpp"

#include <algorithm>

#include "sim/network/observer.hpp"

namespace paceline {

void TimeUse::change_under_way(int by) {
    computed_ = computed();
    counted_until_ = now();
    under_way_ += by;
}

void TimeUse::report_wait(WaitFor what, Duration time, Time until) const {
    if (observer_ != nullptr && time > Duration::zero())
        notify(observer_->waited, host_, what, until - time, until);
}

void TimeUse::begin_step(std::int64_t k) const {
    if (observer_ != nullptr) notify(observer_->step_begins, host_, k);
}

void TimeUse::take_no_more_steps() {
    last_step_ended_ = now();
    if (observer_ != nullptr) notify(observer_->steps_end, host_);
}

void TimeUse::die() const {
    if (observer_ != nullptr) notify(observer_->dies, host_);
}

void TimeUse::wait_for_dead(Duration time) {
    dead_ = sum(dead_, time);
    report_wait(WaitFor::the_dead, time, now());
}

void TimeUse::be_away(Duration time) {
    away_ = sum(away_, time);
    report_wait(WaitFor::own_return, time, now());
}

void TimeUse::write_checkpoint(Duration time) {
    writing_ = sum(writing_, time);
    report_wait(WaitFor::checkpoint, time, now());
}

void TimeUse::wait_for_stragglers(Duration time, Time until) {
    if (time <= Duration::zero()) return;
    const Duration uncounted =
        std::max(until - std::max(until - time, waited_until_), Duration::zero());
    stragglers_ += uncounted;
    report_wait(WaitFor::stragglers, uncounted, until);
    waited_until_ = std::max(waited_until_, until);
}

Duration TimeUse::waited_for_stragglers(Time end) const {
    return stragglers_ +
           std::max(end - std::max(last_step_ended_, waited_until_), Duration::zero());
}

Duration TimeUse::waited_for_network(Time end) const {
    return std::max(
        end.time_since_epoch() - computed() - waited_for_stragglers(end) - dead_ - away_ - writing_,
        Duration::zero());
}

Computing::Computing(TimeUse& of, Work work) : of_(of) {
    of_.change_under_way(1);
    if (of_.observer_ != nullptr && of_.observer_->computing_begins)
        token_ = of_.observer_->computing_begins(of_.host_, work);
}

Computing::~Computing() {
    of_.change_under_way(-1);
    if (of_.observer_ != nullptr) notify(of_.observer_->computing_ends, token_);
}

void Computing::report_bucket(std::size_t bucket, Time from, Time until) const {
    if (of_.observer_ != nullptr) notify(of_.observer_->bucket, token_, bucket, from, until);
}

ReportedRound::ReportedRound(const TimeUse& of, std::string_view name, Stream stream) : of_(of) {
    if (of_.observer_ != nullptr && of_.observer_->round_begins)
        token_ = of_.observer_->round_begins(of_.host_, name, stream);
}

ReportedRound::~ReportedRound() {
    if (of_.observer_ != nullptr) notify(of_.observer_->round_ends, token_);
}

RoundTimer::RoundTimer(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
                       std::size_t members)
    : all_(all),
      mine_(mine),
      key_(key),
      members_(members),
      entered_(mine.now()),
      computed_(mine.computed()),
      reported_(mine, name, key) {
    RoundEntries::Entries& round = all_.rounds_[key];
    ++round.entered;
    round.last = entered_;
}

RoundTimer::RoundTimer(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
                       std::size_t members, int rank, std::span<const int> on)
    : RoundTimer(all, mine, name, key, members) {
    on_ = on;
    std::vector<Time>& times = all_.rounds_[key].of_member;
    times.resize(members, never);
    times[static_cast<std::size_t>(rank)] = entered_;
}

RoundTimer::~RoundTimer() {
    const auto round = all_.rounds_.find(key_);
    RoundEntries::Entries& entries = round->second;
    const Time now = mine_.now();
    Time last = entries.entered == members_ ? entries.last : now;
    if (!entries.of_member.empty()) {
        last = entered_;
        for (const int other : on_)
            last = std::max(last, entries.of_member[static_cast<std::size_t>(other)]);
    }
    const Time until = std::min(last, now);
    mine_.wait_for_stragglers(until - entered_ - (mine_.computed() - computed_), until);
    if (++entries.left == members_) all_.rounds_.erase(round);
}

}  // namespace paceline
