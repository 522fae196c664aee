#include "sim/numeric/elementary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <mpfr.h>

#include "sim/numeric/pair.hpp"

namespace paceline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

// A number of 300 bits: more than enough for any argument here, also next to a multiple of pi.
class Precise {
  public:
    explicit Precise(double x = 0) {
        mpfr_init2(value_, 300);
        mpfr_set_d(value_, x, MPFR_RNDN);
    }
    Precise(const Precise&) = delete;
    Precise& operator=(const Precise&) = delete;
    ~Precise() { mpfr_clear(value_); }

    [[nodiscard]] mpfr_ptr get() { return value_; }
    [[nodiscard]] double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

    /// Returns the distance of a double from this number, in units in the last place of a double.
    [[nodiscard]] double ulps_from(double x) const {
        if (std::isnan(x) || std::isinf(x) || std::isinf(to_double()))
            return x == to_double() ? 0 : infinity;
        Precise difference(x);
        mpfr_sub(difference.value_, difference.value_, value_, MPFR_RNDN);
        const auto exponent = mpfr_zero_p(value_) ? -1074 : mpfr_get_exp(value_) - 53;
        const long unit = std::max<long>(exponent, -1074);
        mpfr_mul_2si(difference.value_, difference.value_, -unit, MPFR_RNDN);
        return std::abs(difference.to_double());
    }

  private:
    mpfr_t value_;
};

using Ours = double (*)(double);
using Oracle = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);

// Arguments from `from` to `to`: evenly spread, or evenly over the doubles (of one sign).
struct Region {
    double from;
    double to;
    bool over_doubles = false;
};

double draw(const Region& region, std::mt19937_64& random) {
    const double share = std::ldexp(static_cast<double>(random() >> 11), -53);
    if (!region.over_doubles) return region.from + share * (region.to - region.from);
    const auto from = static_cast<double>(std::bit_cast<std::uint64_t>(std::abs(region.from)));
    const auto to = static_cast<double>(std::bit_cast<std::uint64_t>(std::abs(region.to)));
    const auto bits = static_cast<std::uint64_t>(from + share * (to - from)) ^ (random() & 0xfff);
    return std::copysign(std::bit_cast<double>(bits), region.to);
}

struct Function {
    std::string name;
    Ours ours;
    Oracle oracle;
    std::vector<Region> regions;
};

constexpr double least = 0x1p-1060;
constexpr double most_angle = 0x1p20;
const std::vector<Region> logarithm_regions{
    {least, largest, true}, {0.5, 2}, {0.99, 1.01}, {1 - 1e-6, 1 + 1e-6}, {smallest, 1e-300, true}};
const std::vector<Region> angle_regions{{-4, 4},
                                        {-most_angle, most_angle},
                                        {least, most_angle, true},
                                        {-least, -1, true},
                                        {1.5707963, 1.5707964},
                                        {3.1415926, 3.1415927},
                                        {355 - 1e-4, 355 + 1e-4}};

const std::vector<Function> functions{
    {"exp",
     &elementary::exp,
     &mpfr_exp,
     {{-746, 710}, {-1, 1}, {-746, -707}, {709, 710}, {least, 710, true}, {-1e-3, 1e-3}}},
    {"expm1",
     &elementary::expm1,
     &mpfr_expm1,
     {{-60, 710},
      {-1, 1},
      {-0.003, 0.003},
      {-0.0028, -0.0026},
      {least, 1, true},
      {-least, -1, true}}},
    {"log", &elementary::log, &mpfr_log, logarithm_regions},
    {"log2", &elementary::log2, &mpfr_log2, logarithm_regions},
    {"log10", &elementary::log10, &mpfr_log10, logarithm_regions},
    {"log1p",
     &elementary::log1p,
     &mpfr_log1p,
     {{-1, 1},
      {least, largest, true},
      {-least, -0.999, true},
      {-0.01, 0.01},
      {-1, -0.9999},
      {1e-17, 1e-11, true}}},
    {"tanh",
     &elementary::tanh,
     &mpfr_tanh,
     {{-25, 25}, {-1, 1}, {-0.002, 0.002}, {least, 30, true}, {-least, -30, true}}},
    {"sin", &elementary::sin, &mpfr_sin, angle_regions},
    {"cos", &elementary::cos, &mpfr_cos, angle_regions},
    {"tan", &elementary::tan, &mpfr_tan, angle_regions},
    {"erf", &elementary::erf, &mpfr_erf, {{-6.5, 6.5}, {-1, 1}, {1e-290, 7, true}}},
};

