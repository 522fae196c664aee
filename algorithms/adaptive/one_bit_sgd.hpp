// 1-bit SGD: sends gradients with one bit per entry and adds the quantization error to the next
// one.
//
//   worker i   q_i  =  two levels per column of g_i + e_i,  e_i <- the rest
//   owner      c    =  (1/n) sum over i of q_i on its stripe of columns
//              q    =  two levels per column of c + r,  r <- the rest
//   all        x    <- momentum_step with q                        (optimizers/momentum.hpp)
//
//   symbol   here        meaning
//   g_i                  stochastic gradient of worker i at x
//   e_i      residual    of a worker, 0 at first
//   r                    of the owners, 0 at first; those of all owners exist once
//   levels               compression/column_quantizer.hpp
//
// In a tensor of C columns, worker j owns columns floor(j C / n) to floor((j+1) C / n). The
// exchange has two phases. First each worker sends every other worker the stripe which that one
// owns, for all tensors together: grouped, as the released code does (all MPI_Isend before it waits
// for any), or in rounds. Then a ring all-gather distributes the owners' stripes. A stripe weighs
// 4 ceil(r / 32) + 8 bytes per column of r rows. Coding is charged as passes over the N entries:
// 2 N to encode, N to read the n stripes, 2 passes over the own stripe of N/n entries (rounded up),
// and N to decode.
//
// The released code sums gradients and has a rate per sample. The mean used here is equivalent up
// to the rate, because levels scale with the values they represent. The whole exchange blocks. Not
// modeled: double buffering, which hides the exchange behind the next minibatch; the first local
// batches without quantization; and more than one bit.
//
// Source: Seide et al., Interspeech 2014 (column_quantizer.hpp has the reference); stripes and
// residuals from released code (CNTK, the quantized gradient aggregators).
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "models/tensors/layout.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

struct OneBitSgdOptions {
    MomentumRule rule{};
    CodingCost coding{};
    AllToAll all_to_all = AllToAll::grouped;
};

/// Returns the weight of the columns of a layout that `owner` owns.
Bytes stripe_bytes(const Layout& layout, int owner, int workers);

/// Returns how many entries the coding of a step processes, summed over passes.
std::int64_t one_bit_sgd_passes(const Layout& layout, int workers);

Task<> one_bit_sgd(Worker& self, OneBitSgdOptions options);

}  // namespace paceline
