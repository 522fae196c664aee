#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compression/columns.hpp"
#include "algorithms/compression/compressor.hpp"
#include "algorithms/compression/eight_bit.hpp"
#include "algorithms/compression/entry_bits.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/none.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::compressors_test {
namespace {

Eigen::VectorXd golden_x() {
    return Eigen::VectorXd{{.5, -1, 0, 2, 1, -.5, .25, -.25}};
}

RandomStream stream(unsigned seed) {
    return RandomStreams(seed).stream("test");
}

// Mean and standard error of each decoded entry, over many draws.
struct Estimate {
    Eigen::ArrayXd mean;
    Eigen::ArrayXd error;
};

Estimate estimate(const Compressor& compressor, const Eigen::VectorXd& x, int draws) {
    RandomStream random = stream(7);
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(x.size());
    Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(x.size());
    for (int i = 0; i < draws; ++i) {
        const Eigen::ArrayXd c = decoded(compressor, x, random).array();
        sum += c;
        squares += c.square();
    }
    const Eigen::ArrayXd mean = sum / draws;
    return {mean, ((squares / draws - mean.square()).max(0) / draws).sqrt()};
}

// `jump` is the distance between the values that an entry can take. An outcome that occurs less
// than once in all draws has no error estimate.
void check_mean(const Compressor& compressor, const Eigen::VectorXd& x,
                const Eigen::ArrayXd& expected, const Eigen::ArrayXd& jump) {
    CAPTURE(compressor.name);
    constexpr int draws = 4000;
    const Estimate found = estimate(compressor, x, draws);
    CHECK(((found.mean - expected).abs() <= 5 * found.error + 12 * jump / draws).all());
}

// |C(x) - x|^2 / |x|^2, on average.
double relative_error(const Compressor& compressor, const Eigen::VectorXd& x, int draws) {
    RandomStream random = stream(3);
    double sum = 0;
    for (int i = 0; i < draws; ++i) sum += (decoded(compressor, x, random) - x).squaredNorm();
    return sum / draws / x.squaredNorm();
}

TEST_CASE("compressors: QSGD's levels of the golden vector are the two next to the exact ones") {
    const Eigen::VectorXd exact{{.777, 1.5541, 0, 3.1081, 1.5541, .777, .3885, .3885}};
    const double norm = 2.573908;
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        RandomStream random = stream(seed);

        const Eigen::VectorXd c = decoded(make_qsgd({4, 8}), golden_x(), random);

        for (Eigen::Index i = 0; i < 8; ++i) {
            const double level = std::abs(c(i)) * 4 / norm;
            CHECK(std::abs(level - std::round(level)) < 1e-5);
            CHECK(std::abs(level - exact(i)) < 1);
            CHECK(c(i) * golden_x()(i) >= 0);
        }
    }
}

TEST_CASE("compressors: the scaled sign of the golden vector has scale 0.6875 and its error") {
    const Eigen::VectorXd error{{-.1875, -.3125, 0, 1.3125, .3125, .1875, -.4375, .4375}};
    RandomStream random = stream(1);

    const Eigen::VectorXd c = decoded(make_scaled_sign(), golden_x(), random);

    CHECK(c.cwiseAbs().maxCoeff() == 0.6875);
    CHECK(golden_x() - c == error);
}

TEST_CASE("compressors: TernGrad sends the golden vector with scaler 2 and its probabilities") {
    const Eigen::ArrayXd kept{{.25, .5, 0, 1, .5, .25, .125, .125}};
    RandomStream random = stream(1);

    const Eigen::ArrayXd c = decoded(make_terngrad(), golden_x(), random).array();

    CHECK((c == 0 || c.abs() == 2).all());
    check_mean(make_terngrad(), golden_x(), 2 * kept * golden_x().array().sign(),
               Eigen::ArrayXd::Zero(8));
}

