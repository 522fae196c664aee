// What a small transformer must be able to learn, and how far down its loss can go.
#include <cmath>
#include <functional>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "models/nets/transformer.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::transformer_learning_test {
namespace {

using Eigen::Index;

// Adam with its usual constants, for tests that train.
double train(Net<float>& net, int steps, float rate, const std::function<Samples()>& draw) {
    RandomStream random = RandomStreams(1).stream("start");
    Eigen::VectorXf x(net.layout()->entries());
    net.initialize(random, x);
    Eigen::ArrayXf m = Eigen::ArrayXf::Zero(x.size());
    Eigen::ArrayXf v = m;
    Eigen::VectorXf g;
    for (int step = 1; step <= steps; ++step) {
        net.gradient(x, draw(), g);
        m = 0.9F * m + 0.1F * g.array();
        v = 0.98F * v + 0.02F * g.array().square();
        const auto power = static_cast<float>(step);
        x.array() -= rate * (m / (1 - std::pow(0.9F, power))) /
                     ((v / (1 - std::pow(0.98F, power))).sqrt() + 1e-8F);
    }
    const Score score = net.score(x, draw());
    return score.loss / static_cast<double>(score.predictions);
}

TEST_CASE("transformer: a periodic language is learned to a loss near zero") {
    RandomStream random = RandomStreams(7).stream("language");
    boost::random::uniform_int_distribution<int> start(0, 4);
    const auto net = make_transformer<float>(
        {.vocabulary = 5, .context = 12, .width = 16, .heads = 2, .inner = 64});
    const auto draw = [&] {
        Samples batch;
        batch.tokens.resize(13, 16);
        for (Index s = 0; s < 16; ++s) {
            const int first = start(random);
            for (Index t = 0; t < 13; ++t) batch.tokens(t, s) = (first + static_cast<int>(t)) % 5;
        }
        return batch;
    };
    CHECK(train(*net, 150, 0.01F, draw) < 0.01);
}

// A word is said twice. The second half follows from the first, but only for a net that looks back:
// 4 of 9 predictions are a guess of one in 6.
TEST_CASE("transformer: it learns to copy") {
    RandomStream random = RandomStreams(7).stream("language");
    boost::random::uniform_int_distribution<int> letter(0, 5);
    const auto net = make_transformer<float>(
        {.vocabulary = 6, .context = 9, .width = 24, .heads = 2, .inner = 48, .layers = 2});
    const auto draw = [&] {
        Samples batch;
        batch.tokens.resize(10, 32);
        for (Index s = 0; s < 32; ++s)
            for (Index t = 0; t < 10; ++t)
                batch.tokens(t, s) = t < 5 ? letter(random) : batch.tokens(t - 5, s);
        return batch;
    };
    const double floor = 4 * std::log(6) / 9;
    const double loss = train(*net, 500, 0.005F, draw);
    CHECK(loss < floor + 0.05);
    CHECK(loss > floor - 0.05);
}

}  // namespace
}  // namespace paceline::transformer_learning_test
