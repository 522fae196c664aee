#include "tests/models/nets/net_cases.hpp"

#include <numeric>
#include <utility>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "models/nets/conv_net.hpp"
#include "models/nets/linear_regression.hpp"
#include "models/nets/lstm.hpp"
#include "models/nets/mlp.hpp"
#include "models/nets/residual_net.hpp"
#include "models/nets/softmax_regression.hpp"
#include "models/nets/transformer.hpp"

namespace paceline {

using Eigen::Index;

namespace {

NetCase mlp_case(std::string name, const MlpShape& shape) {
    return {std::move(name), [=] { return make_mlp<double>(shape); },
            [=] { return make_mlp<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_features(random, samples, shape.features,
                                     static_cast<int>(shape.classes));
            }};
}

NetCase conv_case(std::string name, const ConvNetShape& shape) {
    const Index pixels = shape.image.channels * shape.image.height * shape.image.width;
    return {std::move(name), [=] { return make_conv_net<double>(shape); },
            [=] { return make_conv_net<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_features(random, samples, pixels, static_cast<int>(shape.classes));
            }};
}

NetCase residual_case(std::string name, const ResidualNetShape& shape) {
    const Index pixels = shape.image.channels * shape.image.height * shape.image.width;
    return {std::move(name), [=] { return make_residual_net<double>(shape); },
            [=] { return make_residual_net<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_features(random, samples, pixels, static_cast<int>(shape.classes));
            }};
}

NetCase lstm_case(std::string name, const LstmShape& shape, Index steps) {
    return {std::move(name), [=] { return make_lstm<double>(shape); },
            [=] { return make_lstm<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_tokens(random, samples, steps, static_cast<int>(shape.vocabulary));
            }};
}

NetCase transformer_case(std::string name, const TransformerShape& shape, Index steps) {
    return {std::move(name), [=] { return make_transformer<double>(shape); },
            [=] { return make_transformer<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_tokens(random, samples, steps, static_cast<int>(shape.vocabulary));
            }};
}

NetCase linear_case(std::string name, const LinearRegressionShape& shape) {
    return {std::move(name), [=] { return make_linear_regression<double>(shape); },
            [=] { return make_linear_regression<float>(shape); },
            [=](RandomStream& random, Index samples) {
                return draw_features(random, samples, shape.features, 2);
            }};
}

NetCase softmax_case(Index features, int classes) {
    return {"softmax regression",
            [=] { return make_softmax_regression<double>(features, classes); },
            [=] { return make_softmax_regression<float>(features, classes); },
            [=](RandomStream& random, Index samples) {
                return draw_features(random, samples, features, classes);
            }};
}

}  // namespace

std::vector<NetCase> net_cases() {
    return {
        linear_case("linear regression", {.features = 7}),
        linear_case("linear regression without a bias", {.features = 5, .bias = false}),
        softmax_case(19, 13),
        mlp_case("mlp without hidden layers", {.features = 9, .hidden = {}, .classes = 3}),
        mlp_case("mlp with one", {.features = 20, .hidden = {13}, .classes = 4}),
        mlp_case("mlp with three", {.features = 5, .hidden = {17, 34, 3}, .classes = 2}),
        conv_case("convolutional net", {.image = {1, 6, 5}, .channels = {3, 4}, .classes = 3}),
        conv_case("convolutional net with one stage",
                  {.image = {3, 4, 7}, .channels = {5}, .classes = 4}),
        residual_case("residual net",
                      {.image = {2, 5, 6}, .width = 2, .blocks = 1, .groups = 2, .classes = 3}),
        residual_case("residual net of two blocks a stage",
                      {.image = {1, 3, 4}, .width = 2, .blocks = 2, .groups = 1, .classes = 2}),
        lstm_case("lstm", {.vocabulary = 11, .width = 5, .hidden = 6}, 7),
        lstm_case("lstm of one step", {.vocabulary = 5, .width = 3, .hidden = 4}, 1),
        lstm_case("lstm with two layers, tied",
                  {.vocabulary = 9, .width = 6, .hidden = 6, .layers = 2, .tied = true}, 5),
        transformer_case(
            "transformer",
            {.vocabulary = 11, .context = 7, .width = 6, .heads = 2, .inner = 10, .layers = 2}, 7),
        transformer_case("transformer of one step, untied",
                         {.vocabulary = 5, .context = 1, .width = 3, .inner = 7, .tied = false}, 1),
        transformer_case("transformer whose steps fill more than a panel",
                         {.vocabulary = 3, .context = 34, .width = 4, .heads = 2, .inner = 5}, 33),
    };
}

Samples draw_features(RandomStream& random, Index samples, Index features, int classes) {
    boost::random::normal_distribution<float> normal;
    boost::random::uniform_int_distribution<int> label(0, classes - 1);
    Samples drawn;
    drawn.inputs.resize(features, samples);
    drawn.labels.resize(samples);
    drawn.targets.resize(samples);
    for (Index sample = 0; sample < samples; ++sample) {
        for (Index f = 0; f < features; ++f) drawn.inputs(f, sample) = normal(random);
        drawn.labels[sample] = label(random);
        drawn.targets[sample] = normal(random);
    }
    return drawn;
}

Samples draw_tokens(RandomStream& random, Index samples, Index steps, int vocabulary) {
    boost::random::uniform_int_distribution<int> token(0, vocabulary - 1);
    Samples drawn;
    drawn.tokens.resize(steps + 1, samples);
    for (Index sample = 0; sample < samples; ++sample)
        for (Index step = 0; step <= steps; ++step) drawn.tokens(step, sample) = token(random);
    return drawn;
}

Eigen::VectorXd random_point(RandomStream& random, Index size, double deviation) {
    boost::random::normal_distribution<double> normal(0, deviation);
    Eigen::VectorXd x(size);
    for (double& value : x) value = normal(random);
    return x;
}

Samples part_of(const Samples& all, Index first, Index count) {
    std::vector<int> which(static_cast<std::size_t>(count));
    std::iota(which.begin(), which.end(), static_cast<int>(first));
    Samples part;
    gather(all, which, part);
    return part;
}

double gradient_error(Net<double>& net, const Eigen::VectorXd& x, const Samples& batch) {
    // Small enough that a ReLU's kink is seldom within a step, and large enough that the quotient
    // keeps nine digits of a loss of order 1, rounded to 1e-16.
    constexpr double step = 1e-6;
    Eigen::VectorXd g;
    net.gradient(x, batch, g);
    Eigen::VectorXd moved = x;
    Eigen::VectorXd differences(x.size());
    for (Index i = 0; i < x.size(); ++i) {
        moved[i] = x[i] + step;
        const double above = net.score(moved, batch).loss;
        moved[i] = x[i] - step;
        const Score below = net.score(moved, batch);
        moved[i] = x[i];
        differences[i] = (above - below.loss) / (2 * step) / static_cast<double>(below.predictions);
    }
    return (g - differences).norm() / g.norm();
}

}  // namespace paceline
