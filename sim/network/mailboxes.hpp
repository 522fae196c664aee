// Matches messages sent to a node with the receivers that wait for them there.
//
// A lane is one (source, destination, stream). Messages of a lane are interchangeable and first-in
// first-out: the k-th message answers the k-th receive. A message that asks for a rendezvous is
// held here until a receiver waits for it. Space and search cost: the lanes of a node on which
// something has arrived, is held or is awaited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/coroutine.hpp"

namespace paceline {

/// Separates messages by purpose: two streams between the same nodes do not wait for each other.
using Stream = std::uint64_t;

class Mailboxes {
  public:
    using Message = std::uint32_t;

    explicit Mailboxes(int nodes) : boxes_(static_cast<std::size_t>(nodes)) {}

    /// Asks whether a rendezvous message may set out. Returns true if a receiver waits for it;
    /// otherwise the message is held until one does. Requires that no other message of the lane is
    /// held.
    bool request_rendezvous(int to, int from, Stream stream, Message message);

    /// Delivers a message that has arrived.
    void deliver(int to, int from, Stream stream);

    /// `receiver` takes the next message of the lane; it arrives at once if the message is already
    /// here. Returns the message held for this receiver, if any, which may now set out. Receives on
    /// one lane queue up in order.
    std::optional<Message> receive(int to, int from, Stream stream, Join& receiver);

    /// Returns whether a message of the lane has arrived and has not been taken.
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const;

    /// Removes `receiver` from the lane's waiting receivers.
    void withdraw(int to, int from, Stream stream, Join& receiver);

  private:
    struct Box {
        Stream stream;
        int from;
        int arrived = 0;    // not yet taken; 0 while a receiver waits
        int waiting = 0;    // receivers, chained from `first`
        int under_way = 0;  // messages that have set out by rendezvous
        Join* first = nullptr;
        Message held = 0;
        bool holds = false;
    };
    using Node = std::vector<Box>;

    Node& node(int number) { return boxes_[static_cast<std::size_t>(number)]; }
    static Box& find(Node& node, int from, Stream stream);
    static void remove_if_idle(Node& node, Box& box);

    std::vector<Node> boxes_;
};

}  // namespace paceline
