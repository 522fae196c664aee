#include "models/nets/layers/group_norm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::group_norm_test {
namespace {

using Eigen::Index;

struct Run {
    ImageExtent image{6, 4, 5};
    std::unique_ptr<Layer<double>> layer;
    Eigen::VectorXd x{12};
    Panel<double> in = zero_panel<double>(ImageExtent{6, 4, 5}.features());
    Panel<double> out = in;

    Run(Index groups, bool relu, std::uint64_t seed)
        : layer(make_group_norm<double>("norm", {image, groups, relu})) {
        RandomStream random = RandomStreams(seed).stream("norm");
        layer->initialize(random, x.data());
        for_each_pixel([&](Index c, Index at) {
            in.col(at) = 5.0 + static_cast<double>(c) + 3 * random_point(random, lanes, 1).array();
        });
    }

    template <class Visit>
    void for_each_pixel(Visit visit) const {
        for (Index c = 0; c < image.channels; ++c)
            for (Index y = 0; y < image.height; ++y)
                for (Index column = 0; column < image.width; ++column)
                    visit(c, image.feature(c, y, column));
    }
};

TEST_CASE("group norm: each group of each sample has mean 0 and variance 1") {
    for (const Index groups : {1, 2, 3, 6})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(groups);
            CAPTURE(seed);
            Run run(groups, false, seed);
            run.layer->forward(run.x.data(), run.in, run.out);
            const Index channels = 6 / groups;
            for (Index group = 0; group < groups; ++group) {
                Lanes<double> mean = Lanes<double>::Zero();
                Lanes<double> square = Lanes<double>::Zero();
                run.for_each_pixel([&](Index c, Index at) {
                    if (c / channels != group) return;
                    mean += run.out.col(at) / (20.0 * static_cast<double>(channels));
                    square += run.out.col(at).square() / (20.0 * static_cast<double>(channels));
                });
                CHECK(mean.abs().maxCoeff() < 1e-13);
                CHECK((square - 1).abs().maxCoeff() < 1e-5);  // 1e-5 is added to a variance of 9
            }
        }
}

TEST_CASE("group norm: scale and shift do what they say, and then the ReLU") {
    Run plain(3, false, 1);
    plain.layer->forward(plain.x.data(), plain.in, plain.out);
    Run run(3, true, 1);
    RandomStream random = RandomStreams(2).stream("norm");
    run.x = random_point(random, 12, 1);
    run.layer->forward(run.x.data(), run.in, run.out);
    double error = 0;
    run.for_each_pixel([&](Index c, Index at) {
        const Lanes<double> z = run.x[c] * plain.out.col(at) + run.x[6 + c];
        error += (run.out.col(at) - z.max(0.0)).abs().sum();
    });
    CHECK(error < 1e-10);
}

// The output does not change when a group's input is scaled (except for the 1e-5) or shifted.
TEST_CASE("group norm: the gradient has no part along a shift or a scaling of the input") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        CAPTURE(seed);
        Run run(2, false, seed);
        RandomStream random = RandomStreams(seed).stream("d");
        run.x = random_point(random, 12, 1);
        run.layer->forward(run.x.data(), run.in, run.out);
        Panel<double> d_out = zero_panel<double>(run.image.features());
        run.for_each_pixel(
            [&](Index, Index at) { d_out.col(at) = random_point(random, lanes, 1).array(); });
        Panel<double> d_in = zero_panel<double>(run.image.features());
        Eigen::VectorXd g(12);
        run.layer->backward({run.x.data(), run.in, run.out, d_out, &d_in, g.data(), false});
        CHECK(d_in.abs().sum() > 1);
        CHECK(d_in.rowwise().sum().abs().maxCoeff() < 1e-12);
        CHECK((d_in * run.in).rowwise().sum().abs().maxCoeff() < 1e-3);
    }
}

TEST_CASE("group norm: groups that do not divide the channels are refused") {
    CHECK_THROWS_AS(make_group_norm<float>("norm", {{6, 2, 2}, 4}), LogicError);
}

}  // namespace
}  // namespace paceline::group_norm_test
