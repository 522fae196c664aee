#include "sim/engine/event_queue.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

// Without branches: which of two unrelated times is earlier cannot be predicted.
bool EventQueue::earlier(const Entry& a, const Entry& b) {
    return static_cast<bool>(static_cast<int>(a.at < b.at) | (static_cast<int>(a.at == b.at) &
                                                              static_cast<int>(a.order < b.order)));
}

// A heap of four children per entry: half as deep as one of two, and siblings share cache lines.
void EventQueue::heap_push(const Entry& entry) {
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / 4;
        if (!earlier(entry, heap_[parent])) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
}

void EventQueue::heap_pop() {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
}

// Puts an entry into the subtree of a hole.
void EventQueue::sift_down(std::size_t hole, const Entry& entry) {
    const std::size_t size = heap_.size();
    while (4 * hole + 1 < size) {
        const std::size_t first = 4 * hole + 1;
        const std::size_t end = std::min(first + 4, size);
        std::size_t best = first;
        for (std::size_t child = first + 1; child < end; ++child)
            best = earlier(heap_[child], heap_[best]) ? child : best;
        if (!earlier(heap_[best], entry)) break;
        heap_[hole] = heap_[best];
        hole = best;
    }
    heap_[hole] = entry;
}

std::size_t EventQueue::cache_line(Time at) {
    const auto ticks = static_cast<std::uint64_t>(at.time_since_epoch().count());
    return (ticks * 0x9E3779B97F4A7C15U) >> 58U;  // Fibonacci hashing: the top 6 bits
}

EventId EventQueue::push(Time at, Action action, EventKind kind) {
    PACELINE_CHECK(at >= last_popped_, "an event cannot be pushed into the past");
    const Index home = open_instant(at);
    const Index index = take_slot();
    Slot& slot = slots_[index];
    Instant& instant = instants_[home];
    slot.action = action;
    slot.kind = kind;
    slot.instant = home;
    slot.next = none;
    slot.prev = instant.tail;
    if (instant.tail == none) {
        instant.head = index;
        --emptied_;
    } else {
        slots_[instant.tail].next = index;
    }
    instant.tail = index;
    ++live_;
    daemons_ += kind == EventKind::daemon ? 1 : 0;
    return {index, slot.generation};
}

bool EventQueue::cancel(EventId id) {
    if (id.slot >= slots_.size()) return false;
    const Slot& slot = slots_[id.slot];
    if (slot.instant == none || slot.generation != id.generation) return false;
    release(id.slot);
    if (emptied_ > 64 && emptied_ > heap_.size() / 2) sweep();
    return true;
}

Time EventQueue::next_time() {
    PACELINE_CHECK(!empty(), "an empty queue has no next event");
    settle_top();
    return heap_.front().at;
}

Event EventQueue::pop() {
    PACELINE_CHECK(!empty(), "an empty queue has no event to pop");
    settle_top();
    const Entry& top = heap_.front();
    const Index index = instants_[top.instant].head;
    const Event event{top.at, slots_[index].action};
    last_popped_ = top.at;
    release(index);
    return event;
}

// The instant that takes new events of this time; it counts as emptied until its first event.
EventQueue::Index EventQueue::open_instant(Time at) {
    Open& open = cache_[cache_line(at)];
    if (open.instant != none && open.at == at) return open.instant;

    Index index = free_instant_;
    if (index == none) {
        index = static_cast<Index>(instants_.size());
        instants_.emplace_back();
    } else {
        free_instant_ = instants_[index].next_free;
        instants_[index] = {};
    }
    open = {at, index};
    heap_push({at, next_order_++, index});
    ++emptied_;
    return index;
}

void EventQueue::close_instant(const Entry& entry) {
    Open& open = cache_[cache_line(entry.at)];
    if (open.instant == entry.instant) open.instant = none;
    instants_[entry.instant].next_free = free_instant_;
    free_instant_ = entry.instant;
    --emptied_;
}

EventQueue::Index EventQueue::take_slot() {
    if (free_slot_ == none) {
        slots_.emplace_back();
        return static_cast<Index>(slots_.size() - 1);
    }
    const Index index = free_slot_;
    free_slot_ = slots_[index].next;
    return index;
}

// Unlinks a pending event and frees its slot.
void EventQueue::release(Index index) {
    Slot& slot = slots_[index];
    Instant& instant = instants_[slot.instant];
    (slot.prev == none ? instant.head : slots_[slot.prev].next) = slot.next;
    (slot.next == none ? instant.tail : slots_[slot.next].prev) = slot.prev;
    if (instant.head == none) ++emptied_;
    --live_;
    daemons_ -= slot.kind == EventKind::daemon ? 1 : 0;
    slot.instant = none;
    ++slot.generation;
    slot.next = free_slot_;
    free_slot_ = index;
}

void EventQueue::drop_empty_instants() {
    do {
        close_instant(heap_.front());
        heap_pop();
    } while (instants_[heap_.front().instant].head == none);
}

void EventQueue::sweep() {
    const auto emptied = [this](const Entry& entry) {
        return instants_[entry.instant].head == none;
    };
    for (const Entry& entry : heap_)
        if (emptied(entry)) close_instant(entry);
    std::erase_if(heap_, emptied);
    for (std::size_t i = heap_.size(); i-- > 0;) {
        const Entry entry = heap_[i];
        sift_down(i, entry);
    }
}

}  // namespace paceline
