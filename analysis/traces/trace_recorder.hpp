// Records the content of a trace: which computations, rounds, messages and link uses there were,
// when, and on which machine; within a window and up to a limit.
//
// It observes a network and its workers (sim/network/network_observer.hpp,
// algorithms/runtime/worker_observer.hpp) and keeps what the filter selects:
//   - slices that overlap the time span, in full, even if they begin before it or end after it;
//   - chosen machines: a message appears only at its chosen end if one of its two machines is
//     chosen;
//   - chosen steps: what begins while its worker is in one of them. Machines of the main job that
//     take no steps, and all other jobs, count as in one while any worker of the main job is;
//   - uses of links, while the time is in the span and a worker of the main job is in a chosen
//     step.
// Each kept item costs as many events as it takes in a file (analysis/traces/chrome_trace.hpp). If
// an item would exceed the limit, the trace is cut at that instant. Whatever begins at that instant
// or later is dropped, and whatever is in progress is taken to end there.
//
// A worker in a step that is in no computation and no round at the end of an instant waits for
// messages: for a letter, for an answer, or until its own message has left; unless it is reported
// later that it has waited for something else. After its last step
// a worker of the main job waits for stragglers, until the run ends. These waits are slices, too,
// so the slices of a worker cover its time from its first step until the run ends, or until it
// dies.
//
// The use of a link is what flows / the rate now available to payload, 0..1, to the nearest
// millionth. It is recorded when it changes, with its value at the end of an instant. A link that
// is down has use 0. The recorder follows the access links of chosen machines that have one cable,
// and every link that a message of theirs has taken, from then on.
//
// Memory: O(limit + links + messages in flight). Slices that began before the span and are still
// open are counted when the span begins.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/runtime/worker_observer.hpp"
#include "analysis/traces/trace_content.hpp"
#include "sim/network/network_observer.hpp"

namespace paceline {

struct TraceFilter {
    Time from{};
    Time until = never;
    std::int64_t first_step = 0;
    std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
    std::uint64_t limit = 1'000'000;  // of events

    [[nodiscard]] bool by_step() const {
        return first_step > 0 || last_step < std::numeric_limits<std::int64_t>::max();
    }
};

class TraceRecorder {
  public:
    /// Requires that the machine and the recorder outlive the run.
    TraceRecorder(TraceMachine machine, const TraceFilter& filter);
    TraceRecorder(const TraceRecorder&) = delete;
    TraceRecorder& operator=(const TraceRecorder&) = delete;

    /// Return the observers to register. They refer to this recorder.
    [[nodiscard]] NetworkObserver network_observer();
    [[nodiscard]] WorkerObserver worker_observer();

    /// Ends the recording: what is in progress ends now. Later calls are ignored.
    void finish();

    // These require that it is finished.
    [[nodiscard]] const TraceMachine& machine() const { return machine_; }
    [[nodiscard]] const TraceFilter& filter() const { return filter_; }
    [[nodiscard]] const std::vector<TraceSlice>& slices() const { return slices_; }
    [[nodiscard]] const std::vector<TraceMessage>& messages() const { return messages_; }
    [[nodiscard]] const std::vector<TraceUse>& uses() const { return uses_; }
    [[nodiscard]] const std::map<LinkId, std::vector<TraceCounter>>& counters() const {
        return counters_;
    }
    /// Returns the end of the run, or where the limit has cut the trace.
    [[nodiscard]] Time end() const { return end_; }
    /// Returns when the limit cut the trace, if it did.
    [[nodiscard]] std::optional<Time> cut_at() const { return cut_; }

  private:
    using Token = WorkerObserver::Token;

    struct Flow {
        Route route;
        double rate = 0;
        Time begin;
        std::optional<TraceMessage> message{};  // set if it is shown
        bool on_links = false;
    };
    struct LinkUse {
        double rate = 0;
        Bandwidth capacity;
        std::uint32_t flows = 0;
        std::int32_t noted = -1;  // millionths
        bool followed = false;
        bool changed = false;
    };

    /// What a worker does, to find when it does nothing.
    enum class Life : std::uint8_t { absent, in_steps, done };
    struct Doing {
        Life life = Life::absent;
        int under_way = 0;  // computations and rounds in progress
        Token wait = 0;     // the slice of a wait that is in progress
    };
    /// A computation or a round in progress, shown or not.
    struct UnderWay {
        int host = 0;
        Token slice = 0;
    };

    [[nodiscard]] Time now() const { return machine_.simulation->now(); }
    [[nodiscard]] const TraceHost& host(int number) const {
        return machine_.hosts[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] bool shows(int number) const;
    [[nodiscard]] bool in_span(Time begin, Time end) const {
        return begin <= filter_.until && end >= filter_.from;
    }
    bool listens();
    [[nodiscard]] bool has_room(std::uint64_t events);
    [[nodiscard]] bool begins_something(std::uint64_t events);
    void forget(std::uint64_t events);
    [[nodiscard]] static std::uint64_t events_of(const TraceMessage& message);

    Token open(TraceSlice slice);
    void close(Token token);
    void add(const TraceSlice& slice);
    void step_begins(int number, std::int64_t step);
    void step_is_over(int number, Life then);
    Token work_begins(int number, Token slice);
    void work_ends(Token token);
    void end_wait(int number);
    void shorten_wait(int number, Time from);
    void note_waits(Time at);
    void waited(int number, WaitFor what, Time from, Time until);
    Token computing_begins(int number, Work work);
    void bucket(Token computing, std::size_t number, Time from, Time until);

    void message_begins(std::uint32_t id, const NetworkObserver::Message& message);
    void message_arrives(std::uint32_t id, bool lost);
    void set_rate(std::uint32_t id, double rate);
    void message_drains(std::uint32_t id, Bytes sent);

    void follow(LinkId link, TraceCounter counter);
    void change(LinkId link);
    void count_uses();
    void note_uses(Time at);

    TraceMachine machine_;
    TraceFilter filter_;
    std::vector<TraceSlice> slices_;
    std::vector<TraceMessage> messages_;
    std::vector<TraceUse> uses_;
    std::map<LinkId, std::vector<TraceCounter>> counters_;
    std::uint64_t events_ = 0;   // kept or in progress
    std::uint64_t pending_ = 0;  // in progress, before the span begins
    std::optional<Time> cut_;
    Time end_{};
    bool finished_ = false;

    std::map<Token, TraceSlice> open_;
    Token last_token_ = 0;
    std::vector<Token> step_slices_;  // [host]; 0: none
    std::vector<bool> in_steps_;      // [host], for the main job's workers
    int hosts_in_steps_ = 0;
    std::vector<Doing> doing_;         // [host]
    std::vector<UnderWay> under_way_;  // [token - 1]; may have free places
    std::vector<Token> free_tokens_;   // of those
    std::vector<int> without_work_;    // hosts that ended some work in this instant
    std::vector<Flow> flows_;          // [id of the message]
    std::vector<LinkUse> links_;       // [link]
    std::vector<LinkId> changed_;      // since uses were last recorded
    Time heard_{};                     // the last instant that was reported
    bool counts_ = false;              // uses are being recorded
};

}  // namespace paceline
