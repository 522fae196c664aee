// Closed forms of exchanges on an idle network: one for each transport, one for each schedule, and none
// for an algorithm.
//
// n workers, one piece. E and D: time to encode and to decode; S: bytes of the dense piece; M: of its
// message; A: of an exact sum of messages; V: of the longest chunk of a message; U, R: of a shard up and
// down. On a star with latency L, t(x) the time of x bytes on a link:
//
//   all-reduce          E + all-reduce of A + D                     closed_forms.hpp, any plan
//   all-gather          E + all-gather of M + n D
//   two-phase           E + 2 (n-1) (L + t(V)) + W + D              W: n chunks decoded, one encoded
//   servers             E + 2 L + t(k U) + W + t(k R) + D           k = n, or n-1 on the workers
//   sparse all-reduce   E + sparse_all_reduce_time of the unions
//   low rank            E + all-reduce of P + one pass + all-reduce of Q + D
//
// A shared scaler adds a recursive doubling of 4 bytes per tensor before. With p machines of g devices,
// bus for the inside and network for the cards:
//
//   flat       all-reduce by ring and by machine, ring all-gather: closed_forms.hpp; others unknown
//   leaders    (g-1)(l + t'(S/g)) + l + t'((g-1) S/g)  +  the transport of p  +  the same behind
//   shards     (g-1)(l + t'(S/g))  +  the transport of p with chunks, g at a time on a card  +  the same
//
// l and t' are the bus's. Chunks cut entries as closed_forms.hpp says. Forms with chunks are exact where
// chunks are equal.
//
// A step, r_i the time at which piece i is complete, X_i its exchange:
//
//   after backward   T1 + E_i + X_i + D_i for one piece
//   beside           e_i = max(r_i, e_(i-1)) + X_i where nothing is coded; the last e, then the update
//
// Empty: pieces that are coded and more than one, several streams, priorities, into forward.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_options.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Returns the bytes of one worker's message of all tensors, before it is cut or summed. `density` is
/// that of DGC's stage.
Bytes form_of_contribution(const ExchangeOptions& options, const Layout& layout, WireFormat wire,
                           int workers, double density = 1);

/// Returns the time from a complete gradient to its aggregate, for a layout that is exchanged whole;
/// `passes` are those of the algorithm before encoding.
std::optional<Duration> exchange_time(const ExchangeOptions& options, const Layout& layout,
                                      std::int64_t passes, const StepModelInput& in,
                                      double density = 1);

/// Returns the time of a step.
std::optional<Duration> exchange_step_time(const ExchangeOptions& options, std::int64_t passes,
                                           const StepModelInput& in, double density = 1);

/// Returns the number of messages of an exchange of all pieces, over all workers.
std::int64_t exchange_messages(const ExchangeOptions& options, const StepModelInput& in,
                               double density = 1);

/// The same for averages with neighbors: neighbor_step_time where vectors travel whole, as they are, flat;
/// by leaders, of machines, with the two phases inside. Empty for pieces, coding and varying degrees.
std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in);
/// `edges` is the number of messages of one average, whole and flat.
std::int64_t neighbor_exchange_messages(const ExchangeOptions& options, std::int64_t edges,
                                        int vectors, const StepModelInput& in);

}  // namespace paceline