// Returns a hash of 100,000 results, over all regions in turn.
std::uint64_t fingerprint(const Function& function) {
    std::mt19937_64 random(2026);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < 100000; ++i) {
        const double x = draw(function.regions[i % function.regions.size()], random);
        hash = (hash ^ std::bit_cast<std::uint64_t>(function.ours(x))) * 0x100000001b3;
    }
    return hash;
}

bool is_the_nan(double x) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(no_number);
}

// Also distinguishes the signs of zeros.
bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("elementary functions: errors are below 0.51 units in the last place, by MPFR") {
    constexpr int each = 4000;
    for (const Function& function : functions) {
        CAPTURE(function.name);
        double worst = 0;
        double at = 0;
        for (std::size_t r = 0; r < function.regions.size(); ++r) {
            std::mt19937_64 random(r);
            for (int i = 0; i < each; ++i) {
                const double x = draw(function.regions[r], random);
                Precise exact(x);
                function.oracle(exact.get(), exact.get(), MPFR_RNDN);
                const double error = exact.ulps_from(function.ours(x));
                if (error <= worst) continue;
                worst = error;
                at = x;
            }
        }
        CAPTURE(at);
        MESSAGE(function.name << ": at most " << worst << " ulp");
        CHECK(worst < 0.51);
    }
}

// There sine or cosine is smallest, and its leading digits come from the last digits of pi.
TEST_CASE("elementary functions: angles next to a multiple of pi / 2 are reduced exactly enough") {
    constexpr Pair quarter{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    std::vector<std::pair<double, double>> nearest;  // distance from the multiple, angle
    for (int n = 1; n < 667'000; ++n) {
        const Pair multiple = times(quarter, {static_cast<double>(n), 0});
        nearest.emplace_back(std::abs(multiple.low), multiple.high);
    }
    std::ranges::sort(nearest);
    nearest.resize(300);
    for (const auto& [distance, x] : nearest)
        for (const Function& function : functions) {
            if (function.name != "sin" && function.name != "cos" && function.name != "tan")
                continue;
            CAPTURE(x);
            CAPTURE(function.name);
            Precise exact(x);
            function.oracle(exact.get(), exact.get(), MPFR_RNDN);
            REQUIRE(exact.ulps_from(function.ours(x)) < 0.51);
        }
}

TEST_CASE("elementary functions: the error of pow is below 0.51 units in the last place, by MPFR") {
    constexpr int each = 8000;
    const auto error_of = [](double x, double y) {
        Precise exact(x);
        Precise exponent(y);
        mpfr_pow(exact.get(), exact.get(), exponent.get(), MPFR_RNDN);
        return exact.ulps_from(elementary::pow(x, y));
    };
    // Each with the range of y log(x): over all powers, near overflow, below the normal numbers.
    const std::vector<Region> bases{{least, largest, true},
                                    {0.5, 2},
                                    {0.999, 1.001},
                                    {1 - 1e-12, 1 + 1e-12},
                                    {smallest, 1e-308, true}};
    const std::vector<Region> powers{{-745, 710}, {709.7, 709.79}, {-745.2, -708}, {-1e-3, 1e-3}};
    std::mt19937_64 random(1);
    double worst = 0;
    for (const Region& base : bases)
        for (const Region& power : powers)
            for (int i = 0; i < each; ++i) {
                const double x = draw(base, random);
                if (x == 1) continue;
                const double y = draw(power, random) / std::log(x);
                worst = std::max(worst, error_of(x, y));
            }
    MESSAGE("pow: at most " << worst << " ulp");
    CHECK(worst < 0.51);
}

TEST_CASE("elementary functions: a result that a double can hold is exact") {
    CHECK(elementary::exp(0) == 1);
    CHECK(elementary::log(1) == 0);
    CHECK(elementary::cos(0) == 1);
    double power_of_ten = 1;
    for (int n = 0; n <= 22; ++n, power_of_ten *= 10) {
        CHECK(elementary::pow(10, n) == power_of_ten);
        CHECK(elementary::log10(power_of_ten) == n);
    }
    for (int n = -1074; n < 1024; ++n) {
        CAPTURE(n);
        REQUIRE(elementary::pow(2, n) == std::ldexp(1, n));
        REQUIRE(elementary::log2(std::ldexp(1, n)) == n);
    }
    std::mt19937_64 random(3);
    for (int i = 0; i < 10000; ++i) {
        const auto x = static_cast<double>(random() >> 38);  // of 26 bits
        REQUIRE(elementary::pow(x, 2) == x * x);
        REQUIRE(elementary::pow(x * x, 0.5) == x);
        REQUIRE(elementary::pow(-x, 1) == -x);
    }
}

TEST_CASE("elementary functions: special cases are those of C") {
    using Of = double (*)(double);
    struct Case {
        Of ours;
        Of theirs;
    };
    const std::vector<Case> cases{
        {&elementary::exp, &std::exp},   {&elementary::expm1, &std::expm1},
        {&elementary::log, &std::log},   {&elementary::log1p, &std::log1p},
        {&elementary::log2, &std::log2}, {&elementary::log10, &std::log10},
        {&elementary::tanh, &std::tanh}, {&elementary::sin, &std::sin},
        {&elementary::cos, &std::cos},   {&elementary::tan, &std::tan},
        {&elementary::erf, &std::erf}};
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const double x : {0.0, -0.0, 1.0, -1.0, -2.0, infinity, -infinity, no_number, smallest,
                               -smallest, 0x1p-1022, -0x1p-1022}) {
            CAPTURE(i);
            CAPTURE(x);
            const double theirs = cases[i].theirs(x);
            const double ours = cases[i].ours(x);
            if (std::isnan(theirs))
                CHECK(is_the_nan(ours));
            else if (theirs == 0 || std::isinf(theirs) || theirs == x)
                CHECK(same_bits(ours, theirs));
            else
                CHECK(ours == doctest::Approx(theirs).epsilon(1e-15));
        }
    for (const double x : {1000.0, largest, 709.79}) CHECK(elementary::exp(x) == infinity);
    for (const double x : {-1000.0, -largest, -745.14}) CHECK(same_bits(elementary::exp(x), 0));
    for (const double x : {-1000.0, -largest, -40.0}) CHECK(elementary::expm1(x) == -1);
    for (const double x : {1000.0, largest, 710.0}) CHECK(elementary::expm1(x) == infinity);
    CHECK(elementary::tanh(-largest) == -1);
    CHECK(elementary::erf(largest) == 1);
    for (const double x : {largest, 0x1.00001p20}) CHECK_THROWS(elementary::sin(x));
}

