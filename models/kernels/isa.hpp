// Which instruction set the kernels run on.
//
// The program is compiled for x86-64-v3, and its kernels for x86-64-v4 besides. The best that the
// processor has is chosen, unless the environment variable PACELINE_ISA names another, as
// "x86-64-v3". The choice changes speed and no result. On other architectures there is one
// instruction set, "baseline".
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

namespace paceline {

enum class Isa : std::uint8_t { baseline, x86_64_v3, x86_64_v4 };

/// As PACELINE_ISA spells it.
std::string_view name_of(Isa isa);

/// What this processor can run, in ascending order. Never empty.
std::span<const Isa> available_isas();

/// PACELINE_ISA names no instruction set, or one that this processor lacks.
class IsaError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the instruction set in use. The environment is read once, by the first call. Throws
/// IsaError.
Isa chosen_isa();

}  // namespace paceline
