// The number format that a device multiplies matrices in. A device has a peak in each format that
// it knows, and a throughput is measured in one.
//
//   fp32   ordinary units; what every device has
//   tf32   fp32 numbers, rounded to 10 bits of mantissa as they enter tensor cores, summed in fp32
//   fp16   16 bits, by mixed precision: parameters are kept in fp32
//   bf16   16 bits with the exponent of fp32; the same
//
// It decides how long a gradient takes, and nothing else: values are computed in fp32, and messages
// are as large as their codec makes them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace paceline {

enum class Precision { fp32, tf32, fp16, bf16 };

constexpr std::array<std::string_view, 4> precision_names{"fp32", "tf32", "fp16", "bf16"};

constexpr std::string_view name_of(Precision precision) {
    return precision_names[static_cast<std::size_t>(precision)];
}

}  // namespace paceline
