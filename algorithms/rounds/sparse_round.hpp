// The data plane of a sparse all-reduce: contributions, their sum, and the weights of messages.
//
// The sum is formed once, in the order of members, when all have entered, so every member sees the
// same bits. A message that merges contributions weighs as much as the union U of their supports:
//
//   run         bytes of compressible tensor j of n_j entries, u_j of them in U
//   real        min(e u_j, f n_j)
//   stand-in    min(e ceil(D n'_j), f n'_j),    D = min(1, rho G)
//               G = sum of u_j / (mean over the contributions in U of their entries)
//
// e is the bytes per entry sent, and f those of a dense entry (SparseFormat). In a stand-in run,
// messages weigh as another layout, that of a published net. n'_j are the entries of its tensors,
// and rho is the declared density. The model that trains measures how unions grow: G is 1 for one
// contribution. Its own density is not used, because ceil(rho n_j) of few entries is far more than
// rho n_j. Each union is merged once, by the first member that asks, however many messages carry
// it. Tensors that are not compressible do not merge: if they travel in the same messages, they add
// their bytes once per contribution.
//
// A round may be told to exchange dense vectors instead (SparsePacking::dense). Values and measured
// densities stay the same; the messages are those of an all-reduce of all entries, f bytes each.
//
// The support of a contribution is what was sent, including entries that happen to be zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/compression/sparse/sparse.hpp"
#include "algorithms/compression/sparse/sparse_vector.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// What the messages of a sparse exchange hold, and how they travel; equal on all members.
struct SparsePacking {
    SparseFormat format{};
    LayoutPtr charged{};                   // layout that messages weigh as; null: the vectors' own
    bool carries_rest = false;             // incompressible tensors travel along, dense
    double declared_density = 1;           // rho; used if `charged` is set
    std::optional<AllGather> gather{};     // set: nothing merges; empty: recursive doubling
    std::optional<AllReducePlan> dense{};  // set: an all-reduce carries all entries instead
};

/// Shares of the entries of compressible tensors that were sent, averaged over exchanges: by one
/// worker (`contribution`), and by all together (`merged`).
struct MeasuredDensity {
    double contribution = 0;
    double merged = 0;
    std::int64_t steps = 0;
};

class SparseRound {
  public:
    /// Requires that `layout` has compressible entries if messages weigh as another layout.
    SparseRound(std::size_t members, LayoutPtr layout, SparsePacking packing);

    /// Adds a member's contribution. Requires a vector of the round's layout, with every entry of
    /// the incompressible tensors if the packing carries them.
    void enter(std::size_t member, SparseVector v);

    // Each of these requires that the contributions it uses have entered.

    [[nodiscard]] Bytes contribution_bytes(std::size_t member);
    [[nodiscard]] Bytes union_bytes(const Union& merged);
    [[nodiscard]] const SparsePacking& packing() const { return packing_; }
    /// Returns what all entries weigh together.
    [[nodiscard]] Bytes dense_bytes() const;
    /// Returns the mean over all members; entries that nobody sent are zero.
    const Vector& mean();
    /// Returns the densities of this exchange; steps = 0 if there are no compressible entries.
    [[nodiscard]] MeasuredDensity measure();

    /// Notes that a member has its result; returns whether it was the last.
    [[nodiscard]] bool leave() { return ++left_ == entered_.size(); }

  private:
    // A union, how many contributions it merges, and their compressible entries, added up.
    struct Merged {
        Support support;
        std::int64_t contributions = 0;
        std::int64_t sent = 0;
    };
    struct Block {
        std::optional<Merged> merged;  // empty once merged into a wider block
        Bytes bytes;
    };

    [[nodiscard]] const SparseVector& of(std::size_t member) const;
    [[nodiscard]] Block& block(int first, int step);
    [[nodiscard]] Merged merge(int first, int step);
    void add_member(std::size_t member, Merged& to) const;
    [[nodiscard]] std::int64_t compressible_count(const Support& support) const;
    [[nodiscard]] std::int64_t compressible_sent(std::size_t member) const;
    [[nodiscard]] Bytes weigh(const Merged& merged) const;

    LayoutPtr layout_;
    SparsePacking packing_;
    std::int64_t compressible_entries_;
    std::vector<std::optional<SparseVector>> entered_;
    std::vector<std::optional<Bytes>> contribution_bytes_;  // cached
    std::map<std::pair<int, int>, Block> blocks_;           // by (step, first survivor)
    std::optional<Vector> mean_;
    std::size_t left_ = 0;
};

/// Returns a literal that names the exchange, such as "sparse all-reduce". `layout` is that of the
/// contributions.
std::string_view name_of(const SparsePacking& packing, const Layout& layout);

/// Sends and receives the messages of one member. Requires that the round outlives the task.
Task<> sparse_messages(SparseRound& round, Rank rank);

}  // namespace paceline
