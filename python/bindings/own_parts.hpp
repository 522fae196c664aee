// Finds what is written in Python for the readers of scenarios: methods, problems, codecs, mixings.
#pragma once

#include "app/json/sources.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// Returns how to find parts by name: by calling `find(sort, kind, file)` of Python, which returns
/// an object of that sort (paceline._own), or None if the kind names none, or a text that says what
/// is wrong. `file` is the name of the scenario. Requires the GIL, here but not later.
OwnParts parts_of_python(py::object find);

}  // namespace paceline::python
