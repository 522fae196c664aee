#include "sim/numeric/elementary.hpp"

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/engine/check.hpp"
#include "sim/numeric/pair.hpp"

namespace paceline::elementary {

namespace {

static_assert(FLT_EVAL_METHOD == 0, "doubles are rounded to doubles after every operation");

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

constexpr Pair ln_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr Pair one_over_ln_2{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr Pair one_over_ln_10{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr Pair two_over_root_pi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

// Below this magnitude f(x) = x (1 + c x^2) rounds to x within 0.02 units in the last place.
constexpr double tiny = 0x1p-29;

// Returns a multiple of 2^-fraction_bits near x. Requires |x| < 2^(51 - fraction_bits).
constexpr double to_multiple(double x, int fraction_bits) {
    const double shift = 1.5 * static_cast<double>(std::uint64_t{1} << (52 - fraction_bits));
    return (x + shift) - shift;
}

// Returns the integer nearest to x. Requires |x| < 2^31.
int nearest(double x) {
    return static_cast<int>(to_multiple(x, 0));
}

// Requires that the result is a normal number.
double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double rounded(Pair x) {
    return x.high + x.low;
}

Pair negative(Pair x) {
    return {-x.high, -x.low};
}

// --- tables, computed by the compiler ---

// Returns the sum of x^n / n! over n = first, first + 2, .. with alternating signs, or over all n
// from 1 on.
constexpr Pair taylor(Pair x, int first, int step, bool alternates) {
    Pair term{1, 0};
    for (int n = 1; n <= first; ++n) term = over(times(term, x), {static_cast<double>(n), 0});
    Pair sum = term;
    for (int n = first; n < 30;) {
        for (int i = 0; i < step; ++i) term = over(times(term, x), {static_cast<double>(++n), 0});
        if (alternates) term = {-term.high, -term.low};
        sum = plus(sum, term);
    }
    return sum;
}

constexpr int steps_to_double = 128;

// 2^(j / 128)
constexpr auto powers = [] {
    const Pair step{ln_2.high / steps_to_double, ln_2.low / steps_to_double};
    const Pair ratio = taylor(step, 0, 1, false);
    std::array<Pair, steps_to_double> table{};
    table[0] = {1, 0};
    for (std::size_t j = 1; j < table.size(); ++j) table[j] = times(table[j - 1], ratio);
    return table;
}();

// -log(q / 128) for q in [90, 182]. High parts are multiples of 2^-42, so that sums with k ln(2)
// are exact.
constexpr int least_q = 90;
constexpr int most_q = 182;
constexpr int exact_bits = 42;

constexpr Pair with_exact_front(Pair x) {
    const double front = to_multiple(x.high, exact_bits);
    return {front, (x.high - front) + x.low};
}

constexpr auto logarithms = [] {
    std::array<Pair, most_q - least_q + 1> table{};
    for (int q = least_q; q <= most_q; ++q) {
        // log(128 / q) = 2 artanh(u), u = (128 - q) / (128 + q)
        const Pair u = over({128.0 - q, 0}, {128.0 + q, 0});
        const Pair square = times(u, u);
        Pair power = u;
        Pair sum = u;
        for (int n = 3; n < 48; n += 2) {
            power = times(power, square);
            sum = plus(sum, over(power, {static_cast<double>(n), 0}));
        }
        table[static_cast<std::size_t>(q - least_q)] =
            with_exact_front({2 * sum.high, 2 * sum.low});
    }
    return table;
}();
constexpr Pair ln_2_parts = with_exact_front(ln_2);

// sin(j / 64) and cos(j / 64) up to a little more than pi / 4
struct Turn {
    Pair sine;
    Pair cosine;
};
constexpr double turns_per_radian = 64;
constexpr auto turns = [] {
    std::array<Turn, 52> table{};
    for (std::size_t j = 0; j < table.size(); ++j) {
        const Pair angle{static_cast<double>(j) / turns_per_radian, 0};
        table[j] = {taylor(angle, 1, 2, true), taylor(angle, 0, 2, true)};
    }
    return table;
}();

// --- exponentials ---

// ln(2) / 128 in two parts: 35 bits, whose product with an 18-bit integer is exact, and the rest.
constexpr double step_front = to_multiple(ln_2.high / steps_to_double, 42);
constexpr double step_rest =
    (ln_2.high / steps_to_double - step_front) + ln_2.low / steps_to_double;
constexpr double steps_per_unit = steps_to_double * one_over_ln_2.high;

// Returns e^r - 1 with relative error 2^-70. Requires |r| < 0.003. The low part is at most 2^-27 of
// the high one.
Pair small_expm1(Pair r) {
    const double x = r.high;
    const Pair half_square = two_product(x / 2, x);
    const double cubic = 1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x / 5040)));
    const Pair sum = ordered_two_sum(x, half_square.high);
    const double rest = half_square.low + x * x * x * cubic + (r.low + r.low * x);
    return {sum.high, sum.low + rest};
}

// 2^exponent times a value in [0.99, 2.01].
struct Scaled {
    Pair value;
    int exponent;
};

// Returns e^x with relative error 2^-77. Requires |x| < 800.
Scaled exponential(Pair x) {
    const int steps = nearest(x.high * steps_per_unit);
    const double n = steps;
    const Pair r = two_sum(x.high - n * step_front, x.low - n * step_rest);
    const Pair e = small_expm1(r);
    const auto j = static_cast<unsigned>(steps) % steps_to_double;
    const Pair& t = powers[j];
    const Pair product = two_product(t.high, e.high);
    const Pair sum = ordered_two_sum(t.high, product.high);
    const double rest = product.low + (t.high * e.low + t.low * e.high) + t.low;
    return {ordered_two_sum(sum.high, sum.low + rest),
            (steps - static_cast<int>(j)) / steps_to_double};
}

// Returns the value rounded once, even if the result is subnormal.
double rounded(Scaled x) {
    if (x.exponent > -1020) return rounded(x.value) * power_of_two(x.exponent - 1) * 2;
    constexpr int up = 200;
    const double scale = power_of_two(x.exponent + up);
    const double least_normal = power_of_two(-1022 - x.exponent);  // in units of the scale
    if (x.value.high >= least_normal) return x.value.high * scale * power_of_two(-up);
    // Between the least normal number and twice that, the spacing is that of subnormal numbers.
    const Pair sum = two_sum(least_normal, x.value.high);
    const double shifted = sum.high + (sum.low + x.value.low);
    return (shifted - least_normal) * scale * power_of_two(-up);
}

// Returns e^x - 1 with relative error 2^-68. Requires |x| < 60.
Pair expm1_pair(double x) {
    if (std::abs(x) < 0.0027) {
        const Pair e = small_expm1({x, 0});
        return ordered_two_sum(e.high, e.low);
    }
    const Scaled e = exponential({x, 0});
    const double scale = power_of_two(e.exponent);
    const Pair difference = two_sum(e.value.high * scale, -1);
    return ordered_two_sum(difference.high, difference.low + e.value.low * scale);
}

// --- logarithms ---

// Returns log(x) with relative error 2^-68. Requires x finite and above 0.
Pair logarithm(double x) {
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    k += static_cast<int>(bits >> 52) - 1023;
    double z = std::bit_cast<double>((bits & fraction) | std::bit_cast<std::uint64_t>(1.0));
    if (z > 1.41421356) {
        z /= 2;
        ++k;
    }
    const double q = to_multiple(128 / z, 0);
    const double r = fused(z, q / 128, -1);  // exact
    const Pair half_square = two_product(r / 2, r);
    const double cubic =
        1.0 / 3 -
        r * (1.0 / 4 -
             r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8 - r * (1.0 / 9))))));
    const Pair& entry = logarithms[static_cast<std::size_t>(q) - least_q];
    const double base = k * ln_2_parts.high + entry.high;  // exact
    const double base_rest = k * ln_2_parts.low + entry.low;
    const Pair first = two_sum(base, r);
    const Pair second = two_sum(first.high, -half_square.high);
    const double rest = r * r * r * cubic - half_square.low;
    return ordered_two_sum(second.high, (first.low + second.low) + (base_rest + rest));
}

