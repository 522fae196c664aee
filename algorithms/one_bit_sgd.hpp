// 1-bit SGD: gradients by one bit an entry, and what a bit does not say is added to the next one.
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
// Of a tensor of C columns worker j owns columns floor(j C / n) to floor((j+1) C / n). Two phases: in
// n-1 rounds each worker sends every other one the stripe that one owns, of all tensors together;
// then a ring all-gather of the owners' stripes. A stripe weighs 4 ceil(r / 32) + 8 bytes per column
// of r rows. Coding is charged as passes over the N entries: 2 N to encode, N to read the n stripes,
// 2 of the stripe, N to decode, a stripe of N/n entries, rounded up.
//
// The released code sums gradients, and its rate is per sample; the mean is the same up to the rate,
// since levels scale with what they stand for. All of it blocks. Not here: double buffering, which
// hides the exchange behind the next minibatch, the local first batches without quantization, and
// more than one bit.
//
// Source: Seide et al., Interspeech 2014 (column_quantizer.hpp has the reference); stripes and
// residuals from released code (CNTK, the quantized gradient aggregators).
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct OneBitSgdOptions {
    MomentumRule rule{};
    CodingCost coding{};
};

/// What the columns that an owner has of a layout weigh.
Bytes stripe_bytes(const Layout& layout, int owner, int workers);

/// Passes over entries of a step, times the entries.
std::int64_t one_bit_sgd_passes(const Layout& layout, int workers);

Task<> one_bit_sgd(Worker& self, OneBitSgdOptions options);

}  // namespace paceline
