// Error feedback: what a compressor leaves out of one message is added to the next vector.
//
//   p  <-  g + e
//   send C(p)
//   e  <-  p - decoded(C(p))          e = 0 at first
//
// What has been sent in all steps, and e, always add up to all g (the telescoping identity), so that
// a biased compressor loses nothing, it only delays. e has the units of what is given: of gradients,
// or of steps gamma g. Mixing the two at a drop of gamma would inject a jump.
//
// Costs two passes over the entries (the sum, the difference). Without values it does nothing.
// Sources: Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019; form: released code
// (epfml/error-feedback-SGD).
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

inline constexpr std::int64_t error_feedback_passes = 2;

/// Returns what receivers decode, and leaves the rest in e.
Vector compress_with_feedback(const Compressor& compressor, Vector g, Vector& e,
                              RandomStream& random);

}  // namespace paceline