// Returns whether x is a special case of all logarithms: 0, negative, infinite or NaN.
bool is_special(double x) {
    return !(x > 0 && x < infinity);
}

double special_logarithm(double x) {
    if (x == 0) return -infinity;
    return x > 0 ? infinity : no_number;
}

// --- powers ---

bool is_integer(double y) {
    return std::abs(y) >= 0x1p53 || y == std::floor(y);
}

bool is_odd(double y) {
    return is_integer(y) && std::abs(y) < 0x1p53 && !is_integer(y / 2);
}

// Returns |x|^y if x or y is 0 or infinite, and |x| is not 1.
double special_power(double magnitude, double y) {
    const bool grows = (magnitude > 1) == (y > 0);
    return grows ? infinity : 0;
}

// Requires that both are finite and magnitude > 0.
double power_of_magnitude(double magnitude, double y) {
    const Pair l = logarithm(magnitude);
    const double product = y * l.high;
    if (product > 720) return infinity;
    if (product < -760) return 0;
    const double rest = fused(y, l.high, -product) + y * l.low;
    return rounded(exponential(ordered_two_sum(product, rest)));
}

// --- angles ---

// pi / 2 in three parts of 33 bits, whose products with a 20-bit integer are exact, plus the rest.
constexpr double quarter_1 = 0x1.921fb54400000p+0;
constexpr double quarter_2 = 0x1.0b4611a600000p-34;
constexpr double quarter_3 = 0x1.3198a2e000000p-69;
constexpr double quarter_4 = 0x1.b839a252049c1p-104;
constexpr double quarters_per_radian = 0x1.45f306dc9c883p-1;
constexpr double greatest_angle = 0x1p20;

