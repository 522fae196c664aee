#include "algorithms/compression/error_feedback.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/columns.hpp"
#include "algorithms/compression/eight_bit.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/none.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::error_feedback_test {
namespace {

std::vector<Compressor> every_compressor() {
    return {make_top_k(0.1),
            make_random_k(0.1, false),
            make_random_k(0.4, true),
            make_random_block(0.2, false),
            make_random_block(0.4, true),
            make_qsgd({2, 5}),
            make_qsgd({}),
            make_terngrad(),
            make_sign(),
            make_scaled_sign(),
            make_natural(),
            make_half(),
            make_none(),
            make_eight_bit({5}),
            make_columns()};
}

TEST_CASE("error feedback, property: what was sent and what is left add up to what was given") {
    for (const Compressor& compressor : every_compressor())
        for (unsigned seed = 0; seed < 10; ++seed) {
            CAPTURE(compressor.name);
            CAPTURE(seed);
            const LayoutPtr layout = small_layout();
            RandomStream random = RandomStreams(seed).stream("test");
            Vector e(layout, Eigen::VectorXd::Zero(26));
            Eigen::VectorXd given = Eigen::VectorXd::Zero(26);
            Eigen::VectorXd sent = Eigen::VectorXd::Zero(26);
            double largest_error = 1;

            for (unsigned k = 0; k < 20; ++k) {
                const Eigen::VectorXd g = normal_vector(100 * seed + k, 26);
                given += g;
                sent += compress_with_feedback(compressor, {layout, g}, e, random).values();
                largest_error = std::max(largest_error, e.values().cwiseAbs().maxCoeff());
            }

            CHECK((sent + e.values() - given).cwiseAbs().maxCoeff() < 1e-10 * largest_error);
        }
}

TEST_CASE("error feedback: what is not sent accumulates until it is") {
    const LayoutPtr layout = make_layout({{"x", {4}}});
    Vector e(layout, Eigen::VectorXd::Zero(4));
    RandomStream random = RandomStreams(1).stream("test");
    const Vector g(layout, Eigen::VectorXd{{4, 3, 2, 1}});

    const Vector first = compress_with_feedback(make_top_k(0.25), g, e, random);
    const Vector second = compress_with_feedback(make_top_k(0.25), g, e, random);
    const Vector third = compress_with_feedback(make_top_k(0.25), g, e, random);

    CHECK(first.values() == Eigen::VectorXd{{4, 0, 0, 0}});
    CHECK(second.values() == Eigen::VectorXd{{0, 6, 0, 0}});
    CHECK(third.values() == Eigen::VectorXd{{8, 0, 0, 0}});
    CHECK(e.values() == Eigen::VectorXd{{0, 3, 6, 3}});
}

TEST_CASE("error feedback, property: tensors that are left out leave no error") {
    for (const Compressor& compressor : every_compressor())
        for (unsigned seed = 0; seed < 10; ++seed) {
            CAPTURE(compressor.name);
            CAPTURE(seed);
            const LayoutPtr layout = with_left_out(small_layout(), {"conv.bias", -2});
            RandomStream random = RandomStreams(seed).stream("test");
            Vector e(layout, Eigen::VectorXd::Zero(26));
            for (unsigned k = 0; k < 3; ++k) {
                const Eigen::VectorXd g = normal_vector(100 * seed + k, 26);

                const Vector sent = compress_with_feedback(compressor, {layout, g}, e, random);

                CHECK(sent.values().segment(12, 4) == g.segment(12, 4));
                CHECK(sent.values().segment(16, 8) == g.segment(16, 8));
                CHECK(e.values().segment(12, 12).isZero(0));
            }
        }
}

TEST_CASE("error feedback: without values it does nothing") {
    Vector e(small_layout());
    RandomStream random = RandomStreams(1).stream("test");

    CHECK(!compress_with_feedback(make_terngrad(), e, e, random).has_values());
}

}  // namespace
}  // namespace paceline::error_feedback_test
