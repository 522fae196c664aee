// The tables that the program holds, one for each instruction set that it was compiled for.
#pragma once

#include "models/kernels/kernels.hpp"

namespace paceline {

struct KernelTables {
    Kernels<float> single_precision;
    Kernels<double> double_precision;
};

#if defined(__x86_64__)
extern const KernelTables kernels_v3;
extern const KernelTables kernels_v4;
#else
extern const KernelTables kernels_baseline;
#endif

}  // namespace paceline
