// A compressor: what a vector becomes on the wire, tensor by tensor, and what receivers read there.
//
// A plain value, made by the functions of its own header (sparsifiers.hpp, qsgd.hpp, terngrad.hpp,
// signs.hpp, natural.hpp, half.hpp). Values never take a packed form: `apply` puts in place of a
// tensor what receivers decode, and `bits` says what the packed form weighs. The bits of a vector
// are those of its tensors, and a message is ceil(bits / 8) bytes. They depend on the layout alone.
//
//   aggregation  summable   the sum of messages is a message of the same size: an all-reduce
//                gathered   it is not: everybody gets the messages of all, and decodes each
//   unbiased     E[decoded] = x over the draws
//
// Coding takes `encode` passes over the entries of the vector, and `decode` passes over the entries
// that a message holds, for each message (coding.hpp). The numbers of passes are counted here from
// what must be read and written; they come from no source.
//
// All of this is local arithmetic: `apply` is called by several threads at once, and its draws come
// from the stream that it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "algorithms/compression/coding.hpp"
#include "models/vector.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

enum class Aggregation : std::uint8_t { summable, gathered };

struct Compressor {
    std::string name;
    Aggregation aggregation = Aggregation::gathered;
    bool unbiased = false;
    bool draws_alike = false;  // all workers must draw the same: positions travel with no message
    std::int64_t encode = 1;   // passes
    std::int64_t decode = 1;   // passes, per message
    /// Of a tensor of so many entries: what it weighs, and how many of them a message holds.
    std::function<std::int64_t(std::int64_t entries)> bits;
    std::function<std::int64_t(std::int64_t entries)> held = [](std::int64_t d) { return d; };
    std::function<void(std::span<double> tensor, RandomStream& random)> apply;
};

std::int64_t message_bits(const Compressor& compressor, const Layout& layout);
Bytes message_bytes(const Compressor& compressor, const Layout& layout);

/// Puts in place of x what receivers decode. Does nothing to a vector without values.
void compress(const Compressor& compressor, Vector& x, RandomStream& random);

/// Of `extra` passes more than the compressor makes.
Duration encoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t extra = 0);
Duration decoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t messages);

}  // namespace paceline
