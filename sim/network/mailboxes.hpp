// Matches what is sent to a node with who waits for it there.
//
// A lane is one (source, destination, stream); its messages are alike and first-in first-out, so
// that the k-th message answers the k-th receive. A message that asks for a rendezvous is held here
// until someone waits for it. Space and search: the lanes of a node with something arrived, held or
// awaited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/coroutine.hpp"

namespace paceline {

/// Keeps messages of different purposes apart: two streams between the same nodes do not wait for
/// one another.
using Stream = std::uint64_t;

class Mailboxes {
  public:
    using Message = std::uint32_t;

    explicit Mailboxes(int nodes) : boxes_(static_cast<std::size_t>(nodes)) {}

    /// A message would like to set out. Returns whether someone waits for it; else it is held until
    /// someone does. Requires that no message of the lane is held.
    bool meet(int to, int from, Stream stream, Message message);

    /// A message has arrived.
    void deliver(int to, int from, Stream stream);

    /// `receiver` takes the next message of the lane; it arrives at once if the message is here
    /// already. Returns the message that was held for this, if any: it may set out. Requires that
    /// no one else waits on this lane.
    std::optional<Message> receive(int to, int from, Stream stream, Join& receiver);

    /// Whether a message of the lane has arrived and is not taken.
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const;

    /// `receiver` does not wait on this lane any more.
    void withdraw(int to, int from, Stream stream, Join& receiver);

  private:
    struct Box {
        Stream stream;
        int from;
        int arrived = 0;    // and not yet taken; 0 while somebody waits
        int waiting = 0;    // receivers, in a chain from `first`
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