TEST_CASE("compressors: TernGrad cuts off at 2.5 standard deviations of the population") {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(100);
    x(0) = 10;  // mean 0.1, variance 1 - 0.01
    const double cut = 2.5 * std::sqrt(0.99);
    RandomStream random = stream(1);

    const Eigen::VectorXd c = decoded(make_terngrad(), x, random);

    CHECK(std::abs(c(0) - cut) < 1e-12);
}

TEST_CASE("compressors: vectors of zeros and of one entry survive all of them") {
    for (const Compressor& compressor :
         {make_top_k(0.1), make_random_k(0.1, false), make_random_block(0.1, false),
          make_qsgd({4, 3}), make_terngrad(), make_scaled_sign(), make_natural(), make_half(),
          make_none(), make_eight_bit(), make_eight_bit({2}), make_columns()}) {
        CAPTURE(compressor.name);
        RandomStream random = stream(1);

        CHECK(decoded(compressor, Eigen::VectorXd::Zero(7), random).isZero(0));
        CHECK(decoded(compressor, Eigen::VectorXd::Constant(1, -2), random)(0) == -2);
        CHECK(decoded(compressor, Eigen::VectorXd(), random).size() == 0);
    }
}

TEST_CASE("compressors, property: those declared unbiased are") {
    for (unsigned seed = 0; seed < 5; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 60);
        const double sigma = std::sqrt((x.array() - x.mean()).square().mean());
        const Eigen::ArrayXd cut = x.array().min(2.5 * sigma).max(-2.5 * sigma);

        const double norm = x.norm();
        const Eigen::ArrayXd one = Eigen::ArrayXd::Ones(60);
        const Eigen::ArrayXd sizes = x.array().abs();

        check_mean(make_qsgd({1, 60}), x, x.array(), norm * one);
        check_mean(make_qsgd({4, 7}), x, x.array(), norm / 4 * one);
        check_mean(make_qsgd({127, 16}), x, x.array(), norm / 127 * one);
        check_mean(make_natural(), x, x.array(), sizes);
        check_mean(make_random_k(0.3, true), x, x.array(), 0 * one);
        check_mean(make_random_block(0.3, true), x, x.array(), 0 * one);
        check_mean(make_terngrad(), x, cut, 2.5 * sigma * one);
        for (const Compressor& compressor :
             {make_qsgd({}), make_natural(), make_terngrad(), make_random_k(0.3, true)})
            CHECK(compressor.unbiased);
        CHECK(!make_random_k(0.3, false).unbiased);
    }
}

TEST_CASE("compressors: natural compression is unbiased at and below the least power of two") {
    const double least = std::ldexp(1.0, -126);
    const Eigen::VectorXd x{{0.25 * least, -1.25 * least, 3, -0.75, 1e30}};

    check_mean(make_natural(), x, x.array(), x.array().abs() + least);
    RandomStream random = stream(2);
    for (int i = 0; i < 100; ++i) {
        const Eigen::VectorXd c = decoded(make_natural(), x, random);
        CHECK((c(0) == 0 || c(0) == least));
        CHECK((c(1) == -least || c(1) == -2 * least));
        CHECK((c(2) == 2 || c(2) == 4));
        CHECK((c(3) == -0.5 || c(3) == -1));
    }
}

TEST_CASE("compressors, property: QSGD's variance is within the published bound") {
    const double k = 512;
    for (const auto& [levels, bound] :
         std::vector<std::pair<double, double>>{{1, 22.6}, {4, 5.66}, {127, 0.032}}) {
        CHECK(std::min(k / (levels * levels), std::sqrt(k) / levels) ==
              doctest::Approx(bound).epsilon(0.01));
        for (unsigned seed = 0; seed < 5; ++seed) {
            CAPTURE(levels);
            CAPTURE(seed);
            const Compressor qsgd = make_qsgd({static_cast<std::int64_t>(levels), 512});

            CHECK(relative_error(qsgd, normal_vector(seed, 2048), 50) < bound);
        }
    }
}

TEST_CASE("compressors, property: natural compression's variance is an eighth at most") {
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        const double error = relative_error(make_natural(), normal_vector(seed, 1000), 50);
        CHECK(error < 0.125);
        CHECK(error > 0.02);
    }
}

