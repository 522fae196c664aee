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
// Tensors that are left out (models/tensors/layout.hpp) pass unchanged, at 32 bits an entry.
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

enum class Combining : std::uint8_t { summable, gathered };

struct Compressor {
    std::string name;
    Combining combining = Combining::gathered;
    bool unbiased = false;
    bool draws_alike = false;  // all workers must draw the same; positions need no message
    std::int64_t encode = 1;   // passes
    std::int64_t decode = 1;   // passes, per message
    bool lossless = false;     // decoded messages are what was sent, in the wire format
    bool majority = false;     // the aggregate is the vote of signs (coders/majority_vote.hpp)
    bool of_senders = false;   // or the mean of an entry's senders (coders/mean_of_senders.hpp)
    bool brought = false;      // by the caller; none of the table
    int entry_bits = 0;        // of each entry of a tensor; 0: not all of them are sent alike
    /// For a tensor: the size of a message, how many entries it holds, and the size of an exact sum
    /// of n messages (null: that of one).
    std::function<std::int64_t(const Tensor&)> bits;
    std::function<std::int64_t(const Tensor&)> held = [](const Tensor& t) { return t.entries(); };
    std::function<std::int64_t(const Tensor&, int n)> bits_of_sum{};
    std::function<void(std::span<double> tensor, const Tensor&, RandomStream& random)> apply;
    /// If workers share a scaler per tensor: returns a worker's own, which is >= 0; and rounds to
    /// multiples of the one that all use. `apply` is then the two with the worker's own.
    std::function<double(std::span<const double> tensor)> scaler{};
    std::function<void(std::span<double> tensor, double scaler, RandomStream& random)>
        apply_scaled{};
};

std::int64_t message_bits(const Compressor& compressor, const Layout& layout);
Bytes message_bytes(const Compressor& compressor, const Layout& layout);
/// Returns the bytes of an exact sum of n messages. Requires summable ones.
Bytes sum_bytes(const Compressor& compressor, const Layout& layout, int n);

/// Replaces x by what receivers decode. Does nothing to a vector without values.
void compress(const Compressor& compressor, Vector& x, RandomStream& random);

/// Returns the time of the compressor's passes plus `extra` passes, or what was measured.
Duration encoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t extra = 0);
Duration decoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t messages);

}  // namespace paceline
