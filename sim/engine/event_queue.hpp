// The future event list: what is to happen, and when.
//
// Events of one instant form a list, and a heap orders the instants. Simulated clusters are full of
// ties (a thousand ranks whose messages drain together), so most pushes append to a list they find
// by a small cache, and the heap sees each instant once: about constant time per event in lock
// step, O(log instants) when nothing coincides.
//
// Invariants
//   (1) Events leave in order of (time, push number). An instant is closed for good when the cache
//   forgets it; a later
//       event of the same time opens a new instant, which the heap orders behind the older one. No
//       address or hash decides an order.
//   (2) The time of popped events never decreases.
//   (3) A cancelled event never leaves, and its slot is free at once. Emptied instants are swept
//   out when they
//       are more than half of the heap, so memory is O(live events).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/action.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Names one pushed event; not valid for another after it has left.
struct EventId {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

/// A daemon event (a flapping link, background traffic, a failure clock) does not keep a run alive.
enum class EventKind : std::uint8_t { foreground, daemon };

struct Event {
    Time at;
    Action action;
};

class EventQueue {
  public:
    /// Adds an event. Requires at >= time of the last popped event.
    EventId push(Time at, Action action, EventKind kind = EventKind::foreground);

    /// Removes the event if it has not left yet. Returns whether it was still pending.
    bool cancel(EventId id);

    /// Removes and returns the earliest event. Requires !empty().
    Event pop();

    /// Time of the earliest event. Requires !empty().
    [[nodiscard]] Time next_time();

    [[nodiscard]] bool empty() const { return live_ == 0; }
    [[nodiscard]] std::size_t size() const { return live_; }

    /// Whether an event is pending that keeps the run alive.
    [[nodiscard]] bool has_foreground() const { return live_ > daemons_; }

  private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr std::size_t cache_size = 64;

    struct Slot {
        Action action;
        Index next = none;  // within the instant; within the free list when free
        Index prev = none;
        Index instant = none;          // none when free
        std::uint32_t generation = 1;  // EventId{} names no event
        EventKind kind = EventKind::foreground;
    };
    struct Instant {
        Index head = none;
        Index tail = none;
        Index next_free = none;
    };
    struct Entry {
        Time at;
        std::uint64_t order;
        Index instant;
    };
    struct Open {
        Time at;
        Index instant = none;
    };

    static bool earlier(const Entry& a, const Entry& b);
    void heap_push(const Entry& entry);
    void heap_pop();
    void sift_down(std::size_t hole, const Entry& entry);
    static std::size_t cache_line(Time at);

    Index open_instant(Time at);
    void close_instant(const Entry& entry);
    Index take_slot();
    void release(Index index);
    void settle_top() {
        if (instants_[heap_.front().instant].head == none) drop_empty_instants();
    }
    void drop_empty_instants();
    void sweep();

    std::vector<Entry> heap_;  // min-heap on (at, order)
    std::vector<Slot> slots_;
    std::vector<Instant> instants_;
    std::array<Open, cache_size> cache_{};  // the newest instant of a time, if still remembered
    Index free_slot_ = none;
    Index free_instant_ = none;
    std::uint64_t next_order_ = 0;
    std::size_t live_ = 0;
    std::size_t daemons_ = 0;
    std::size_t emptied_ = 0;  // instants in the heap without events, by cancelling or popping
    Time last_popped_ = Time::min();
};

}  // namespace paceline
