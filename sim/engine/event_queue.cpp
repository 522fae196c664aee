#include "sim/engine/event_queue.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

// Compares time and key as single numbers of 128 bits. Which of two unrelated times is earlier is
// unpredictable, and this comparison has no branch, but for events that agree in both.
bool EventQueue::earlier(const Entry& a, const Entry& b) {
    __extension__ using Wide = __int128;
    const auto key = [](const Entry& entry) {
        return (Wide{entry.at.time_since_epoch().count()} << 64U) | Wide{entry.key.value()};
    };
    const Wide of_a = key(a);
    const Wide of_b = key(b);
    if (of_a == of_b) [[unlikely]]
        return a.order < b.order;
    return of_a < of_b;
}

// A 4-ary heap is half as deep as a binary heap, and siblings share cache lines.
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

// Inserts an entry into the subtree below a hole.
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

EventId EventQueue::push(Time at, Action action, EventKind kind, EventKey key) {
    PACELINE_CHECK(at >= last_popped_, "an event cannot be pushed into the past");
    const std::uint64_t order = next_order_++;
    const Index home = run_for(at, key, order);
    const Index index = take_slot();
    Slot& slot = slots_[index];
    Run& run = runs_[home];
    slot.call = action.call;
    slot.self = action.self;
    slot.argument = action.argument;
    slot.at = at;
    slot.key = key;
    slot.order = order;
    slot.kind = kind;
    slot.run = home;
    slot.next = none;
    slot.prev = run.tail;
    if (run.tail == none) {
        run.head = index;
        --emptied_;
    } else {
        slots_[run.tail].next = index;
    }
    run.tail = index;
    run.latest = at;
    run.latest_key = key;
    ++live_;
    ++number_[static_cast<std::size_t>(kind)];
    return {index, slot.generation};
}

bool EventQueue::cancel(EventId id) {
    if (id.slot >= slots_.size()) return false;
    const Slot& slot = slots_[id.slot];
    if (slot.run == none || slot.generation != id.generation) return false;
    release(id.slot);
    if (emptied_ > 64 && emptied_ > heap_.size() / 2) remove_empty_runs();
    return true;
}

Time EventQueue::next_time() {
    PACELINE_CHECK(!empty(), "an empty queue has no next event");
    if (!top_is_current()) update_top();
    return heap_.front().at;
}

Event EventQueue::pop() {
    PACELINE_CHECK(!empty(), "an empty queue has no event to pop");
    if (!top_is_current()) update_top();
    const Entry& top = heap_.front();
    const Index index = runs_[top.run].head;
    const Slot& slot = slots_[index];
    const Event event{top.at, top.key, {slot.call, slot.self, slot.argument}};
    last_popped_ = top.at;
    release(index);
    return event;
}

// Fibonacci hashing of the delay; takes the top 6 bits.
std::size_t EventQueue::hash_of_delay(Time at) const {
    const auto ticks = [](Time time) {
        return static_cast<std::uint64_t>(time.time_since_epoch().count());
    };
    return ((ticks(at) - ticks(last_popped_)) * 0x9E3779B97F4A7C15U) >> 58U;
}

// Returns the run that takes a new event. A new run counts as emptied until the event is in it.
EventQueue::Index EventQueue::run_for(Time at, EventKey key, std::uint64_t order) {
    const std::size_t bucket = hash_of_delay(at);
    Index& joinable = joinable_[bucket];
    if (joinable != none) {
        const Run& run = runs_[joinable];
        if (run.latest < at || (run.latest == at && run.latest_key <= key)) return joinable;
    }

    Index index = free_run_;
    if (index == none) {
        index = static_cast<Index>(runs_.size());
        runs_.emplace_back();
    } else {
        free_run_ = runs_[index].next_free;
        runs_[index] = {};
    }
    runs_[index].bucket = bucket;
    joinable = index;
    heap_push({at, key, order, index});
    ++emptied_;
    return index;
}

// Frees an empty run that has left the heap.
void EventQueue::close_run(Index index) {
    Run& run = runs_[index];
    if (joinable_[run.bucket] == index) joinable_[run.bucket] = none;
    run.next_free = free_run_;
    free_run_ = index;
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
    Run& run = runs_[slot.run];
    (slot.prev == none ? run.head : slots_[slot.prev].next) = slot.next;
    (slot.next == none ? run.tail : slots_[slot.next].prev) = slot.prev;
    if (run.head == none) ++emptied_;
    --live_;
    --number_[static_cast<std::size_t>(slot.kind)];
    slot.run = none;
    ++slot.generation;
    slot.next = free_slot_;
    free_slot_ = index;
}

// Moves runs whose head has left to their place, until the top entry matches its run's head.
void EventQueue::update_top() {
    do {
        const Index index = heap_.front().run;
        const Index head = runs_[index].head;
        if (head != none) {
            sift_down(0, {slots_[head].at, slots_[head].key, slots_[head].order, index});
        } else {
            close_run(index);
            heap_pop();
        }
    } while (!top_is_current());
}

// Drops empty runs and rebuilds the heap from the rest.
void EventQueue::remove_empty_runs() {
    const auto emptied = [this](const Entry& entry) { return runs_[entry.run].head == none; };
    for (const Entry& entry : heap_)
        if (emptied(entry)) close_run(entry.run);
    std::erase_if(heap_, emptied);
    for (std::size_t i = heap_.size(); i-- > 0;) {
        const Entry entry = heap_[i];
        sift_down(i, entry);
    }
}

}  // namespace paceline
