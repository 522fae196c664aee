// The future event list: pending events, ordered by time.
//
// Events are kept in runs, each already sorted; a heap orders the runs by their first events. A new
// event joins the run of the last event that was pushed with the same delay, unless it would leave
// before that run's end. Simulated clusters have few distinct delays (a latency, a chunk on a
// wire), and events with the same delay are pushed in the order in which they leave. So the heap
// stays small however many events are pending. The cost is then about constant per event, and O(log
// events) if every delay is different.
//
// Invariants
//   (1) Events leave in order of (time, key, push number), see EventKey. No address or hash decides
//   an
//       order: the hash of a delay only gives where to look for a run to join.
//   (2) The time of popped events never decreases.
//   (3) A cancelled event never leaves, and its slot is free at once. Empty runs are swept out once
//       they exceed half of the heap, so memory is O(live events).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/action.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Identifies one pushed event. Once that event has left, the id matches no other event.
struct EventId {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

/// Whether a pending event keeps a run alive.
enum class EventKind : std::uint8_t {
    foreground,  // it does
    daemon,      // it does not: a flapping link, background traffic, a failure clock
    standby,     // it does while somebody waits for such events (Simulation::count_standby)
};
inline constexpr std::size_t event_kinds = 3;

/// What an event does to a message of a collective, in the order of one instant. All other events
/// come first.
enum class EventRank : std::uint8_t { other, begins, drains, arrives };

/// Orders the events of one instant. First come events without a key (timers, deaths, changes of
/// links, messages that are no collective's) in the order in which they were pushed. Then events of
/// collectives' messages leave by what they do, then by the host that they concern (the sender of
/// what begins or drains, the receiver of what arrives), then by stream. So their order does not
/// depend on when they were pushed, which a collective that runs ahead of the queue would change
/// (sim/ahead/ahead.hpp). Equal keys leave in the order of pushes.
class EventKey {
  public:
    static constexpr int host_bits = 24;
    static constexpr int stream_bits = 38;

    constexpr EventKey() = default;
    /// Requires 0 <= host < 2^24. Streams are compared by their last 38 bits.
    constexpr EventKey(EventRank rank, int host, std::uint64_t stream)
        : value_((std::uint64_t(rank) << 62U) | (std::uint64_t(host) << stream_bits) |
                 (stream & ((std::uint64_t{1} << stream_bits) - 1))) {}

    constexpr auto operator<=>(const EventKey&) const = default;
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0;
};

struct Event {
    Time at;
    EventKey key;
    Action action;
};

class EventQueue {
  public:
    EventQueue() { joinable_.fill(none); }

    /// Adds an event. Requires at >= time of the last popped event.
    EventId push(Time at, Action action, EventKind kind = EventKind::foreground, EventKey key = {});

    /// Removes the event if it has not left yet. Returns whether it was still pending.
    bool cancel(EventId id);

    /// Removes and returns the earliest event. Requires !empty().
    Event pop();

    /// Time of the earliest event. Requires !empty().
    [[nodiscard]] Time next_time();

    [[nodiscard]] bool empty() const { return live_ == 0; }
    [[nodiscard]] std::size_t size() const { return live_; }

    /// Returns whether any pending event keeps the run alive; standby events do if they count.
    [[nodiscard]] bool keep_alive(bool standby_counts) const {
        return number_of(EventKind::foreground) > 0 ||
               (standby_counts && number_of(EventKind::standby) > 0);
    }

  private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr std::size_t joinable_runs = 64;

    // One cache line, so the parts of the action stand apart.
    struct Slot {
        void (*call)(void* self, std::uint32_t argument) = nullptr;
        void* self = nullptr;
        Time at;
        EventKey key;
        std::uint64_t order = 0;  // the push number
        Index next = none;        // within the run; within the free list when free
        Index prev = none;
        Index run = none;              // none when free
        std::uint32_t generation = 1;  // EventId{} names no event
        std::uint32_t argument = 0;
        EventKind kind = EventKind::foreground;
    };
    static_assert(sizeof(Slot) <= 64);
    struct Run {
        Index head = none;
        Index tail = none;
        Time latest;  // time and key of what was pushed to it last; no event leaves before its
        EventKey latest_key;   // predecessor
        std::size_t bucket{};  // index in joinable_ under which it is entered
        Index next_free = none;
    };
    /// A run's place in the heap. The key is its head's, or an earlier one if that head has left
    /// since.
    struct Entry {
        Time at;
        EventKey key;
        std::uint64_t order;
        Index run;
    };

    [[nodiscard]] std::size_t number_of(EventKind kind) const {
        return number_[static_cast<std::size_t>(kind)];
    }

    static bool earlier(const Entry& a, const Entry& b);
    void heap_push(const Entry& entry);
    void heap_pop();
    void sift_down(std::size_t hole, const Entry& entry);

    std::size_t hash_of_delay(Time at) const;
    Index run_for(Time at, EventKey key, std::uint64_t order);
    void close_run(Index index);
    Index take_slot();
    void release(Index index);
    bool top_is_current() const {
        const Index head = runs_[heap_.front().run].head;
        return head != none && slots_[head].order == heap_.front().order;
    }
    void update_top();
    void remove_empty_runs();

    std::vector<Entry> heap_;  // min-heap on (at, key, order), one entry per run
    std::vector<Run> runs_;
    std::vector<Slot> slots_;
    std::array<Index, joinable_runs> joinable_;  // [hash of a delay]: the run to join, or none
    Index free_slot_ = none;
    Index free_run_ = none;
    std::uint64_t next_order_ = 0;
    std::size_t live_ = 0;
    std::array<std::size_t, event_kinds> number_{};  // of live events, by kind
    std::size_t emptied_ = 0;  // runs in the heap that have been emptied by cancel() or pop()
    Time last_popped_ = Time::min();
};

}  // namespace paceline
