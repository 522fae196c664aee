// A chunk of a vector that is cut into as many as there are devices: the entries that one of them
// has to send. Chunks are those of sim/collectives/chunks.hpp, of entries.
#pragma once

#include "algorithms/rounds/rounds.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

struct VectorChunk {
    int count;  // of chunks
    int index;

    /// Returns the layout of the chunk.
    [[nodiscard]] LayoutPtr of(const Layout& whole) const;
    /// Returns the chunk; without values if `whole` has none.
    [[nodiscard]] Vector cut(const Vector& whole) const;
    /// Returns a vector of this layout that has the chunk in its place, and zeros elsewhere.
    [[nodiscard]] Vector placed(const Vector& chunk, const LayoutPtr& whole) const;
};

/// Returns the vector whose chunks all members have entered, each placed in zeros.
[[nodiscard]] Vector joined_chunks(const Round<Vector>& round);

}  // namespace paceline
