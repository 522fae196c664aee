#include "models/kernels/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <mpfr.h>

#include "models/kernels/isa.hpp"
#include "models/kernels/tables.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::kernels_test {
namespace {

template <class Scalar>
struct Named {
    std::string isa;
    Kernels<Scalar> kernels;
};

// Every table that this processor can run, regardless of PACELINE_ISA.
template <class Scalar>
std::vector<Named<Scalar>> all_tables() {
    std::vector<Named<Scalar>> all;
    for (const Isa isa : available_isas()) {
#if defined(__x86_64__)
        const KernelTables& tables = isa == Isa::x86_64_v4 ? kernels_v4 : kernels_v3;
#else
        const KernelTables& tables = kernels_baseline;
#endif
        if constexpr (std::is_same_v<Scalar, float>)
            all.push_back({std::string(name_of(isa)), tables.single_precision});
        else
            all.push_back({std::string(name_of(isa)), tables.double_precision});
    }
    return all;
}

template <class Scalar>
std::vector<Scalar> random_numbers(RandomStream& random, Index count, double deviation = 1) {
    const Eigen::VectorXd drawn = random_point(random, count, deviation);
    std::vector<Scalar> all(static_cast<std::size_t>(count));
    std::ranges::transform(drawn, all.begin(), [](double x) { return static_cast<Scalar>(x); });
    return all;
}

// Bitwise equality: 0 is not -0. Any NaN equals any other.
template <class Scalar>
bool same(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
    using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
    return std::ranges::equal(a, b, [](Scalar x, Scalar y) {
        return (std::isnan(x) && std::isnan(y)) || std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y);
    });
}

