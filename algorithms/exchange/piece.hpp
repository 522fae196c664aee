// A piece of a gradient: what is encoded, exchanged and decoded as one.
//
// Pieces are numbered in the order in which backward completes them, last layer first. The buckets
// of the job's timing are the pieces, or are cut into partitions of at most so many entries.
//
// A piece is a part of two layouts: of the model that trains, and of the layout that messages are
// charged as. They are the same unless the model stands in for a published net. Then a piece holds
// the tensors of the model whose middles lie in its share of the charged entries: tensors keep
// their shapes, and a piece of a small tensor may hold no values at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/exchange/piece_schedule.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "models/tensors/layout.hpp"
#include "models/tensors/layout_parts.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

class Worker;

struct Piece {
    std::size_t number;
    std::size_t bucket;   // of the timing; the piece is complete when the bucket is
    std::int64_t offset;  // of its values in the whole vector
    LayoutPtr layout;     // of its values
    LayoutPtr charged;    // of what it weighs
};

/// Returns the whole vector as one piece, of the last of `buckets`.
Piece whole_piece(LayoutPtr layout, LayoutPtr charged, std::size_t buckets);

/// Returns the buckets as pieces, each cut into partitions of at most `partition` charged entries.
std::vector<Piece> cut_pieces(const LayoutPtr& layout, const LayoutPtr& charged,
                              const std::vector<Bucket>& buckets,
                              std::optional<std::int64_t> partition, LayoutParts& layouts);

/// Returns the pieces of a worker's model by a schedule, with these tensors left out of
/// compression.
std::vector<Piece> pieces_of(const Worker& self, const ExchangeSchedule& schedule,
                             const std::vector<TensorChoice>& left_out);

/// Returns the tensors of a worker's model as `count` runs, in order
/// (models/tensors/fragments.hpp), with these tensors left out of compression. Runs without tensors
/// are pieces without entries.
std::vector<Piece> fragments_of(const Worker& self, std::size_t count,
                                const std::vector<TensorChoice>& left_out);

/// Returns the part of `whole` that the piece holds.
Vector part_of(const Vector& whole, const Piece& piece);

/// Writes a piece's values to their place in `whole`. Does nothing without values.
void put_part(const Vector& part, const Piece& piece, Vector& whole);

}  // namespace paceline
