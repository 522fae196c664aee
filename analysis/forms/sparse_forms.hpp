// Bytes and device times of sparse methods, from the papers' formulas alone. The simulation has its
// own code for them (algorithms/compression/sparse/sparse.hpp, selection.hpp, algorithms/sparse/),
// and none of it is called here, so that a comparison of the two can fail.
//
// n_j entries of the compressible tensor j, density rho, k_j = ceil(rho n_j), e bytes per entry
// sent, f per dense entry, D entries of one-dimensional tensors and of those left
// out of compression:
//
//   nonzeros of c contributions   z_j(c) = min(n_j, c k_j)                    worst case
//                                 z_j(c) = ceil(n_j (1 - (1 - k_j/n_j)^c))    independent, c > 1
//   their union                   W(c) = sum over j of min(e z_j(c), f n_j) [+ c f D if it is held]
//   selection, exact              s n log2 n
//   selection, sampled            s (m log2 m + a log2 a),  m = max(ceil(n/100), ceil(2/rho)),
//                                 a = min(n, 1.3 k);  exact if n <= ceil(2/rho)
//   search of gradient dropping   s N log2 N of all N entries (exact), or of min(N, 100,000)
//
// Dense vectors are exchanged at density 1, and where the chain of sparse messages has more bytes
// than that of the dense all-reduce (algorithms/coders/sparse_or_dense.hpp has the rule). Here a
// chain is the closed form of the exchange on links of one byte per tick without latency.
//
// Shared with the simulation: the structs of options, the elementary functions, and that products
// such as 0.07 * 100 are rounded up only if they exceed an integer by more than 1e-12 of it.
#pragma once

#include <cstdint>

#include "algorithms/coders/dgc_options.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// W(c).
Bytes form_of_union(const DgcOptions& options, const Layout& layout, double density, int c);

/// Returns the bytes of one worker's message that holds its one-dimensional tensors: W(1).
Bytes form_of_message(const Layout& layout, double density, const SparseFormat& format);

/// Returns f D.
Bytes form_of_rest(const Layout& layout, const SparseFormat& format);

/// Returns f times all entries.
Bytes form_of_dense(const Layout& layout, const SparseFormat& format);

/// Returns the time to select from all compressible tensors, one after the other.
/// Returns the entries that one worker sends.
std::int64_t form_of_kept(const Layout& layout, double density);

Duration form_of_selection(const SelectionCost& cost, const Layout& layout, double density);

/// Returns the time to find one threshold among all N entries.
Duration form_of_search(const SelectionCost& cost, std::int64_t entries);

}  // namespace paceline
