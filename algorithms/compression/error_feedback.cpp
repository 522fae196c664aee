#include "algorithms/compression/error_feedback.hpp"

#include <utility>

namespace paceline {

Vector compress_with_feedback(const Compressor& compressor, Vector g, Vector& e,
                              RandomStream& random, double beta) {
    if (beta != 1) e = beta * std::move(e);
    Vector p = std::move(g) + e;
    Vector decoded = p;
    compress(compressor, decoded, random);
    e = std::move(p) - decoded;
    return decoded;
}

}  // namespace paceline