// Lane i adds lane i + 16, then i + 8, 4, 2, 1 (the order that kernels.hpp fixes).
template <class Scalar>
Scalar fold(std::vector<Scalar> lanes) {
    for (std::size_t half = lanes.size() / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

// Calls run(kernels) for every table and requires that all give the same numbers as the first.
template <class Scalar, class Run>
void require_same_everywhere(Run run) {
    const std::vector<Named<Scalar>> tables = all_tables<Scalar>();
    const std::vector<Scalar> first = run(tables.front().kernels);
    for (const Named<Scalar>& table : tables) {
        CAPTURE(table.isa);
        REQUIRE(same(run(table.kernels), first));
    }
}

TEST_CASE_TEMPLATE("kernels: an entry of a product is fused multiply-adds in order of k", Scalar,
                   float, double) {
    RandomStream random = RandomStreams(1).stream("kernels");
    for (const Index rows : {1, 5, 12, 13, 30})
        for (const Index columns : {1, 15, 16, 32, 47, 70})
            for (const Index depth : {1, 63, 64, 65, 130}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(depth);
                const auto a = random_numbers<Scalar>(random, rows * depth);
                const auto b = random_numbers<Scalar>(random, depth * columns);
                const auto bias = random_numbers<Scalar>(random, rows);
                std::vector<Scalar> expected;
                for (Index i = 0; i < rows; ++i)
                    for (Index j = 0; j < columns; ++j) {
                        Scalar sum = bias[static_cast<std::size_t>(i)];
                        for (Index k = 0; k < depth; ++k)
                            sum = std::fma(a[static_cast<std::size_t>(i * depth + k)],
                                           b[static_cast<std::size_t>(k * columns + j)], sum);
                        expected.push_back(sum < 0 ? 0 : sum);
                    }
                for (const Named<Scalar>& table : all_tables<Scalar>()) {
                    CAPTURE(table.isa);
                    std::vector<Scalar> c(expected.size());
                    table.kernels.multiply(
                        rows, columns, depth, {a.data(), depth, 1}, b.data(), columns, c.data(),
                        columns,
                        {.start = Start::bias, .bias = bias.data(), .finish = Finish::relu});
                    REQUIRE(same(c, expected));
                }
            }
}

TEST_CASE_TEMPLATE("kernels: a correlation adds pixel by pixel in 16 lanes and folds them", Scalar,
                   float, double) {
    RandomStream random = RandomStreams(2).stream("kernels");
    constexpr Index height = 3;
    constexpr Index width = 5;
    constexpr Index row = (width + 2) * panel_lanes;
    constexpr Index plane = (height + 2) * row;
    for (const Index rows : {1, 2, 3, 4}) {
        const auto d = random_numbers<Scalar>(random, rows * plane);
        const auto x = random_numbers<Scalar>(random, plane);
        std::vector<Scalar> expected;
        for (Index o = 0; o < rows; ++o)
            for (Index tap = 0; tap < 9; ++tap) {
                std::vector<Scalar> sums(16, 0);
                for (Index y = 0; y < height; ++y)
                    for (Index column = 0; column < width; ++column)
                        for (Index lane = 0; lane < panel_lanes; ++lane) {
                            const Index here =
                                o * plane + (y + 1) * row + (column + 1) * panel_lanes + lane;
                            const Index there =
                                (y + tap / 3) * row + (column + tap % 3) * panel_lanes + lane;
                            Scalar& sum = sums[static_cast<std::size_t>(lane % 16)];
                            sum = std::fma(d[static_cast<std::size_t>(here)],
                                           x[static_cast<std::size_t>(there)], sum);
                        }
                expected.push_back(fold(sums));
            }
        for (const Named<Scalar>& table : all_tables<Scalar>()) {
            CAPTURE(table.isa);
            std::vector<Scalar> g(expected.size(), 0);
            table.kernels.correlate_3x3(rows, d.data() + row + panel_lanes, plane,
                                        {height, width, row}, x.data(), {row, panel_lanes, row},
                                        g.data(), 9);
            REQUIRE(same(g, expected));
        }
    }
}

TEST_CASE_TEMPLATE("kernels: sums and dot products lie in 32 lanes, folded in halves", Scalar,
                   float, double) {
    RandomStream random = RandomStreams(3).stream("kernels");
    for (Index n = 0; n <= 100; ++n) {
        CAPTURE(n);
        const auto a = random_numbers<float>(random, n);
        const auto b = random_numbers<Scalar>(random, n);
        std::vector<Scalar> products(32, 0);
        for (std::size_t k = 0; k < a.size(); ++k)
            products[k % 32] = std::fma(static_cast<Scalar>(a[k]), b[k], products[k % 32]);
        const auto d = random_numbers<Scalar>(random, n * panel_lanes);
        const auto out = random_numbers<Scalar>(random, n * panel_lanes);
        std::vector<Scalar> sums(32, 0);
        std::vector<Scalar> masked = d;
        for (std::size_t k = 0; k < d.size(); ++k) {
            masked[k] = out[k] > 0 ? d[k] : 0;
            sums[k % 32] += masked[k];
        }
        for (const Named<Scalar>& table : all_tables<Scalar>()) {
            CAPTURE(table.isa);
            CHECK(table.kernels.dot_product(n, a.data(), b.data()) == fold(products));
            std::vector<Scalar> left = d;
            CHECK(table.kernels.masked_sum({1, n, 0}, left.data(), out.data()) == fold(sums));
            CHECK(same(left, masked));
        }
    }
}

// Returns the distance of x from the function at `argument`, in units in the last place of Scalar.
template <class Scalar>
double ulps(int (*oracle)(mpfr_t, const mpfr_t, mpfr_rnd_t), Scalar argument, Scalar x) {
    mpfr_t value;
    mpfr_init2(value, 200);
    mpfr_set_d(value, static_cast<double>(argument), MPFR_RNDN);
    oracle(value, value, MPFR_RNDN);
    const long digits = std::numeric_limits<Scalar>::digits;
    const long least = std::numeric_limits<Scalar>::min_exponent - digits;
    const long exponent =
        mpfr_zero_p(value) ? least : std::max<long>(mpfr_get_exp(value) - digits, least);
    mpfr_sub_d(value, value, static_cast<double>(x), MPFR_RNDN);
    mpfr_mul_2si(value, value, -exponent, MPFR_RNDN);
    const double distance = std::abs(mpfr_get_d(value, MPFR_RNDN));
    mpfr_clear(value);
    return distance;
}

int mpfr_logistic(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_neg(to, x, rounding);
    mpfr_exp(to, to, rounding);
    mpfr_add_ui(to, to, 1, rounding);
    return mpfr_ui_div(to, 1, to, rounding);
}

// Arguments evenly spaced over [-most, most], and as many with evenly spaced exponents.
template <class Scalar>
std::vector<Scalar> arguments(RandomStream& random, double most) {
    constexpr Index each = 20'000;
    std::vector<Scalar> all;
    for (const double z : random_point(random, each, 1)) {
        const double uniform = std::erf(z / std::sqrt(2.0));
        all.push_back(static_cast<Scalar>(most * uniform));
        all.push_back(
            static_cast<Scalar>(std::copysign(most * std::exp2(-40 * std::abs(uniform)), z)));
    }
    return all;
}

template <class Scalar, class Function>
double worst_error(Function Kernels<Scalar>::* function,
                   int (*oracle)(mpfr_t, const mpfr_t, mpfr_rnd_t), double most) {
    RandomStream random = RandomStreams(4).stream("kernels");
    const std::vector<Scalar> x = arguments<Scalar>(random, most);
    const Kernels<Scalar> kernels = all_tables<Scalar>().back().kernels;
    std::vector<Scalar> y(x.size());
    (kernels.*function)(std::ssize(x), x.data(), y.data());
    double worst = 0;
    for (std::size_t k = 0; k < x.size(); ++k) worst = std::max(worst, ulps(oracle, x[k], y[k]));
    return worst;
}

TEST_CASE_TEMPLATE("kernels: exp and tanh are within 1 ulp of MPFR's, logistic within 2.5", Scalar,
                   float, double) {
    const bool single_precision = sizeof(Scalar) == 4;
    CHECK(worst_error<Scalar>(&Kernels<Scalar>::exp, &mpfr_exp, single_precision ? 87 : 708) <= 1);
    CHECK(worst_error<Scalar>(&Kernels<Scalar>::tanh, &mpfr_tanh, single_precision ? 12 : 25) <= 1);
    CHECK(worst_error<Scalar>(&Kernels<Scalar>::logistic, &mpfr_logistic,
                              single_precision ? 87 : 700) <= 2.5);
}

TEST_CASE_TEMPLATE("kernels: exp, tanh and logistic end where they should", Scalar, float, double) {
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    constexpr Scalar none = std::numeric_limits<Scalar>::quiet_NaN();
    const std::vector<Scalar> x{0, -Scalar{0}, infinity, -infinity, 1000, -1000, none};
    for (const Named<Scalar>& table : all_tables<Scalar>()) {
        CAPTURE(table.isa);
        std::vector<Scalar> y(x.size());
        table.kernels.exp(std::ssize(x), x.data(), y.data());
        CHECK(same(y, {1, 1, infinity, 0, infinity, 0, none}));
        table.kernels.tanh(std::ssize(x), x.data(), y.data());
        CHECK(same(y, {0, -Scalar{0}, 1, -1, 1, -1, none}));
        table.kernels.logistic(std::ssize(x), x.data(), y.data());
        CHECK(same(y, {Scalar{0.5}, Scalar{0.5}, 1, 0, 1, 0, none}));
    }
}

TEST_CASE_TEMPLATE("kernels: every instruction set gives the same bits", Scalar, float, double) {
    RandomStream random = RandomStreams(5).stream("kernels");
    constexpr Index units = 7;
    constexpr Index size = units * panel_lanes;
    const auto x = random_numbers<Scalar>(random, 4 * size, 3);
    const auto y = random_numbers<Scalar>(random, size, 2);
    const auto z = random_numbers<Scalar>(random, size);

    for (const auto function :
         {&Kernels<Scalar>::exp, &Kernels<Scalar>::tanh, &Kernels<Scalar>::logistic})
        require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
            std::vector<Scalar> out(x.size());
            (kernels.*function)(std::ssize(x), x.data(), out.data());
            return out;
        });
    require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
        std::vector<Scalar> all = x;
        std::vector<Scalar> ends(2 * panel_lanes);
        kernels.softmax_exponentials(all.data(), 4 * units, panel_lanes, ends.data(),
                                     ends.data() + panel_lanes);
        kernels.scale_classes(all.data(), 4 * units, panel_lanes, y.data());
        all.insert(all.end(), ends.begin(), ends.end());
        kernels.softmax_sums(x.data(), 4 * units, panel_lanes, ends.data(),
                             ends.data() + panel_lanes);
        all.insert(all.end(), ends.begin(), ends.end());
        return all;
    });
    for (const bool first_step : {true, false})
        require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
            std::vector<Scalar> gates = x;
            std::vector<Scalar> state(4 * size);
            const LstmStep<Scalar> step{.units = units,
                                        .gates = gates.data(),
                                        .gate_row = panel_lanes,
                                        .c_before = first_step ? nullptr : y.data(),
                                        .c = state.data(),
                                        .tanh_c = state.data() + size,
                                        .h = state.data() + 2 * size};
            kernels.lstm_forward(step);
            std::copy(y.begin(), y.end(), state.begin() + 3 * size);
            kernels.lstm_backward(step, {y.data(), z.data(), state.data() + 3 * size});
            gates.insert(gates.end(), state.begin(), state.end());
            return gates;
        });
    for (const bool relu : {true, false})
        require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
            const Plane plane{1, units, 0};
            std::vector<Scalar> lanes(5 * panel_lanes);
            Scalar* mean = lanes.data();
            Scalar* inverse = mean + panel_lanes;
            kernels.add_pixels(plane, y.data(), mean);
            kernels.add_squares(plane, y.data(), mean, mean + 2 * panel_lanes);
            kernels.inverse_deviation(mean + 2 * panel_lanes, Scalar(0.1), Scalar(1e-5), inverse);
            const NormChannel<Scalar> channel{plane, y.data(), mean, inverse};
            std::vector<Scalar> out(size);
            kernels.norm_forward(channel, Scalar(1.5), Scalar(0.25), relu, out.data());
            std::vector<Scalar> d = z;
            std::array<Scalar, 2> sums{};
            kernels.norm_parameters(channel, Scalar(1.5), d.data(), relu ? out.data() : nullptr,
                                    sums.data(), &sums[1], mean + 3 * panel_lanes,
                                    mean + 4 * panel_lanes);
            std::vector<Scalar> d_in(size);
            kernels.norm_input(channel, Scalar(1.5), d.data(), Scalar(0.1), mean + 3 * panel_lanes,
                               mean + 4 * panel_lanes, d_in.data());
            for (const auto& more : {lanes, d, d_in})
                out.insert(out.end(), more.begin(), more.end());
            out.insert(out.end(), sums.begin(), sums.end());
            return out;
        });
    require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
        constexpr Index panels = 2;
        const std::vector<Scalar> scale(y.begin(), y.begin() + units);
        std::vector<Scalar> ends(2 * panels * panel_lanes);
        const LayerNorm<Scalar> norm{{units, panels, panels * panel_lanes},
                                     x.data(),
                                     ends.data(),
                                     ends.data() + panels * panel_lanes};
        std::vector<Scalar> out(panels * size);
        kernels.layer_norm_forward(norm, scale.data(), z.data(), Scalar(1e-5), out.data());
        std::vector<Scalar> sums(2 * units);
        std::vector<Scalar> d_in = x;
        kernels.layer_norm_backward(norm, scale.data(), out.data(), d_in.data(), sums.data(),
                                    sums.data() + units);
        for (const auto& more : {ends, sums, d_in}) out.insert(out.end(), more.begin(), more.end());
        return out;
    });
    require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
        const Index odd = size - 5;  // fills no register
        std::vector<Scalar> share(size);
        std::vector<Scalar> out(size);
        std::vector<Scalar> d = z;
        kernels.gelu_forward(odd, x.data(), share.data(), out.data());
        kernels.gelu_backward(odd, x.data(), share.data(), d.data());
        for (const auto& more : {share, d}) out.insert(out.end(), more.begin(), more.end());
        return out;
    });
    require_same_everywhere<Scalar>([&](const Kernels<Scalar>& kernels) {
        std::vector<Scalar> shares = y;
        std::vector<Scalar> d = z;
        kernels.causal_softmax(shares.data(), units, 2, Scalar(0.7));
        kernels.causal_softmax_backward(shares.data(), units, Scalar(0.7), d.data());
        shares.insert(shares.end(), d.begin(), d.end());
        return shares;
    });
}

