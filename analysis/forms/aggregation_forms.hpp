// Closed forms of aggregations: what one vector takes on its way, on an idle network.
//
// n workers. E(x), D(x): time to encode and to decode x; M: the message; A: an exact sum of
// messages; V_j: chunk j of n of a message; U_j, R_j: shard j of q, up and down; S: the dense
// vector. On a star with latency L, where t(x) is the time of x bytes on a link:
//
//   all-reduce          E + all-reduce of A + D                        closed_forms.hpp, any plan
//   all-gather          E + all-gather of M + D(n messages)
//   two-phase           E + A + W + (n-1)(L + t(V)) + D   V = max V_j
//                       A = L + t((n-1) V) grouped, (n-1)(L + t(V)) in rounds
//                       W = max over j of D(n chunks j) + E(chunk j)
//   servers             E + max over j of 2 L + t(k U_j) + W_j + t(k R_j) + D    k = n, or n-1 on
//                       workers W_j = D(n shards j) if they are encoded, + E(shard j) if the answer
//                       is
//   sparse all-reduce   E + unions by recursive doubling + all-reduce of the rest
//   low rank            2 passes + sum of P + 1 pass + sum of Q + 2 passes,  a sum: all-reduce or
//                       servers
//   one bit             adaptive_step_models.hpp, + all-reduce of what is left out
//
// A shared scaler is a recursive doubling of 4 bytes per tensor before the rest. Two-phase is exact
// for any chunks if the longest takes the longest work: chunk j follows its owner through all n-1
// rounds, or keeps its owner's link busy for n-1 messages, and then passes n-1 members. Grouped it
// is exact to a picosecond. Servers are exact, to a few picoseconds, if shards are equal or servers
// have nodes of their own.
//
// p machines of g workers each; l, t': of the bus; the card has bandwidth B, of which each of g
// flows gets a g-th:
//
//   flat      all-reduce      ring and by machine (closed_forms.hpp)
//             all-gather      ring: (n-1) times the slower of a step inside and a step between
//             a scaler        doubling, n and g powers of two
//             servers         on the workers: L + max( t(s (n-g) U), t'((n-1) U) ), s = min(q, g),
//                             each way
//   leaders   dense inside    reduce + E + aggregation of p + D + broadcast
//                             reduce:     (g-1)(l + t'(S/g)) + l + t'(S - S/g);  broadcast: the
//                                         same
//             encoded inside  E + l + t'((g-1) M) + D(g messages) + E + aggregation of p +
//                             broadcast of what the leader receives + D
//   shards    (g-1)(l + t'(S/g)) + aggregation of p, of the longest chunk on a g-th of the card +
//             the same
//
// Shards are exact if all chunks are equal. Where some differ by a byte, lanes that share a card
// fall out of step, and latencies of one hide behind messages of another: up to 3e-4 less.
//
// Inside machines entries weigh 4 bytes. Unknown, empty: all other flat aggregations over machines
// of several workers.
//
// Vectors are cut at entries: part i = 0, ..., k-1 has floor(N/k) entries, one more for each of the
// last N mod k; it weighs the bits of the tensors in it. A chunk of a message is such a part of
// what is encoded, and a chunk of the bytes of the tensors that are left out. Shared with
// algorithms/exchange: the structs of options, and what closed_forms.hpp names.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/compression/one_bit.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Time on the device, for which a piece queues, or on the wires.
struct PieceStage {
    bool on_device;
    Duration time{};
};

/// A piece's stages in order: before it travels, while it holds the communication stream, and
/// behind.
struct PieceForm {
    std::vector<PieceStage> encode{};
    std::vector<PieceStage> travel{};
    std::vector<PieceStage> decode{};
};

/// Returns the time of all stages.
Duration total_time(const PieceForm& form);

/// Returns the stages of a piece with these charged tensors; `passes` over its entries come before
/// encoding, `density` is that of DGC's stage.
std::optional<PieceForm> piece_form(const ExchangeOptions& options, const Layout& piece,
                                    std::int64_t passes, const StepModelInput& in,
                                    double density = 1);

/// Returns the bytes of a message of a compressor; what is lossless travels in the wire format.
Bytes form_of_packed(const Compressor& compressor, const Layout& layout, WireFormat wire);

/// Returns the buffers of signs; tensors that are left out are in none.
OneBitBuffers form_of_buffers(const OneBitCodec& codec, const Layout& layout, int workers);
/// Returns what the tensors weigh that are left out.
Bytes form_of_left_out(const Layout& layout);

/// Returns part i of k.
Layout form_of_chunk(const Layout& layout, int k, int i);

}  // namespace paceline
