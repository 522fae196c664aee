// Error feedback: the part that a compressor leaves out of one message is added to the next vector.
//
//   p  <-  g + beta e
//   send C(p)
//   e  <-  p - decoded(C(p))          e = 0 at first;  beta = 1 unless a codec says so
//
// With beta = 1 everything sent so far plus e always equals the sum of all g (the telescoping
// identity). So a biased compressor loses nothing; it only delays. e has the units of its input:
// gradients, or steps gamma g. Mixing the two would cause a jump when gamma drops.
//
// Costs two passes over the entries (the sum, the difference). Does nothing without values.
// Sources: Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019; form: released code
// (epfml/error-feedback-SGD).
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

inline constexpr std::int64_t error_feedback_passes = 2;

/// Returns what receivers decode, and leaves the rest in e.
Vector compress_with_feedback(const Compressor& compressor, Vector g, Vector& e,
                              RandomStream& random, double beta = 1);

}  // namespace paceline
