#include "models/nets/lstm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::lstm_test {
namespace {

using Eigen::Index;

double sigmoid(double z) {
    return 1 / (1 + std::exp(-z));
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor tensor_of(const Net<double>& net, const Eigen::VectorXd& x, std::string_view name) {
    const Layout& layout = *net.layout();
    for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
        const Tensor& tensor = layout.tensors()[t];
        if (tensor.name != name) continue;
        const Index rows = tensor.shape[0];
        return x.segment(layout.offset(t), tensor.entries())
            .reshaped<Eigen::RowMajor>(rows, tensor.entries() / rows);
    }
    FAIL("no tensor " << name);
    return {};
}

// One sample's loss: the equations of the header, one number at a time.
double sample_loss(const Net<double>& net, const LstmShape& shape, const Eigen::VectorXd& x,
                   const Eigen::VectorXi& tokens) {
    std::vector<Eigen::VectorXd> h(static_cast<std::size_t>(shape.layers),
                                   Eigen::VectorXd::Zero(shape.hidden));
    auto c = h;
    const RowMajor embedding = tensor_of(net, x, "embedding");
    const RowMajor out = shape.tied ? embedding : tensor_of(net, x, "output.weight");
    double loss = 0;
    for (Index t = 0; t + 1 < tokens.size(); ++t) {
        Eigen::VectorXd in = embedding.row(tokens[t]);
        for (std::size_t layer = 0; layer < h.size(); ++layer) {
            const std::string name = "lstm" + std::to_string(layer + 1);
            const Eigen::VectorXd z = tensor_of(net, x, name + ".input") * in +
                                      tensor_of(net, x, name + ".recurrent") * h[layer] +
                                      tensor_of(net, x, name + ".bias");
            for (Index j = 0; j < shape.hidden; ++j) {
                const Index n = shape.hidden;
                c[layer][j] =
                    sigmoid(z[n + j]) * c[layer][j] + sigmoid(z[j]) * std::tanh(z[2 * n + j]);
                h[layer][j] = sigmoid(z[3 * n + j]) * std::tanh(c[layer][j]);
            }
            in = h[layer];
        }
        const Eigen::VectorXd logits = out * in + tensor_of(net, x, "output.bias");
        loss += std::log(logits.array().exp().sum()) - logits[tokens[t + 1]];
    }
    return loss;
}

TEST_CASE("lstm: the loss is that of the equations, for one layer and more, tied or not") {
    for (const LstmShape& shape :
         {LstmShape{.vocabulary = 7, .width = 4, .hidden = 9},
          LstmShape{.vocabulary = 20, .width = 5, .hidden = 5, .layers = 3},
          LstmShape{.vocabulary = 6, .width = 8, .hidden = 8, .layers = 2, .tied = true}})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(shape.layers);
            CAPTURE(seed);
            RandomStream random = RandomStreams(seed).stream("lstm");
            const auto net = make_lstm<double>(shape);
            const Eigen::VectorXd x = random_point(random, net->layout()->entries(), 0.8);
            const Samples batch = draw_tokens(random, 35, 6, static_cast<int>(shape.vocabulary));
            double expected = 0;
            for (Index s = 0; s < 35; ++s)
                expected += sample_loss(*net, shape, x, batch.tokens.col(s));

            const Score score = net->score(x, batch);

            CHECK(score.loss == doctest::Approx(expected).epsilon(1e-12));
            CHECK(score.predictions == 35 * 6);
        }
}