// x = quarters pi/2 + rest; |rest| <= pi/4 up to rounding, with an error of about 2^-130.
struct Angle {
    unsigned quarters;
    Pair rest;
};

Angle reduced(double x) {
    PACELINE_CHECK(std::abs(x) <= greatest_angle, "an angle is at most 2^20");
    const int quarters = nearest(x * quarters_per_radian);
    const double n = quarters;
    const Pair second = two_sum(x - n * quarter_1, -n * quarter_2);
    const Pair third = two_sum(second.high, -n * quarter_3);
    const double low = (second.low + third.low) - n * quarter_4;
    return {static_cast<unsigned>(quarters), two_sum(third.high, low)};
}

// Returns the sine or cosine of a + d for an a in the table: first + other sin(d) - first (1 -
// cos(d)).
Pair turned(Pair first, Pair other, Pair d) {
    const double x = d.high;
    const double square = x * x;
    const double sine_rest =
        d.low - x * square * (1.0 / 6 - square * (1.0 / 120 - square * (1.0 / 5040)));
    const double versine =
        square * (0.5 - square * (1.0 / 24 - square * (1.0 / 720 - square * (1.0 / 40320)))) +
        x * d.low;
    const Pair product = two_product(other.high, x);
    const Pair sum = two_sum(first.high, product.high);
    const double rest = (product.low + (other.high * sine_rest + other.low * x)) +
                        (first.low - first.high * versine);
    return two_sum(sum.high, sum.low + rest);
}

// Returns the sine of an angle plus `more_quarters` quarters of a circle.
Pair sine(Angle angle, unsigned more_quarters) {
    const bool is_negative = angle.rest.high < 0;
    const Pair r = is_negative ? negative(angle.rest) : angle.rest;
    const double j = to_multiple(r.high * turns_per_radian, 0);
    const Turn& turn = turns[static_cast<std::size_t>(j)];
    const Pair d = two_sum(r.high - j / turns_per_radian, r.low);
    const unsigned quarters = angle.quarters + more_quarters;
    const bool of_cosine = quarters % 2 == 1;
    const Pair value =
        of_cosine ? turned(turn.cosine, negative(turn.sine), d) : turned(turn.sine, turn.cosine, d);
    const bool flips = (quarters % 4 >= 2) != (is_negative && !of_cosine);
    return flips ? negative(value) : value;
}

}  // namespace

