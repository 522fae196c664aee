// A coder: one worker's way of sending a vector among a group, and what it remembers for the next.
//
// An exchange of a vector has three parts, which the caller puts in order with those of other
// vectors:
//
//   encode   on the worker's device: the vector becomes a message; the codec's memory changes
//   travel   messages among the group; also coding that must wait for messages (an owner's, a
//            second factor's). Returns the aggregate of all members, which is the same on all
//   decode   on the worker's device: what was received becomes the aggregate
//
// Times are those of the charged layout. Values follow the arithmetic of the aggregation: what an
// owner or a server encodes again is encoded again here. Without values only times and messages
// remain.
//
// There is a coder for each form of codec (codec.hpp; make_coder.hpp). All members of a group make
// theirs from equal options, and use them for the same vectors in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/coders/aggregation.hpp"
#include "algorithms/coders/codec.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

/// What a coder sends, among whom.
struct CoderPlace {
    LayoutPtr layout;   // of the values
    LayoutPtr charged;  // of what they weigh
    GroupPtr group;
    std::string tag;  // names state and random streams; empty for a whole vector among all workers
};

/// A vector to encode.
struct CoderInput {
    /// Returns it. Called once, on any thread; changes only state of this worker.
    std::function<Vector()> make;
    std::int64_t passes = 0;  // over the entries, that making it takes on the device
    std::int64_t number = 0;  // of this vector: 0, 1, ...
};

class Coder {
  public:
    Coder() = default;
    Coder(const Coder&) = delete;
    Coder& operator=(const Coder&) = delete;
    virtual ~Coder() = default;

    virtual Task<> encode(CoderInput input) = 0;
    virtual Task<Vector> travel() = 0;
    virtual Task<> decode() = 0;

    /// Returns whether travel() is one round, which it begins at once.
    [[nodiscard]] virtual bool has_one_round() const { return false; }
    /// Takes what this member sends, as it is decoded, if it is encoded before it travels.
    [[nodiscard]] virtual Vector take_message();
    /// Return the bytes of this member's message, and of all that a member receives.
    [[nodiscard]] virtual Bytes message_bytes() const = 0;
    [[nodiscard]] virtual Bytes received_bytes() const = 0;
    /// Returns the time of decoding that many messages.
    [[nodiscard]] virtual Duration decoding_time(std::int64_t messages) const = 0;
};

using CoderPtr = std::unique_ptr<Coder>;

}  // namespace paceline
