#include "algorithms/compression/none.hpp"

namespace paceline {

Compressor make_none() {
    Compressor compressor;
    compressor.name = "none";
    compressor.combining = Combining::summable;
    compressor.unbiased = true;
    compressor.lossless = true;
    compressor.encode = 0;
    compressor.decode = 0;
    compressor.bits = [](const Tensor& tensor) { return 32 * tensor.entries(); };
    compressor.apply = [](std::span<double>, const Tensor&, RandomStream&) {};
    return compressor;
}

}  // namespace paceline