double exp(double x) {
    if (!(std::abs(x) < 746)) {
        if (x != x) return no_number;
        return x > 0 ? infinity : 0;
    }
    return rounded(exponential({x, 0}));
}

double expm1(double x) {
    if (x != x) return no_number;
    if (x > 50) return exp(x);
    if (x < -50) return -1;
    if (std::abs(x) < 0x1p-54) return x;
    return rounded(expm1_pair(x));
}

double log(double x) {
    return is_special(x) ? special_logarithm(x) : rounded(logarithm(x));
}

double log1p(double x) {
    if (!(x > -1 && x < infinity)) return special_logarithm(x + 1);
    if (std::abs(x) < 0x1p-40) return fused(-x / 2, x, x);
    // log(s + e) = log(s) + e / s - .., as (e / s)^2 < 2^-106
    const Pair sum = two_sum(1, x);
    const Pair l = logarithm(sum.high);
    const Pair whole = two_sum(l.high, sum.low / sum.high);
    return whole.high + (whole.low + l.low);
}

double log2(double x) {
    return is_special(x) ? special_logarithm(x) : rounded(times(logarithm(x), one_over_ln_2));
}

double log10(double x) {
    return is_special(x) ? special_logarithm(x) : rounded(times(logarithm(x), one_over_ln_10));
}

double pow(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return no_number;
    const double magnitude = std::abs(x);
    if (magnitude == 1 && (std::abs(y) == infinity || !is_odd(y)))
        return std::abs(y) == infinity || is_integer(y) ? 1 : no_number;
    const bool is_finite = magnitude < infinity && std::abs(y) < infinity;
    if (x < 0 && is_finite && !is_integer(y)) return no_number;
    const double power =
        is_finite && magnitude > 0 ? power_of_magnitude(magnitude, y) : special_power(magnitude, y);
    return std::signbit(x) && is_odd(y) ? -power : power;
}

double tanh(double x) {
    if (x != x) return no_number;
    const double magnitude = std::abs(x);
    if (magnitude < tiny) return x;
    if (magnitude > 22) return std::copysign(1, x);
    const Pair e = expm1_pair(2 * magnitude);
    const Pair below = two_sum(2, e.high);
    return std::copysign(rounded(over(e, {below.high, below.low + e.low})), x);
}

double sin(double x) {
    if (!(std::abs(x) < infinity)) return no_number;
    if (std::abs(x) < tiny) return x;
    return rounded(sine(reduced(x), 0));
}

double cos(double x) {
    if (!(std::abs(x) < infinity)) return no_number;
    return rounded(sine(reduced(x), 1));
}

double tan(double x) {
    if (!(std::abs(x) < infinity)) return no_number;
    if (std::abs(x) < tiny) return x;
    const Angle angle = reduced(x);
    return rounded(over(sine(angle, 0), sine(angle, 1)));
}

double erf(double x) {
    if (x != x) return no_number;
    const double magnitude = std::abs(x);
    if (magnitude > 6) return std::copysign(1, x);
    if (magnitude < tiny) return fused(x, two_over_root_pi.high, x * two_over_root_pi.low);
    const Pair square = two_product(magnitude, magnitude);
    Pair term{magnitude, 0};
    Pair sum = term;
    for (int n = 3; term.high > sum.high * 0x1p-70; n += 2) {
        term = over(times(term, {2 * square.high, 2 * square.low}), {static_cast<double>(n), 0});
        sum = plus(sum, term);
    }
    const Scaled e = exponential(negative(square));
    const double scale = power_of_two(e.exponent);
    const Pair density = times(two_over_root_pi, {e.value.high * scale, e.value.low * scale});
    return std::copysign(rounded(times(sum, density)), x);
}

}  // namespace paceline::elementary
