// The kernels for the compiler's default, where paceline has no choice of instruction sets
// (AArch64, WebAssembly).
#include "models/kernels/kernel_bodies.hpp"
#include "models/kernels/tables.hpp"

namespace paceline {

const KernelTables kernels_baseline{make_kernels<float>(), make_kernels<double>()};

}  // namespace paceline