TEST_CASE_TEMPLATE("kernels: a causal softmax sees no later key, and sums to 1", Scalar, float,
                   double) {
    RandomStream random = RandomStreams(6).stream("kernels");
    for (const Index keys : {32, 64, 7}) {
        const Index first = keys == 64 ? 32 : 0;
        const auto scores = random_numbers<Scalar>(random, keys * panel_lanes, 2);
        for (const Named<Scalar>& table : all_tables<Scalar>()) {
            CAPTURE(table.isa);
            std::vector<Scalar> p = scores;
            table.kernels.causal_softmax(p.data(), keys, first, Scalar(0.5));
            for (Index lane = 0; lane < panel_lanes; ++lane) {
                double sum = 0;
                for (Index key = 0; key < keys && key <= first + lane; ++key)
                    sum += std::exp(
                        0.5 * static_cast<double>(
                                  scores[static_cast<std::size_t>(key * panel_lanes + lane)]));
                for (Index key = 0; key < keys; ++key) {
                    const auto at = static_cast<std::size_t>(key * panel_lanes + lane);
                    const double expected =
                        key > first + lane ? 0
                                           : std::exp(0.5 * static_cast<double>(scores[at])) / sum;
                    REQUIRE(
                        static_cast<double>(p[at]) ==
                        doctest::Approx(expected).epsilon(
                            16.0 * static_cast<double>(std::numeric_limits<Scalar>::epsilon())));
                    if (key > first + lane) REQUIRE(p[at] == 0);
                }
            }
        }
    }
}

// Other compilers and other architectures must reproduce these. FNV-1a over the bits.
TEST_CASE("kernels: the bits of exp and tanh do not change") {
    const auto hash = [](const auto& numbers) {
        std::uint64_t h = 0xcbf29ce484222325;
        for (const auto x : numbers) {
            using Bits = std::conditional_t<sizeof x == 4, std::uint32_t, std::uint64_t>;
            h = (h ^ std::bit_cast<Bits>(x)) * 0x100000001b3;
        }
        return h;
    };
    const auto of = [&]<class Scalar>(Scalar, auto function) {
        std::vector<Scalar> x;
        for (int k = -50'000; k <= 50'000; ++k) x.push_back(static_cast<Scalar>(k) / 1024);
        (kernels<Scalar>().*function)(std::ssize(x), x.data(), x.data());
        return hash(x);
    };
    CHECK(of(0.0F, &Kernels<float>::exp) == 18053649451169810859U);
    CHECK(of(0.0, &Kernels<double>::exp) == 14518968374615545479U);
    CHECK(of(0.0F, &Kernels<float>::tanh) == 11877528756607851191U);
    CHECK(of(0.0, &Kernels<double>::tanh) == 3177941076019008015U);
}

}  // namespace
}  // namespace paceline::kernels_test
