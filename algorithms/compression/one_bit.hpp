// One bit per entry: the sign, and one scale per buffer, its root mean square.
//
//   worker i   a_i  =  x_i + w_i              x_i padded with zeros to P entries
//              s_i  =  |a_i| / sqrt(P)
//              w_i  <-  a_i - s_i sgn(a_i)    error feedback: the rest is sent later
//   owner j    c_j  =  (1/n) sum over i of s_i sgn(a_i)  on chunk j, + e_j
//              S_j  =  |c_j| / sqrt(P/n)
//              e_j  <-  c_j - S_j sgn(c_j)
//   result     S_j sgn(c_j) on chunk j, the same on all workers
//
//   symbol     here                 meaning
//   P          padded               entries rounded up to a multiple of n q, q = 8 n / gcd(n, 8),
//                                   so that a chunk of P/n entries fills whole bytes, and n of them
//   w_i        error of a worker    0 at first; padding has an error, too
//   e_j        error of an owner    0 at first; the errors of all owners are stored in sequence
//   sgn(0)     +1                   a bit cannot express 0
//
// Invariant: over any number of calls, the sum of the results is the sum of the means of the x_i,
// less the mean of the w_i, less e (tested). With this scale a call is not a contraction: the
// relative squared error is 2 (1 - |x|_1 / (sqrt(d) |x|_2)). It is 0.404 for Gaussian entries and
// exceeds 1 if a few entries are much larger than the rest.
//
// Source: released code of DeepSpeed (runtime/comm/nccl.py, runtime/comm/mpi.py), which the 1-bit
// Adam and 1-bit LAMB papers describe.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns P.
std::int64_t one_bit_padded(std::int64_t entries, int workers);

/// A part of a flat vector that is compressed on its own, and the place of its padded form.
struct OneBitBuffer {
    std::int64_t offset;
    std::int64_t entries;
    std::int64_t padded_offset;
    std::int64_t padded;  // P
};

/// How a vector of a layout is cut into buffers for this many workers.
struct OneBitBuffers {
    LayoutPtr layout;
    int workers = 1;
    std::vector<OneBitBuffer> buffers;
    LayoutPtr padded;  // of all buffers, in sequence
};

/// Returns one buffer for all tensors.
OneBitBuffers fused_buffer(LayoutPtr layout, int workers);
/// Returns one buffer for each tensor.
OneBitBuffers buffer_per_tensor(LayoutPtr layout, int workers);

/// Returns s sgn(x + error), padded, for each buffer, and leaves the rest in `error`. Requires that
/// x has the size of the layout and `error` that of the padded layout.
Eigen::VectorXd one_bit_encode(const OneBitBuffers& cut, const Eigen::VectorXd& x,
                               Eigen::VectorXd& error);

/// The owners' part: returns the result without padding, formed from the mean of what all workers
/// encoded, and updates the owners' errors.
Eigen::VectorXd one_bit_reduce(const OneBitBuffers& cut, const Eigen::VectorXd& mean,
                               Eigen::VectorXd& owner_errors);

/// Returns the bytes of one worker's contribution before it is cut into chunks: P/8 and a scale of
/// 4 bytes for each buffer.
Bytes one_bit_bytes(const OneBitBuffers& cut);

}  // namespace paceline
