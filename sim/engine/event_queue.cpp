#include "sim/engine/event_queue.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

bool EventQueue::later_than(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
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
    drop_empty_instants();
    return heap_.front().at;
}

Event EventQueue::pop() {
    PACELINE_CHECK(!empty(), "an empty queue has no event to pop");
    drop_empty_instants();
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
    heap_.push_back({at, next_order_++, index});
    std::push_heap(heap_.begin(), heap_.end(), later_than);
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
    while (instants_[heap_.front().instant].head == none) {
        close_instant(heap_.front());
        std::pop_heap(heap_.begin(), heap_.end(), later_than);
        heap_.pop_back();
    }
}

void EventQueue::sweep() {
    const auto emptied = [this](const Entry& entry) {
        return instants_[entry.instant].head == none;
    };
    for (const Entry& entry : heap_)
        if (emptied(entry)) close_instant(entry);
    std::erase_if(heap_, emptied);
    std::make_heap(heap_.begin(), heap_.end(), later_than);
}

}  // namespace paceline
