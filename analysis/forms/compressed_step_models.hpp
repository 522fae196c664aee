// What the closed forms of all compressing methods share. Methods that exchange have the forms of
// exchanges (exchange_forms.hpp), CHOCO-SGD those of choco_forms.hpp.
#pragma once

#include "algorithms/compression/compressor.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the bytes of a packed vector: the bits of its tensors, rounded up once.
Bytes form_of_packed(const Compressor& compressor, const Layout& layout);

}  // namespace paceline
