// Laws that every net obeys, whatever its layers.
#include "models/nets/net.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

namespace paceline::net_test {
namespace {

using Eigen::Index;

// Calls check(case, random stream) for each kind of net and a few seeds.
template <class Check>
void for_each_net(Check check) {
    for (const NetCase& net_case : net_cases())
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            CAPTURE(net_case.name);
            CAPTURE(seed);
            RandomStream random = RandomStreams(seed).stream(net_case.name);
            check(net_case, random);
        }
}

TEST_CASE("nets: the gradient is that of finite differences, at any batch size") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_double();
        for (const Index samples : {1, 33}) {
            CAPTURE(samples);
            const Samples batch = net_case.draw(random, samples);
            const auto x = random_point(random, net->layout()->entries(), 0.5);
            CHECK(gradient_error(*net, x, batch) < 1e-6);
        }
    });
}

TEST_CASE("nets: score and gradient have the same loss") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_double();
        for (const Index samples : {1, 32, 100}) {
            CAPTURE(samples);
            const Samples batch = net_case.draw(random, samples);
            const auto x = random_point(random, net->layout()->entries(), 0.5);
            Eigen::VectorXd g;
            const double loss = net->gradient(x, batch, g);
            const Score score = net->score(x, batch);
            const bool text = batch.tokens.size() > 0;
            CHECK(score.predictions == samples * (text ? batch.tokens.rows() - 1 : 1));
            CHECK(score.loss / static_cast<double>(score.predictions) ==
                  doctest::Approx(loss).epsilon(1e-12));
            CHECK(score.correct >= 0);
            CHECK(score.correct <= score.predictions);
        }
    });
}

TEST_CASE("nets: the gradient of a batch is the mean of those of its parts") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_double();
        constexpr int samples = 310;  // ten panels: a dense layer sums its gradient in three parts
        const Samples batch = net_case.draw(random, samples);
        const auto x = random_point(random, net->layout()->entries(), 0.5);
        Eigen::VectorXd whole;
        const double loss = net->gradient(x, batch, whole);
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(x.size());
        Eigen::VectorXd g;
        double loss_sum = 0;
        for (const auto& [first, count] :
             {std::pair{0, 1}, {1, 36}, {37, 13}, {50, 128}, {178, 132}}) {
            loss_sum += count * net->gradient(x, part_of(batch, first, count), g);
            sum += count * g;
        }
        CHECK((sum / samples - whole).norm() < 1e-12 * whole.norm());
        CHECK(loss_sum / samples == doctest::Approx(loss).epsilon(1e-12));
    });
}

TEST_CASE("nets: in float they agree with themselves in double, to the precision of a float") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto in_double = net_case.in_double();
        const auto in_float = net_case.in_float();
        const Samples batch = net_case.draw(random, 40);
        const Eigen::VectorXf x =
            random_point(random, in_double->layout()->entries(), 0.3).cast<float>();
        Eigen::VectorXd exact;
        Eigen::VectorXf rounded;
        const double loss = in_double->gradient(x.cast<double>(), batch, exact);
        CHECK(in_float->gradient(x, batch, rounded) == doctest::Approx(loss).epsilon(1e-5));
        CHECK((rounded.cast<double>() - exact).norm() < 1e-4 * exact.norm());
        CHECK(in_float->score(x, batch).loss ==
              doctest::Approx(in_double->score(x.cast<double>(), batch).loss).epsilon(1e-5));
    });
}

TEST_CASE("nets: a clone gives the same numbers, and neither disturbs the other") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_double();
        const auto clone = net->clone();
        REQUIRE(clone->layout()->entries() == net->layout()->entries());
        const Samples batch = net_case.draw(random, 9);
        const Samples other_batch = net_case.draw(random, 40);
        const auto x = random_point(random, net->layout()->entries(), 0.5);
        Eigen::VectorXd g;
        Eigen::VectorXd of_clone;
        const double loss = net->gradient(x, batch, g);
        Eigen::VectorXd again;
        clone->gradient(-x, other_batch, of_clone);
        CHECK(net->gradient(x, batch, again) == loss);
        CHECK(again == g);
        CHECK(clone->gradient(x, batch, of_clone) == loss);
        CHECK(of_clone == g);
    });
}

TEST_CASE("nets: earlier calls leave no trace in a gradient") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto fresh = net_case.in_double();
        const auto used = net_case.in_double();
        const Samples batch = net_case.draw(random, 5);
        const auto x = random_point(random, fresh->layout()->entries(), 0.5);
        Eigen::VectorXd g = Eigen::VectorXd::Constant(3, std::nan(""));
        Eigen::VectorXd expected;
        fresh->gradient(x, batch, expected);
        used->gradient(random_point(random, x.size(), 1e3), net_case.draw(random, 70), g);
        g.setConstant(std::nan(""));
        used->gradient(x, batch, g);
        CHECK(g == expected);
    });
}

TEST_CASE("nets: a start is the same for the same stream, and a few steps from it lower the loss") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_double();
        const Samples batch = net_case.draw(random, 20);
        const RandomStream stream = random;
        Eigen::VectorXd x = Eigen::VectorXd::Constant(net->layout()->entries(), std::nan(""));
        Eigen::VectorXd same = x;
        RandomStream first = stream;
        RandomStream second = stream;
        net->initialize(first, x);
        net->initialize(second, same);
        CHECK(x == same);

        Eigen::VectorXd g;
        const double before = net->gradient(x, batch, g);
        for (int step = 0; step < 20; ++step) {
            x -= 0.02 * g;
            net->gradient(x, batch, g);
        }
        CHECK(net->gradient(x, batch, g) < before);
    });
}

TEST_CASE(
    "nets: matrices are compressible, biases and normalizations are not; macs are by tensor") {
    for_each_net([](const NetCase& net_case, RandomStream&) {
        const auto net = net_case.in_double();
        const auto& tensors = net->layout()->tensors();
        REQUIRE(net->tensor_macs().size() == tensors.size());
        for (const Tensor& tensor : tensors) {
            CAPTURE(tensor.name);
            const bool one_dimensional = tensor.name.ends_with("bias") ||
                                         tensor.name.ends_with("scale") ||
                                         tensor.name.ends_with("shift");
            CHECK(tensor.compressible() == !one_dimensional);
        }
    });
}

TEST_CASE("nets: parameters that are not numbers give a loss that is not a number") {
    for_each_net([](const NetCase& net_case, RandomStream& random) {
        const auto net = net_case.in_float();
        const Eigen::VectorXf x =
            Eigen::VectorXf::Constant(net->layout()->entries(), std::nanf(""));
        Eigen::VectorXf g;
        CHECK(std::isnan(net->gradient(x, net_case.draw(random, 3), g)));
        CHECK(std::isnan(net->score(x, net_case.draw(random, 3)).loss));
    });
}

}  // namespace
}  // namespace paceline::net_test