TEST_CASE("compressors, property: sparsifiers contract by 1 - k/d") {
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const double density : {0.01, 0.1, 0.4}) {
            CAPTURE(seed);
            CAPTURE(density);
            const Eigen::VectorXd x = normal_vector(seed, 300);
            const double left = 1 - std::floor(density * 300 + 1e-9) / 300;

            CHECK(relative_error(make_top_k(density), x, 1) <= left + 1e-12);
            const double random = relative_error(make_random_k(density, false), x, 400);
            const double block = relative_error(make_random_block(density, false), x, 400);
            CHECK(std::abs(random - left) < 0.02);
            CHECK(std::abs(block - left) < 0.03);
        }
}

TEST_CASE("compressors, property: the scaled sign contracts by 1 - |x|_1^2 / (d |x|_2^2)") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 37);
        const double norm = x.lpNorm<1>();

        CHECK(relative_error(make_scaled_sign(), x, 1) ==
              doctest::Approx(1 - norm * norm / (37 * x.squaredNorm())).epsilon(1e-12));
    }
}

TEST_CASE("compressors, property: top-k keeps the same entries as sorting") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 5 + seed);
        const Eigen::Index k = std::max<Eigen::Index>(1, x.size() / 4);
        RandomStream random = stream(1);

        CHECK(decoded(make_top_k(0.25), x, random) == largest(x, k));
    }
}

TEST_CASE("compressors, property: random positions are k of d, alike for one stream, and even") {
    const Eigen::VectorXd x = Eigen::VectorXd::Ones(20);
    for (const Compressor& compressor :
         {make_random_k(0.3, false), make_random_block(0.3, false)}) {
        CAPTURE(compressor.name);
        REQUIRE(compressor.draws_alike);
        Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(20);
        for (unsigned seed = 0; seed < 4000; ++seed) {
            RandomStream random = stream(seed);
            RandomStream same = stream(seed);
            const Eigen::VectorXd c = decoded(compressor, x, random);
            REQUIRE(c.sum() == 6);
            REQUIRE(decoded(compressor, -x, same) == -c);
            counts += c.array();
        }
        const double error = std::sqrt(4000 * 0.3 * 0.7);
        CHECK(((counts - 1200).abs() < 5 * error).all());
    }
}

TEST_CASE("compressors, property: a random block is one run of entries, around the end") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        RandomStream random = stream(seed);
        const Eigen::VectorXd c =
            decoded(make_random_block(0.3, false), Eigen::VectorXd::Ones(11), random);
        int edges = 0;
        for (Eigen::Index i = 0; i < 11; ++i) edges += c(i) != c((i + 1) % 11) ? 1 : 0;

        CHECK(edges == 2);
        CHECK(c.sum() == 3);
    }
}

TEST_CASE("compressors: half precision rounds as Eigen's half does, for every kind of number") {
    const auto by_eigen = [](float v) { return static_cast<double>(Eigen::half(v)); };
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Eigen::VectorXd x = normal_vector(seed, 500);
        for (const int exponent : {-30, -24, -20, -14, -5, 0, 10, 15}) {
            CAPTURE(seed);
            CAPTURE(exponent);
            for (const double v : x) {
                const auto number = static_cast<float>(std::ldexp(v, exponent));
                REQUIRE(to_half(static_cast<double>(number)) == by_eigen(number));
            }
        }
    }
    CHECK(to_half(65519) == 65504);
    CHECK(to_half(-65520) == -std::numeric_limits<double>::infinity());
    CHECK(to_half(2049) == 2048);  // ties go to even
    CHECK(to_half(2051) == 2052);
    CHECK(std::isnan(to_half(std::nan(""))));
}

// Returns the least number of bits that can represent so many different values.
std::int64_t bits_for(std::int64_t values) {
    std::int64_t bits = 0;
    for (std::int64_t names = 1; names < values; names *= 2) ++bits;
    return bits;
}

