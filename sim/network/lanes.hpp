// The lanes of a network: for each (source, destination, stream) in use, the queue of its messages
// and the queue of its receivers.
//
// Messages of a lane are interchangeable and first-in first-out: the k-th message answers the k-th
// receive. A lane's messages stand in one queue from send to arrival:
//
//     oldest ... | undrained ... newest
//     drained,   | the first one waits or flows,
//     on the way | the others wait behind it
//
// Invariants
//   (1) A lane exists if and only if it has a message, a receiver, or an arrival that has not been
//       taken. So memory is O(lanes with something in them), at their peak.
//   (2) No receiver waits while an arrival has not been taken.
//   (3) Each message that has set out counts on one receiver, eager or not. A rendezvous message
//       may set out only if more receivers wait than messages that have set out before it.
//   (4) for_each visits lanes by their index, which depends only on the order in which lanes came
//       and went. The hash decides nothing else.
//
// Cost: a lookup is a hash and, on average, at most two comparisons. Adding and removing a lane
// allocate nothing once the pools are warm. for_each costs O(lanes), and a word for each 64 lanes
// of the peak.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/coroutine.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

struct Lane {
    using Message = std::uint32_t;
    static constexpr Message none = ~Message{0};

    // The sender's side; changed by LaneTable only.
    Message oldest = none;     // first that has not arrived
    Message undrained = none;  // first that has not drained
    Message newest = none;

    // The receiver's side.
    std::uint32_t arrived = 0;    // not yet taken; 0 while a receiver waits
    std::uint32_t waiting = 0;    // receivers in the queue
    std::uint32_t under_way = 0;  // messages that have set out and will answer a receive
    std::uint32_t cleared = 0;    // clearances that have reached the sender and are not used up
    std::uint32_t owed = 0;       // clearances that wait for what the receiver itself sends

    /// Returns whether a receiver waits for a message that has not set out yet.
    [[nodiscard]] bool has_receiver() const { return waiting > under_way; }
    [[nodiscard]] bool idle() const { return oldest == none && waiting == 0 && arrived == 0; }

    /// `receiver` takes the next message. It arrives at once if the message is already here;
    /// otherwise it queues up.
    void receive(Join& receiver);
    /// Removes `receiver` from the queue; no effect if it is not in it.
    void withdraw(Join& receiver);
    /// A message that has set out has arrived: the first receiver takes it, or it is kept.
    void deliver();

    Join* first = nullptr;  // receivers, chained by Join::behind
    Join* last = nullptr;

    Stream stream = 0;
    int from = 0;
    int to = 0;
    std::uint32_t next = none;  // in its bucket; in a free lane, the next free lane
};

class LaneTable {
  public:
    using Index = std::uint32_t;
    using Message = Lane::Message;
    static constexpr Index none = ~Index{0};

    LaneTable();

    /// Returns the lane, or `none` if it has nothing in it.
    [[nodiscard]] Index find(int to, int from, Stream stream) const;
    /// Returns the lane. The caller puts something into it, or calls remove_if_idle.
    Index find_or_add(int to, int from, Stream stream);
    /// Removes the lane if nothing is in it.
    void remove_if_idle(Index index) {
        if (lanes_[index].idle()) remove(index);
    }

    /// The reference is valid until the next find_or_add.
    [[nodiscard]] Lane& operator[](Index index) { return lanes_[index]; }
    [[nodiscard]] const Lane& operator[](Index index) const { return lanes_[index]; }
    /// Returns the number of lanes with something in them.
    [[nodiscard]] std::size_t size() const { return size_; }

    // --- the queue of messages ---

    /// Appends a message. A message is in at most one lane.
    void push(Index index, Message message);
    /// The first undrained message has drained. Requires that there is one.
    void drain(Index index) { lanes_[index].undrained = behind_[lanes_[index].undrained]; }
    /// The oldest message has arrived and leaves the lane. Requires that it has drained.
    void arrive(Index index);
    /// Returns the message behind this one in its lane, or Lane::none.
    [[nodiscard]] Message behind(Message message) const { return behind_[message]; }
    /// Removes the messages for which `removed` returns true; asks once for each, oldest first.
    template <class Predicate>
    void remove_messages(Index index, Predicate removed);

