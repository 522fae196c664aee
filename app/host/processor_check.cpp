// Reports a processor without AVX2 and FMA in one line and exits, before any code needs them.
//
// Everything else is compiled for x86-64-v3, including the initializers of static objects. This
// file is therefore compiled for plain x86-64, and its check is placed in .preinit_array, which the
// loader runs before any initializer. It makes only system calls, because the C++ library cannot be
// used yet.
#if defined(__x86_64__) && defined(__ELF__)

#include <cstdint>

#include <cpuid.h>
#include <unistd.h>

namespace {

struct Registers {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
};

Registers cpuid(unsigned leaf) {
    Registers r;
    if (__get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d) == 0) return {};
    return r;
}

bool all(unsigned bits, unsigned wanted) {
    return (bits & wanted) == wanted;
}

// Returns whether the system saves the SSE and AVX registers when it switches between processes.
bool saves_avx_registers() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return all(low, 6);
}

bool runs_x86_64_v3() {
    constexpr unsigned lzcnt = 1U << 5U;
    const Registers first = cpuid(1);
    if (!all(first.c, bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C)) return false;
    return all(cpuid(7).b, bit_AVX2 | bit_BMI | bit_BMI2) && all(cpuid(0x80000001).c, lzcnt) &&
           saves_avx_registers();
}

void check_processor() {
    if (runs_x86_64_v3()) return;
    constexpr char message[] =
        "paceline: this processor cannot run it: x86-64-v3 is needed, that is AVX2, FMA and BMI "
        "(processors from "
        "2013 on)\n";
    const auto written = write(STDERR_FILENO, message, sizeof message - 1);
    static_cast<void>(written);  // there is nowhere else to report to
    _exit(2);
}

__attribute__((section(".preinit_array"), used)) void (*const checked_first)() = &check_processor;

}  // namespace

#endif
