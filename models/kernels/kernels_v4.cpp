// The kernels for x86-64-v4: AVX-512, 512-bit registers.
#include "models/kernels/kernel_bodies.hpp"
#include "models/kernels/tables.hpp"

namespace paceline {

const KernelTables kernels_v4{make_kernels<float>(), make_kernels<double>()};

}  // namespace paceline
