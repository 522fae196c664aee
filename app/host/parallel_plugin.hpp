// The plugin paceline_tbb.so: oneTBB, which the program loads at the first loop that may run on
// several threads (models/tensors/parallel.hpp).
#pragma once

#include "models/tensors/parallel.hpp"

namespace paceline {

/// The type of the plugin's function paceline_thread_library.
using GetThreadLibrary = const ThreadLibrary*();

}  // namespace paceline
