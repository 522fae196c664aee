// The kernels for x86-64-v3: AVX2 and FMA, 256-bit registers.
#include "models/kernels/kernel_bodies.hpp"
#include "models/kernels/tables.hpp"

namespace paceline {

const KernelTables kernels_v3{make_kernels<float>(), make_kernels<double>()};

}  // namespace paceline