TEST_CASE("elementary functions: special cases of pow are those of C") {
    const std::vector<double> values{0.0,         -0.0,      1.0,      -1.0,      0.5,
                                     -0.5,        2.0,       -2.0,     3.0,       -3.0,
                                     2.5,         -2.5,      1e300,    -1e300,    infinity,
                                     -infinity,   no_number, smallest, -smallest, 0x1p52 + 1,
                                     -0x1p52 - 1, 0x1p53,    -0x1p53,  largest,   -largest};
    for (const double x : values)
        for (const double y : values) {
            CAPTURE(x);
            CAPTURE(y);
            const double theirs = std::pow(x, y);
            const double ours = elementary::pow(x, y);
            if (std::isnan(theirs))
                CHECK(is_the_nan(ours));
            else if (theirs == 0 || std::isinf(theirs) || std::abs(theirs) == 1)
                CHECK(same_bits(ours, theirs));
            else
                CHECK(std::abs(ours - theirs) <= 1.2e-16 * 2 * std::abs(theirs));
        }
}

// Holds every compiler, instruction set and processor to the same bits.
TEST_CASE("elementary functions: 100,000 results of each have the bits they always had") {
    const std::vector<std::uint64_t> known{
        0xea7d4f45c2672cae, 0x328d4aea97373453, 0xb5d85fdc205acb40, 0xf685760d8d4f9b88,
        0x0ebbeffc4497c759, 0x576bd0ce433f9707, 0xcb7461a21a7c59b2, 0x57349c5c362125a5,
        0xb3a920dcfa447846, 0x5ca570a99e8a0d02, 0xac328d02f0ecbe2e, 0x879084cdb0c30dd1};
    REQUIRE(known.size() == functions.size() + 1);
    for (std::size_t i = 0; i < functions.size(); ++i) {
        CAPTURE(functions[i].name);
        CHECK(fingerprint(functions[i]) == known[i]);
    }
    std::mt19937_64 random(5);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < 100000; ++i) {
        const double x = draw({1e-30, 1e30, true}, random);
        const double y = draw({-15, 15}, random);
        hash = (hash ^ std::bit_cast<std::uint64_t>(elementary::pow(x, y))) * 0x100000001b3;
    }
    CAPTURE("pow");
    CHECK(hash == known.back());
}

}  // namespace paceline
