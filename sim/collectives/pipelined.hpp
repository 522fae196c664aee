// Collectives that pass a vector on in slices, so that latencies of consecutive messages overlap.
// Timing plane only.
//
// A vector is cut into k slices of at most `slice` bytes, of time t each. A member has at most w =
// `in_flight` slices under way: it begins slice q when slice q-w is done, which is drained and,
// where it receives one for it, delivered. For w t >= t + L nothing waits for a latency.
//
//   ring all-reduce     chunks S/n in slices; 2(n-1)k slices to the next place, each behind the
//                       slice of the chunk that was received k slices before; w <= k
//       P = max(w t, t + L),  Q = 2(n-1)k:    floor((Q-1)/w) P + ((Q-1) mod w) t + t + L
//   ring reduce         (n-1)k slices of reduce-scatter as above, Q = (n-1)k, then the chunks to
//                       place 0, all at once                                              + L +
//                       t((n-1)/n S)
//   chain broadcast     place p passes slices on to place p+1, from place 0
//   chain reduce        place p passes sums on to place p-1, to place 0
//       both            (n-1) (L + t) + (k-1) t             w t >= 2 t + L, or 2 t without latency
//
// With `rendezvous` a slice's receive is posted when its turn comes, which is what w bounds;
// `eager` slices do not wait for it. Compared with the ring of all_reduce.hpp, which pays 2(n-1)
// latencies, this one pays one if nothing stalls.
//
// With `slots`, w is instead the number of slots that each receiver grants ahead of time
// (sim/ahead/message_rounds.hpp), and a slice of the ring is sent when the one that was received k
// slices before is there. With L' the latency of the way back, and links that are all alike,
//
//   ring all-reduce     t Q + L + max over i, j >= 0 with i k + j w < Q of
//                           i (L - (k-1) t) + j (L + L' - (w-1) t)
//   chains              (n-1) (L + t) + (Q-1) t + floor((Q-1)/w) max(0, L + L' - (w-1) t)
//
// with Q slices to pass on: a slot is worth w slices per round trip. c channels of a library share
// the line and take turns slice by slice, so they are one ring with c times the slots.
//
// Sources: the ring: NCCL (chunks of a ring move in steps of a buffer of 8 slots;
// ncclDevKernel_AllReduce, src/device/all_reduce.h) and Gloo (segments of at most 1 MiB, two under
// way; gloo/allreduce.cc, gloo/reduce.cc with the gather at the root); the chain: NCCL's broadcast
// and reduce (src/device/broadcast.h, reduce.h). Slots: 8 (NCCL_STEPS) of a buffer of 4 MiB
// (NCCL_BUFFSIZE, src/init.cc) per channel and connection, each posted as soon as it is free
// (recvProxyProgress, src/transport/net.cc); a connection between machines has twice the channels
// that the topology needs (ncclTopoPostset, src/graph/connect.cc), so at least two. NVIDIA/nccl at
// 5067397.
#pragma once

#include <cstdint>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// How a vector is cut, and how many slices are under way. Requires the first two above 0.
struct Slices {
    Bytes slice{std::int64_t{512} * 1024};
    int in_flight = 8;
    int slots = 0;  // of a receiver, on all channels; above 0 they count, and `in_flight` does not
};

/// Returns into how many slices the longest part of a vector is cut; 1 for nothing.
int slices_of(Bytes part, const Slices& cut);

Task<> pipelined_ring_all_reduce(Rank self, Bytes size, Slices cut);
Task<> pipelined_ring_reduce(Rank self, Bytes size, Slices cut);
/// Each half of the all-reduce: place i ends, or begins, with chunk i.
Task<> pipelined_ring_reduce_scatter(Rank self, Bytes size, Slices cut);
Task<> pipelined_ring_all_gather(Rank self, Bytes size, Slices cut);
Task<> chain_broadcast(Rank self, Bytes size, Slices cut);
Task<> chain_reduce(Rank self, Bytes size, Slices cut);

}  // namespace paceline
