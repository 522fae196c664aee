// A collective as rounds of messages: who sends how much to whom in which round. A plain value;
// both ways of running it, event by event and ahead of the queue (sim/ahead/ahead.hpp), read the
// same one.
//
// In a round, a member sends at most one message and receives at most one. The round ends when its
// own message has drained and the other has been delivered. What it sends in a round is received by
// its partner in the same round: who(p, k).to == q exactly if who(q, k).from == p.
//
// A member has up to w = `in_flight` rounds open: it begins its first w rounds on entry, and round
// k + w when round k has ended. If w > 1, its partners are the same in all rounds. A member that
// `relays` sends only when it has received.
//
// By rendezvous and on links that nothing else uses, with b_p(k) the time at which member p begins
// round k, t the time of p's message on its wire and L its latency (sim/network/wire.hpp), to
// one of which the collective's `cost` is added:
//
//   send_p(k)   =  b_p(k), or if p relays max(b_p(k), arrive_p(k))
//   drain_p(k)  =  max(send_p(k), b_to(k), drain_p(k-1)) + t        b_p(k), if it sends nothing
//   arrive_p(k) =  drain_from(k) + L
//   b_p(k+w)    =  max(drain_p(k), arrive_p(k))                     without arrive_p, if it
//                  receives nothing
//
// The term drain_p(k-1) matters only if w > 1: messages to the same member leave one after the
// other.
//
// A ring or a chain may instead have `slots`, w buffers of each receiver. Sending and receiving are
// then apart: a slice sets out once its data have arrived and the receiver's grant of a slot is
// known. A slot is free when the slice in it has been taken out, which takes no time; the grant
// takes the latency L' of the way back. The first w are granted on entry. With m = data_lag, the
// rounds from receiving a slice to passing it on (the slices of a chunk; 0 where a member relays),
// and e_p the time of entry:
//
//   ready_p(k)  =  e_p, and if k >= m  arrive_p(k-m)            without arrive_p, if it receives
//                                                               nothing
//   grant_p(k)  =  e_p, and if k >= w  arrive_p(k-w) + L'
//   drain_p(k)  =  max(ready_p(k), grant_to(k), drain_p(k-1)) + t
//   arrive_p(k) =  drain_from(k) + L
//
// So members may be rounds apart, and a latency between two of them is paid once per turn around
// the ring, not once per round, while w slots carry the line: w t >= t + L + L'. By eager messages
// nobody waits for a grant; in band, it is the clearance that travels.
//
// Rounds that are `grouped` are all open from the entry on, each with another partner, and their
// messages share links: their times are those of sim/ahead/grouped_times.hpp.
//
// Source: own derivation from the rules of sim/network/network.hpp; summed up, it is the closed
// forms of analysis/forms. Slots: NCCL, whose receiving proxy posts NCCL_STEPS buffers of a
// connection ahead of the data (src/transport/net.cc, recvProxyProgress, at 5067397).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "sim/engine/units.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

/// What a member does in one round; -1: nobody.
struct RoundOfMember {
    int to = -1;
    int from = -1;
};

/// Which partners meet. Rounds of one kind among equally many members have the same partners.
enum class Partners : std::uint8_t {
    ring,
    bruck,
    doubling,
    halving,
    tree,
    broadcast,
    reduce,
    chain_down,
    chain_up,
    everybody,
};

/// Chunks that go around a ring: in step s = 0, 1, ..., member p passes chunk (first + p - s) mod n
/// of a vector to the next place, in `slices` rounds. Cutting gives the last parts a byte more
/// where it does not divide.
struct PassedChunks {
    Bytes vector{};
    int first = 0;
    int slices = 1;
};

struct MessageRounds {
    int members = 1;
    int count = 0;
    Partners partners = Partners::ring;
    /// Pure.
    std::function<RoundOfMember(int place, int round)> who{};
    /// Returns what the member sends. Asked for once the member has begun the round, until all
    /// members have ended; by then the one that gave it may be gone, so it owns what it needs. Null
    /// for a ring that passes `chunks`.
    std::function<Bytes(int place, int round)> size{};
    PassedChunks chunks{};
    int in_flight = 1;
    bool relays = false;
    int slots = 0;  // of each receiver, granted ahead of time; 0: rounds have an end, as above
    bool grouped = false;
    MessageCost cost{};  // of each message, for its sender

    [[nodiscard]] bool passes_chunks() const { return !size; }
    /// Returns m, the rounds after which a member passes on what it has received.
    [[nodiscard]] int data_lag() const { return relays ? 0 : chunks.slices; }
    /// Returns the number of rounds that a member may have open.
    [[nodiscard]] int open_rounds() const { return std::clamp(in_flight, 1, std::max(count, 1)); }
};

/// Rings that lead from machine to machine side by side: at most so many, and the bit of each in a
/// set of them.
inline constexpr int most_abreast = 64;
constexpr std::uint64_t ring_bit(int ring) {
    return std::uint64_t{1} << static_cast<unsigned>(ring);
}

/// Returns the size of part `index` of `count` parts of a vector, the last of which have a byte
/// more where it does not divide.
constexpr Bytes part_of(Bytes size, int count, int index) {
    return {size.count / count + (index >= count - size.count % count ? 1 : 0)};
}

/// Returns the size of what a member sends in a round. Requires that it sends something.
inline Bytes sent_in_round(const MessageRounds& rounds, int place, int round) {
    if (!rounds.passes_chunks()) return rounds.size(place, round);
    const int n = rounds.members;
    const PassedChunks& chunks = rounds.chunks;
    const int chunk = (chunks.first + place + 2 * n - round / chunks.slices) % n;
    return part_of(part_of(chunks.vector, n, chunk), chunks.slices, round % chunks.slices);
}

}  // namespace paceline
