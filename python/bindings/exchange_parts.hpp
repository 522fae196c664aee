// Codecs and mixings that are written in Python (python/paceline/_exchange.py).
#pragma once

#include <memory>

#include "app/scenario/algorithms/own_codec.hpp"
#include "app/scenario/mixings/own_mixing.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// Returns the codec of a paceline._exchange.Codec. Requires the GIL.
std::shared_ptr<const OwnCodec> own_codec(const py::object& described);

/// Returns the mixing of a paceline._exchange.Mixing. Requires the GIL.
std::shared_ptr<const OwnMixing> own_mixing(const py::object& described);

}  // namespace paceline::python
