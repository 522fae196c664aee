// DGC's messages: a worker sends its largest accumulated entries, and the supports of messages
// unite.
//
// algorithms/sparse/dgc.hpp has the rule of the memory. The aggregate is the mean of what was sent;
// for tensors that are not compressible it is the mean gradient, which the sparse messages hold or
// which is all-reduced apart (Uncompressed).
//
//   sparse-all-reduce   recursive doubling; a message weighs as the union that it carries
//   all-gather          every message to every member
//   servers             each shard gets its share of every message, which holds all tensors, and
//                       answers with its mean, dense
//
// With values the weight of a message is measured (rounds/sparse_round.hpp). Without, and for
// pieces in which the model that stands in has nothing to select from, a declared law gives it
// (sparse.hpp). Where the first two would move more than a dense all-reduce, that all-reduce
// carries the same values (exchange_choice.hpp). Encoding takes the time of the selection; decoding
// is free, as in the paper's model.
#pragma once

#include "algorithms/coders/coder.hpp"
#include "algorithms/coders/dgc_memory.hpp"
#include "algorithms/coders/sparse_or_dense.hpp"

namespace paceline {

/// Runs one worker's part of a sparse exchange without values, among a group. Returns when the
/// worker has the sum over all members. Requires an aggregation without servers.
Task<> exchange_sparse(Worker& self, DgcOptions options, AggregationPlan aggregation,
                       LayoutPtr layout, StageExchange stage, GroupPtr group);

/// Returns the memory with which a coder begins.
DgcMemoryPtr dgc_memory_at(const Worker& self, const CoderPlace& place);

CoderPtr make_sparse_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                           CoderPlace place, DgcMemoryPtr memory);

}  // namespace paceline