    /// Calls visit(index) for each lane. `visit` may remove that lane, and must add none.
    template <class Visit>
    void for_each(Visit visit);

  private:
    [[nodiscard]] std::size_t bucket_of(int to, int from, Stream stream) const;
    [[nodiscard]] Index find_in(std::size_t bucket, int to, int from, Stream stream) const;
    Index add(std::size_t bucket, int to, int from, Stream stream);
    void remove(Index index);
    void grow();

    std::vector<Lane> lanes_;
    std::vector<Index> buckets_;         // [hash]: first lane of the bucket; a power of two
    std::vector<std::uint64_t> in_use_;  // one bit for each lane
    std::vector<Message> behind_;        // [message]
    Index free_lane_ = none;
    unsigned shift_ = 0;  // a hash's bits below those that select a bucket
    std::size_t size_ = 0;
};

// ---- on the way of every message, and so inline ----

inline void Lane::receive(Join& receiver) {
    if (arrived > 0) {
        --arrived;
        receiver.arrive();
        return;
    }
    (first == nullptr ? first : last->behind) = &receiver;
    last = &receiver;
    ++waiting;
}

inline void Lane::deliver() {
    --under_way;
    if (first == nullptr) {
        ++arrived;
        return;
    }
    Join& receiver = *first;
    first = receiver.behind;
    if (first == nullptr) last = nullptr;
    receiver.behind = nullptr;
    --waiting;
    receiver.arrive();
}

inline std::size_t LaneTable::bucket_of(int to, int from, Stream stream) const {
    const std::uint64_t hash = stream * 0x9E3779B97F4A7C15U +
                               static_cast<std::uint32_t>(from) * 0xD6E8FEB86659FD93U +
                               static_cast<std::uint32_t>(to) * 0xA0761D6478BD642FU;
    return static_cast<std::size_t>(hash >> shift_);
}

inline LaneTable::Index LaneTable::find_in(std::size_t bucket, int to, int from,
                                           Stream stream) const {
    Index index = buckets_[bucket];
    while (index != none) {
        const Lane& lane = lanes_[index];
        if (lane.stream == stream && lane.from == from && lane.to == to) break;
        index = lane.next;
    }
    return index;
}

inline LaneTable::Index LaneTable::find(int to, int from, Stream stream) const {
    return find_in(bucket_of(to, from, stream), to, from, stream);
}

inline LaneTable::Index LaneTable::find_or_add(int to, int from, Stream stream) {
    const std::size_t bucket = bucket_of(to, from, stream);
    const Index found = find_in(bucket, to, from, stream);
    return found != none ? found : add(bucket, to, from, stream);
}

inline void LaneTable::push(Index index, Message message) {
    if (message >= behind_.size()) behind_.resize(message + 1);
    behind_[message] = Lane::none;
    Lane& lane = lanes_[index];
    (lane.oldest == Lane::none ? lane.oldest : behind_[lane.newest]) = message;
    if (lane.undrained == Lane::none) lane.undrained = message;
    lane.newest = message;
}

inline void LaneTable::arrive(Index index) {
    Lane& lane = lanes_[index];
    lane.oldest = behind_[lane.oldest];
    if (lane.oldest == Lane::none) lane.newest = Lane::none;
}

// ---- templates ----

template <class Predicate>
void LaneTable::remove_messages(Index index, Predicate removed) {
    Lane& lane = lanes_[index];
    Message previous = Lane::none;
    Message next = Lane::none;
    for (Message message = lane.oldest; message != Lane::none; message = next) {
        next = behind_[message];
        if (!removed(message)) {
            previous = message;
            continue;
        }
        (previous == Lane::none ? lane.oldest : behind_[previous]) = next;
        if (lane.undrained == message) lane.undrained = next;
        if (lane.newest == message) lane.newest = previous;
    }
}

template <class Visit>
void LaneTable::for_each(Visit visit) {
    for (std::size_t word = 0; word < in_use_.size(); ++word)
        for (std::uint64_t bits = in_use_[word]; bits != 0; bits &= bits - 1)
            visit(static_cast<Index>(64 * word + static_cast<unsigned>(std::countr_zero(bits))));
}

}  // namespace paceline