// A step has 32 logits per word of the vocabulary. Beyond a million of them, the steps of one
// sample are processed in groups.
TEST_CASE(
    "lstm: with a vocabulary so large that logits of few steps are kept, it is the same net") {
    RandomStream random = RandomStreams(1).stream("lstm");
    const LstmShape shape{.vocabulary = 14'000, .width = 2, .hidden = 3};
    const auto net = make_lstm<double>(shape);
    const Eigen::VectorXd x = random_point(random, net->layout()->entries(), 0.8);
    const Samples batch = draw_tokens(random, 3, 5, 14'000);
    Eigen::VectorXd g;
    const double loss = net->gradient(x, batch, g);

    double expected = 0;
    for (Index s = 0; s < 3; ++s) expected += sample_loss(*net, shape, x, batch.tokens.col(s));
    CHECK(loss == doctest::Approx(expected / 15).epsilon(1e-12));
    // Along one direction: checking 10^5 parameters one by one would take minutes.
    const Eigen::VectorXd direction = random_point(random, x.size(), 1);
    constexpr double step = 1e-5;
    const double above = net->score(x + step * direction, batch).loss / 15;
    const double below = net->score(x - step * direction, batch).loss / 15;
    CHECK((above - below) / (2 * step) == doctest::Approx(g.dot(direction)).epsilon(1e-6));
}

TEST_CASE("lstm: with zero parameters the loss is ln(vocabulary) per token") {
    RandomStream random = RandomStreams(1).stream("lstm");
    const auto net = make_lstm<double>({.vocabulary = 50, .width = 4, .hidden = 4});
    Eigen::VectorXd g;

    CHECK(net->gradient(Eigen::VectorXd::Zero(net->layout()->entries()),
                        draw_tokens(random, 3, 8, 50),
                        g) == doctest::Approx(std::log(50)).epsilon(1e-14));
}

TEST_CASE("lstm: its tensors, untied and tied") {
    const auto net = make_lstm<float>({.vocabulary = 100, .width = 8, .hidden = 16, .layers = 2});
    const auto& tensors = net->layout()->tensors();
    const std::vector<std::string> names{"embedding",  "lstm1.input",   "lstm1.recurrent",
                                         "lstm1.bias", "lstm2.input",   "lstm2.recurrent",
                                         "lstm2.bias", "output.weight", "output.bias"};
    REQUIRE(tensors.size() == names.size());
    for (std::size_t t = 0; t < names.size(); ++t) CHECK(tensors[t].name == names[t]);
    CHECK(tensors[0].shape == std::vector<std::int64_t>{100, 8});
    CHECK(tensors[1].shape == std::vector<std::int64_t>{64, 8});
    CHECK(tensors[2].shape == std::vector<std::int64_t>{64, 16});
    CHECK(tensors[4].shape == std::vector<std::int64_t>{64, 16});
    CHECK(tensors[7].shape == std::vector<std::int64_t>{100, 16});

    const auto tied =
        make_lstm<float>({.vocabulary = 100, .width = 16, .hidden = 16, .tied = true});
    CHECK(tied->layout()->tensors().size() == 5);
    CHECK(tied->layout()->tensors()[4].name == "output.bias");
    CHECK_THROWS_AS(make_lstm<float>({.vocabulary = 9, .width = 3, .hidden = 4, .tied = true}),
                    LogicError);
}

TEST_CASE("lstm: multiply-accumulates count the steps, and an embedding only where it multiplies") {
    const auto net = make_lstm<float>({.vocabulary = 100, .width = 8, .hidden = 16, .steps = 20});
    CHECK(net->tensor_macs() ==
          std::vector<double>{0, 20 * 64 * 8, 20 * 64 * 16, 0, 20 * 100 * 16, 0});
    const auto tied =
        make_lstm<float>({.vocabulary = 100, .width = 16, .hidden = 16, .tied = true, .steps = 20});
    CHECK(tied->tensor_macs().front() == 20 * 100 * 16);
}

TEST_CASE("lstm: it starts uniform in +-1/sqrt(hidden), and with forget gates open") {
    RandomStream random = RandomStreams(1).stream("lstm");
    const auto net = make_lstm<double>({.vocabulary = 50, .width = 20, .hidden = 25});
    Eigen::VectorXd x(net->layout()->entries());
    net->initialize(random, x);
    const RowMajor recurrent = tensor_of(*net, x, "lstm1.recurrent");
    const RowMajor bias = tensor_of(*net, x, "lstm1.bias");

    CHECK(recurrent.cwiseAbs().maxCoeff() < 0.2);
    CHECK(recurrent.cwiseAbs().maxCoeff() > 0.199);
    CHECK(std::abs(recurrent.mean()) < 5 * 0.2 / std::sqrt(3.0 * 2500));
    CHECK(bias.topRows(25).isZero(0));
    CHECK(bias.middleRows(25, 25).isOnes(0));
    CHECK(bias.bottomRows(50).isZero(0));
}

TEST_CASE("lstm: tokens outside of the vocabulary are refused") {
    const auto net = make_lstm<float>({.vocabulary = 5, .width = 3, .hidden = 4});
    const Eigen::VectorXf x = Eigen::VectorXf::Zero(net->layout()->entries());
    Samples batch;
    batch.tokens.setConstant(3, 2, 5);
    CHECK_THROWS_AS(static_cast<void>(net->score(x, batch)), LogicError);
    batch.tokens.setConstant(3, 2, -1);
    CHECK_THROWS_AS(static_cast<void>(net->score(x, batch)), LogicError);
    batch.tokens.setConstant(1, 2, 1);
    CHECK_THROWS_AS(static_cast<void>(net->score(x, batch)), LogicError);
}

}  // namespace
}  // namespace paceline::lstm_test
