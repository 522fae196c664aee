// A compressor: how a vector is packed for the wire, tensor by tensor, and what receivers decode.
//
// A plain value, made by the functions of its own header (sparsifiers.hpp, qsgd.hpp, terngrad.hpp,
// signs.hpp, natural.hpp, half.hpp). Values are never actually packed: `apply` replaces a tensor by
// what receivers decode, and `bits` returns the size of the packed form. The bits of a vector are
// the sum over its tensors, and a message is ceil(bits / 8) bytes. Sizes depend only on the layout.
//
//   aggregation  summable   the sum of messages is a message of the same size: an all-reduce
//                gathered   it is not: every worker receives all messages and decodes each
//   unbiased     E[decoded] = x over the draws
//
// Coding takes `encode` passes over the entries of the vector, and for each message `decode` passes
// over the entries that it holds (coding.hpp). The numbers of passes are this project's count of
// what must be read and written; they come from no source.
//
// All of this is local arithmetic: several threads call `apply` at once, and each call draws from
// the stream that it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "algorithms/compression/coding.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

enum class Aggregation : std::uint8_t { summable, gathered };

struct Compressor {
    std::string name;
    Aggregation aggregation = Aggregation::gathered;
    bool unbiased = false;
    bool draws_alike = false;  // all workers must draw the same; positions need no message
    std::int64_t encode = 1;   // passes
    std::int64_t decode = 1;   // passes, per message
    /// For a tensor with this many entries: the size of a message, and how many entries it holds.
    std::function<std::int64_t(std::int64_t entries)> bits;
    std::function<std::int64_t(std::int64_t entries)> held = [](std::int64_t d) { return d; };
    std::function<void(std::span<double> tensor, RandomStream& random)> apply;
};

std::int64_t message_bits(const Compressor& compressor, const Layout& layout);
Bytes message_bytes(const Compressor& compressor, const Layout& layout);

/// Replaces x by what receivers decode. Does nothing to a vector without values.
void compress(const Compressor& compressor, Vector& x, RandomStream& random);

/// Returns the time of the compressor's passes plus `extra` passes.
Duration encoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t extra = 0);
Duration decoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t messages);

}  // namespace paceline
