#include "sim/engine/simulation.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace paceline {

void Coroutine::enter(Simulation& simulation, const Process* process) {
    PACELINE_CHECK(!started(), "a task is started once");
    simulation_ = &simulation;
    process_ = process;
    simulation.alive_.push_back(*this);
}

void Coroutine::begin(Simulation& simulation, const Process* process, Join* join) {
    enter(simulation, process);
    if (join != nullptr) notifies_ = Notifies::join;
    notified_ = join;
    resume();
}

void Coroutine::begin_later(Simulation& simulation, const Process* process) {
    enter(simulation, process);
    wake();
}

bool Coroutine::begin_for(Coroutine& parent) {
    enter(parent.simulation(), parent.process());
    notifies_ = Notifies::nobody_yet;
    resume();
    if (finished()) return true;
    wakes(parent);
    return false;
}

void Coroutine::wake() {
    waits_for({});
    simulation_->ready_.push_back(*this);
}

void Coroutine::finish() noexcept {
    static_cast<ListHook<AliveTag>&>(*this).unlink();
    switch (notifies_) {
        case Notifies::nobody:
            if (error_) simulation_->failure_ = error_;  // the run ends with this error
            break;
        case Notifies::nobody_yet:
            break;
        case Notifies::join:
            if (error_)
                static_cast<Join*>(notified_)->fail();
            else
                static_cast<Join*>(notified_)->arrive();
            break;
        case Notifies::parent:
            static_cast<Coroutine*>(notified_)->wake();
            break;
    }
}

// Returns false if something ended the run.
bool Simulation::resume_ready() {
    while (!ready_.empty()) {
        if (interrupted()) return false;
        Coroutine& next = ready_.pop_front();
        running_process_ = next.process();
        if (++resumptions_ > resumption_limit_) return false;
        next.resume();
    }
    running_process_ = nullptr;  // what an event starts belongs to no process
    return !interrupted();
}

void Simulation::close_instant() {
    closing_now_.swap(closing_);
    for (const Action& close : closing_now_) close();
    closing_now_.clear();
}

void Simulation::advance_to(Time time) {
    now_ = time;
    fires_ = false;
    note_progress();
}

void Simulation::note_progress() {
    resumptions_ = 0;
    if (progress_ == nullptr) return;
    progress_->events.store(events_fired_, std::memory_order_relaxed);
    progress_->now_ps.store(now_.time_since_epoch().count(), std::memory_order_relaxed);
    if (progress_->stop.load(std::memory_order_relaxed)) stop();
}

RunEnd Simulation::run(Time limit) {
    stopped_ = false;
    const auto ended = [this](RunEnd how) {
        if (how == RunEnd::spinning && running_process_ != nullptr)
            spinning_process_ = running_process_->name;
        running_process_ = nullptr;
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        return how;
    };
    while (true) {
        if (!resume_ready())
            return ended(resumptions_ > resumption_limit_ ? RunEnd::spinning : RunEnd::stopped);
        const Time next = events_.empty() ? never : events_.next_time();
        if (next != now_) {
            if (!closing_.empty()) {
                close_instant();
                continue;
            }
            if (!events_.keep_alive(standby_counts_)) return ended(RunEnd::idle);
            if (next == never) return ended(RunEnd::out_of_range);
            if (next > limit) {
                if (limit > now_) advance_to(limit);
                return ended(RunEnd::time_limit);
            }
            advance_to(next);
        }
        const Event event = events_.pop();
        ++events_fired_;
        latest_key_ = fires_ ? std::max(latest_key_, event.key) : event.key;
        fires_ = true;
        event.action();
    }
}

// Processes come in the order in which they began: whatever a process waits in may have begun
// later.
std::vector<Waiting> Simulation::waiting() const {
    std::unordered_map<const Process*, std::size_t> begun;           // only looked up
    std::vector<std::tuple<std::size_t, std::size_t, Waiting>> all;  // process, place in it
    alive_.for_each([&](const Coroutine& coroutine) {
        const std::size_t place =
            begun.try_emplace(coroutine.process(), begun.size()).first->second;
        const WaitReason reason = coroutine.reason();
        if (reason.what == nullptr || coroutine.kind() == EventKind::daemon) return;
        const std::string who = coroutine.process() == nullptr ? "?" : coroutine.process()->name;
        const std::string what = reason.subject < 0
                                     ? std::string(reason.what)
                                     : fmt::format("{} {}", reason.what, reason.subject);
        all.emplace_back(place, all.size(), Waiting{who, what});
    });
    std::ranges::sort(
        all, {}, [](const auto& one) { return std::pair(std::get<0>(one), std::get<1>(one)); });
    std::vector<Waiting> ordered;
    for (auto& [process, place, one] : all) ordered.push_back(std::move(one));
    return ordered;
}

}  // namespace paceline