TEST_CASE("compressors: bits are those of the formulas, tensor by tensor, for odd sizes") {
    const std::vector<std::int64_t> sizes{1, 2, 7, 26, 511, 512, 513, 1025};
    std::vector<Tensor> tensors;
    for (const std::int64_t d : sizes) tensors.push_back({std::to_string(d), {d}});
    const Layout layout(tensors);
    const auto check = [&](const Compressor& compressor,
                           const std::function<std::int64_t(std::int64_t)>& formula) {
        CAPTURE(compressor.name);
        std::int64_t bits = 0;
        for (const std::int64_t d : sizes) {
            CAPTURE(d);
            CHECK(compressor.bits(tensor_of(d)) == formula(d));
            bits += formula(d);
        }
        CHECK(message_bits(compressor, layout) == bits);
        CHECK(message_bytes(compressor, layout).count == bits / 8 + (bits % 8 == 0 ? 0 : 1));
    };
    for (const std::int64_t levels : {1, 3, 4, 7, 8, 127, 128})
        for (const std::int64_t bucket : {1, 3, 512})
            check(make_qsgd({levels, bucket}), [&](std::int64_t d) {
                std::int64_t norms = 0;
                for (std::int64_t first = 0; first < d; first += bucket) ++norms;
                return d * bits_for(2 * levels + 1) + 32 * norms;
            });
    const auto kept = [](std::int64_t d, std::int64_t percent) {
        return std::max<std::int64_t>(1, d * percent / 100);
    };
    for (const std::int64_t percent : {1, 29, 50, 100}) {
        const double density = static_cast<double>(percent) / 100;
        check(make_top_k(density),
              [&](std::int64_t d) { return std::min(64 * kept(d, percent), 32 * d); });
        check(make_random_k(density, false), [&](std::int64_t d) { return 32 * kept(d, percent); });
        check(make_random_block(density, true),
              [&](std::int64_t d) { return 32 * kept(d, percent); });
    }
    check(make_terngrad(), [](std::int64_t d) { return 2 * d + 32; });
    check(make_sign(), [](std::int64_t d) { return d; });
    check(make_scaled_sign(), [](std::int64_t d) { return d + 32; });
    check(make_natural(), [](std::int64_t d) { return 9 * d; });
    check(make_half(), [](std::int64_t d) { return 16 * d; });
    check(make_none(), [](std::int64_t d) { return 32 * d; });
    check(make_eight_bit(), [](std::int64_t d) { return 8 * d + 64; });
    check(make_columns(), [](std::int64_t d) { return 32 * ((d + 31) / 32 + 2); });
}

TEST_CASE("compressors: no compression changes nothing, adds up and costs no pass") {
    const Compressor none = make_none();
    const Layout layout({{"a", {100}}});
    const Eigen::VectorXd x = normal_vector(1, 100);
    RandomStream random = stream(1);

    CHECK(decoded(none, x, random) == x);
    CHECK(none.lossless);
    CHECK(none.combining == Combining::summable);
    CHECK(encoding_time(none, {Duration{7}}, layout).count() == 0);
    CHECK(decoding_time(none, {Duration{7}}, layout, 3).count() == 0);
}

TEST_CASE("compressors: a vector is compressed tensor by tensor") {
    const LayoutPtr layout = small_layout();
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 26);
        Vector top(layout, x);
        Vector signs(layout, x);
        RandomStream random = stream(1);

        compress(make_top_k(0.25), top, random);
        compress(make_scaled_sign(), signs, random);

        CHECK(top.values() == largest_of_tensors(*layout, x, 0.25));
        CHECK((signs.values() - scaled_signs_of_tensors(*layout, x)).cwiseAbs().maxCoeff() < 1e-15);
    }
}

