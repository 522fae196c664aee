// The data plane of a sparse all-reduce: contributions, their sum, and what messages weigh.
//
// The sum is formed once, in the order of members, when all have entered; every member sees the
// same bits. A message that merges contributions weighs what the union U of their supports does:
//
//   run         bytes of compressible tensor j of n_j entries, u_j of them in U
//   real        min(e u_j, 4 n_j)
//   stand-in    min(e ceil(D n'_j), 4 n'_j),    D = sum of u_j / sum of n_j
//
// e bytes per entry sent and 4 per dense entry (SparseFormat); n'_j are the entries of the tensors
// of the layout that messages weigh as, a published net's, and D is measured on the compressible
// tensors of the model that trains. Each union is merged once, by who asks first, whatever number
// of messages carry it. Tensors that are not compressible, if they travel in the same messages, do
// not merge: as many bytes again for every contribution.
//
// The support of a contribution is what was sent, entries that happen to be zero included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/compression/sparse.hpp"
#include "algorithms/compression/sparse_vector.hpp"
#include "models/vector.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// How sparse contributions come together: messages that merge, or an all-gather of everyone's.
enum class SparseExchange : std::uint8_t { recursive_doubling, all_gather_ring, all_gather_bruck };

/// What the messages of a sparse exchange are made of; equal on all members.
struct SparsePacking {
    SparseFormat format;
    LayoutPtr charged;          // what messages weigh as; null: the vectors' own layout
    bool carries_rest = false;  // tensors that are not compressible travel along, whole
};

/// Share of the entries of compressible tensors that was sent, means over exchanges: by one worker,
/// and by all together.
struct MeasuredDensity {
    double contribution = 0;
    double merged = 0;
    std::int64_t steps = 0;
};

class SparseRound {
  public:
    /// Requires that the vectors' layout has compressible entries if messages weigh as another.
    SparseRound(std::size_t members, LayoutPtr layout, SparsePacking packing);

    /// Requires a vector of the round's layout, with every entry of the other tensors if the
    /// packing carries them.
    void enter(std::size_t member, SparseVector v);

    // Each of these asks for contributions that have entered: a member's, or a union's.

    [[nodiscard]] Bytes contribution_bytes(std::size_t member);
    [[nodiscard]] Bytes union_bytes(const Union& merged);
    /// The mean over all members; entries that nobody sent are zero.
    const Vector& mean();
    /// Of this one exchange. Nothing, steps = 0, if there are no compressible entries.
    [[nodiscard]] MeasuredDensity measure();

    /// Says that a member has its result; returns whether it was the last.
    [[nodiscard]] bool leave() { return ++left_ == entered_.size(); }

  private:
    struct Block {
        std::optional<Support> support;  // until it has become part of a wider block
        Bytes bytes;
    };

    [[nodiscard]] const SparseVector& of(std::size_t member) const;
    [[nodiscard]] Block& block(int first, int step);
    [[nodiscard]] Support merge(int first, int step);
    [[nodiscard]] std::int64_t compressible_count(const Support& support) const;
    [[nodiscard]] Bytes weigh(const Support& support, std::int64_t contributions) const;

    LayoutPtr layout_;
    SparsePacking packing_;
    std::int64_t compressible_entries_;
    std::vector<std::optional<SparseVector>> entered_;
    std::vector<std::optional<Bytes>> contribution_bytes_;  // once asked
    std::map<std::pair<int, int>, Block> blocks_;           // by (step, first survivor)
    std::optional<Vector> mean_;
    std::size_t left_ = 0;
};

/// The messages of one member of a round, which outlives them.
Task<> sparse_messages(SparseRound& round, Rank rank, SparseExchange how);

}  // namespace paceline
