// What training keeps on a device, without activations, in closed form.
//
//   bytes  =  (2 w + c) N + 4 s N
//
//   N     parameters
//   w     bytes of a parameter and of an entry of the gradient, as they travel
//   c     4 bytes of a copy in fp32 if w < 4, as mixed precision needs; 0 otherwise
//   s     vectors in fp32 that the optimizer and the codec keep
//
//   optimizer                 s        codec                       s
//   SGD, with momentum        0, 1     error feedback              1
//   Adam, LAMB                2        low rank (PowerSGD)         1, the error; factors are not
//                                      counted
//   1-bit LAMB                3        one bit among n workers     1 + 1/n, errors of worker and
//                                      owner
//   DiLoCo                    4        DGC                         2, in place of the momentum
//
// DiLoCo's are Adam's two, the outer model and its momentum. What is sent, received and packed is
// not counted, nor what a library allocates beside.
//
// Source of w, c and Adam's s: Rajbhandari et al., "ZeRO", SC 2020, section 3: 16 bytes a parameter
// in mixed precision, 2 + 2 + 4 + 8. The rest are sums by hand over the state that each method's
// header lists.
#pragma once

#include <cstdint>

#include "algorithms/coders/codec.hpp"
#include "algorithms/runtime/kept_bytes.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the bytes on a device; the copy in fp32 counts as the optimizer's.
KeptBytes device_bytes(double kept, std::int64_t parameters, WireFormat wire);

/// Returns the vectors that a codec keeps among so many workers.
double kept_by_codec(const Codec& codec, int workers);

}  // namespace paceline
