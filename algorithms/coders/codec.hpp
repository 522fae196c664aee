// What is sent of a vector: a codec, with its memory, as an exchange uses it.
//
//   compressor   messages of a size that the layout tells; summable or gathered
//                (compression/compressor.hpp)
//   low rank     PowerSGD's two factors, each a sum (compression/low_rank.hpp)
//   dgc          the largest accumulated entries, whose supports unite (dgc_options.hpp)
//   one bit      DeepSpeed's buffers of signs, with errors of workers and owners
//                (compression/one_bit.hpp)
//
// A piece weighs what its codec says of the charged tensors in it, one by one.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "algorithms/coders/dgc_options.hpp"
#include "algorithms/compression/coding.hpp"
#include "algorithms/compression/compressor.hpp"
#include "algorithms/compression/none.hpp"
#include "models/tensors/layout.hpp"

namespace paceline {

struct LowRankCodec {
    std::int64_t rank = 2;
};

struct OneBitCodec {
    bool fused = false;  // one buffer for the whole piece, not one per tensor
};

struct Codec {
    std::variant<Compressor, LowRankCodec, DgcOptions, OneBitCodec> coder = make_none();
    bool error_feedback = false;  // of a compressor
    CodingCost coding{};
    std::vector<TensorChoice> leave_out{};  // tensors that are sent as they are
    double error_decay = 1;                 // beta (compression/error_feedback.hpp)
};

}  // namespace paceline