TEST_CASE("compressors: coding takes passes over all entries, and over those of each message") {
    const Layout layout({{"a", {100}}, {"b", {10}}});
    const CodingCost cost{Duration{7}};

    CHECK(encoding_time(make_top_k(0.1), cost, layout).count() == 5 * 110 * 7);
    CHECK(encoding_time(make_top_k(0.1), cost, layout, 2).count() == 7 * 110 * 7);
    CHECK(decoding_time(make_top_k(0.1), cost, layout, 3).count() == 3 * 11 * 7);
    CHECK(decoding_time(make_qsgd({}), cost, layout, 3).count() == 3 * 110 * 7);
    CHECK(encoding_time(make_random_block(0.1, false), cost, layout).count() == 0);
}

std::vector<Compressor> every_compressor() {
    return {make_none(),       make_half(),
            make_top_k(0.2),   make_random_k(0.2, false),
            make_natural(),    make_random_block(0.2, true),
            make_sign(),       make_scaled_sign(),
            make_terngrad(),   make_shared_terngrad(),
            make_qsgd({4, 3}), make_eight_bit({5}),
            make_columns()};
}

TEST_CASE("compressors, property: tensors that are left out pass unchanged, in 32 bits an entry") {
    const LayoutPtr all = small_layout();
    for (const Compressor& compressor : every_compressor())
        for (unsigned left = 0; left < 16; ++left) {
            CAPTURE(compressor.name);
            CAPTURE(left);
            std::vector<TensorChoice> choices;
            std::int64_t bits = 0;
            std::int64_t sum_bits = 0;
            std::int64_t encoded = 0;
            std::int64_t held = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                const Tensor& tensor = all->tensors()[j];
                if ((left >> j & 1U) != 0) {
                    choices.emplace_back(tensor.name);
                    bits += 32 * tensor.entries();
                    sum_bits += 32 * tensor.entries();
                    continue;
                }
                bits += compressor.bits(tensor);
                sum_bits += compressor.bits_of_sum ? compressor.bits_of_sum(tensor, 9)
                                                   : compressor.bits(tensor);
                encoded += tensor.entries();
                held += compressor.held(tensor);
            }
            const LayoutPtr layout = with_left_out(all, choices);
            const Eigen::VectorXd x = normal_vector(left, 26);
            Vector v(layout, x);
            RandomStream random = stream(left);
            RandomStream same = stream(left);

            compress(compressor, v, random);

            for (std::size_t j = 0; j < 4; ++j) {
                const std::int64_t d = all->tensors()[j].entries();
                Eigen::VectorXd part = x.segment(all->offset(j), d);
                if ((left >> j & 1U) == 0)
                    compressor.apply({part.data(), static_cast<std::size_t>(d)}, all->tensors()[j],
                                     same);
                CHECK(v.values().segment(all->offset(j), d) == part);
            }
            CHECK(message_bits(compressor, *layout) == bits);
            CHECK(sum_bytes(compressor, *layout, 9).count == (sum_bits + 7) / 8);
            const CodingCost cost{Duration{3}};
            CHECK(encoding_time(compressor, cost, *layout, 2).count() ==
                  (compressor.encode + 2) * encoded * 3);
            CHECK(decoding_time(compressor, cost, *layout, 4).count() ==
                  4 * compressor.decode * held * 3);
        }
}

TEST_CASE("shipping whole bytes adds the same bits to each entry, and sums never shrink") {
    for (const std::int64_t d : {1, 7, 64, 1000}) {
        const Tensor tensor{"w", {d, 1}};
        const auto more = [&](const Compressor& c) {
            return with_entry_bits(c, 8).bits(tensor) - c.bits(tensor);
        };
        CHECK(more(make_sign()) == 7 * d);
        CHECK(more(make_scaled_sign()) == 7 * d);
        CHECK(more(make_terngrad()) == 6 * d);
        CHECK(more(make_qsgd({.levels = 7, .bucket = 3})) == 4 * d);
        const Compressor shared = with_entry_bits(make_shared_terngrad(), 8);
        for (const int n : {1, 127, 128, 1000})
            CHECK(shared.bits_of_sum(tensor, n) ==
                  std::max(8 * d + 32, make_shared_terngrad().bits_of_sum(tensor, n)));
    }
}

}  // namespace
}  // namespace paceline::compressors_test
