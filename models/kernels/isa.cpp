#include "models/kernels/isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "models/kernels/tables.hpp"

namespace paceline {

namespace {

#if defined(__x86_64__)
constexpr Isa known[] = {Isa::x86_64_v3, Isa::x86_64_v4};

// What is compiled for v4 may use all of these; v3 was checked before main
// (app/host/processor_check.cpp).
bool has_v4() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0;
}

std::size_t count_available() {
    return has_v4() ? 2 : 1;
}
#else
constexpr Isa known[] = {Isa::baseline};

std::size_t count_available() {
    return 1;
}
#endif

std::string listed(std::span<const Isa> isas) {
    std::string all;
    for (const Isa isa : isas) all += (all.empty() ? "" : " and ") + std::string(name_of(isa));
    return all;
}

Isa choose() {
    const std::span<const Isa> available = available_isas();
    const char* wanted =
        std::getenv("PACELINE_ISA");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (wanted == nullptr || *wanted == '\0') return available.back();
    const auto found =
        std::ranges::find_if(available, [&](Isa isa) { return name_of(isa) == wanted; });
    if (found != available.end()) return *found;
    const bool lacking =
        std::ranges::any_of(known, [&](Isa isa) { return name_of(isa) == wanted; });
    throw IsaError("PACELINE_ISA: " +
                   (lacking ? "this processor cannot run " + std::string(wanted)
                            : "there is no instruction set '" + std::string(wanted) + "'") +
                   "; it can be " + listed(available));
}

}  // namespace

std::string_view name_of(Isa isa) {
    switch (isa) {
        case Isa::baseline:
            return "baseline";
        case Isa::x86_64_v3:
            return "x86-64-v3";
        case Isa::x86_64_v4:
            return "x86-64-v4";
    }
    return "";
}

std::span<const Isa> available_isas() {
    static const std::size_t count = count_available();
    return std::span(known).first(count);
}

Isa chosen_isa() {
    static const Isa chosen = choose();
    return chosen;
}

namespace {

const KernelTables& chosen_tables() {
#if defined(__x86_64__)
    static const KernelTables& tables = chosen_isa() == Isa::x86_64_v4 ? kernels_v4 : kernels_v3;
    return tables;
#else
    return kernels_baseline;
#endif
}

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
    return chosen_tables().single_precision;
}

template <>
const Kernels<double>& kernels<double>() {
    return chosen_tables().double_precision;
}

}  // namespace paceline
