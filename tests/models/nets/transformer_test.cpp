#include "models/nets/transformer.hpp"

#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/decoder.hpp"
#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::transformer_test {
namespace {

using Eigen::Index;
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

// The equations of the header in plain matrices, a column for each token.
struct Reference {
    const Net<double>& net;
    const TransformerShape& shape;
    const Eigen::VectorXd& x;

    [[nodiscard]] RowMajor tensor(const std::string& name) const { return tensor_of(net, x, name); }

    [[nodiscard]] RowMajor dense(const std::string& name, const RowMajor& in) const {
        return (tensor(name + ".weight") * in).colwise() +
               Eigen::VectorXd(tensor(name + ".bias").col(0));
    }

    [[nodiscard]] RowMajor norm(const std::string& name, const RowMajor& in) const {
        RowMajor out = in;
        for (Index t = 0; t < in.cols(); ++t) {
            const Eigen::ArrayXd off = in.col(t).array() - in.col(t).mean();
            const double deviation = std::sqrt(off.square().mean() + 1e-5);
            out.col(t) = tensor(name + ".scale").col(0).array() * off / deviation +
                         tensor(name + ".shift").col(0).array();
        }
        return out;
    }

    [[nodiscard]] RowMajor attention(const RowMajor& qkv) const {
        const Index c = shape.width / shape.heads;
        RowMajor out = RowMajor::Zero(shape.width, qkv.cols());
        for (Index h = 0; h < shape.heads; ++h)
            for (Index t = 0; t < qkv.cols(); ++t) {
                const auto part = [&](Index which, Index token) {
                    return qkv.block(which * shape.width + h * c, token, c, 1);
                };
                Eigen::VectorXd p(t + 1);
                for (Index s = 0; s <= t; ++s)
                    p[s] = std::exp(part(0, t).cwiseProduct(part(1, s)).sum() /
                                    std::sqrt(static_cast<double>(c)));
                for (Index s = 0; s <= t; ++s)
                    out.block(h * c, t, c, 1) += p[s] / p.sum() * part(2, s);
            }
        return out;
    }

    [[nodiscard]] double loss(const Eigen::VectorXi& tokens) const {
        const Index steps = tokens.size() - 1;
        RowMajor in(shape.width, steps);
        for (Index t = 0; t < steps; ++t)
            in.col(t) = tensor("embedding").row(tokens[t]) + tensor("position").row(t);
        for (int layer = 1; layer <= shape.layers; ++layer) {
            const std::string block = fmt::format("block{}.", layer);
            in += dense(block + "projection",
                        attention(dense(block + "qkv", norm(block + "norm1", in))));
            RowMajor inner = dense(block + "inner", norm(block + "norm2", in));
            for (double& z : inner.reshaped())
                z *= 0.5 *
                     (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (z + 0.044715 * z * z * z)));
            in += dense(block + "outer", inner);
        }
        const RowMajor logits =
            tensor(shape.tied ? "embedding" : "output.weight") * norm("norm", in);
        double sum = 0;
        for (Index t = 0; t < steps; ++t)
            sum += std::log(logits.col(t).array().exp().sum()) - logits(tokens[t + 1], t);
        return sum;
    }
};

TEST_CASE("transformer: the loss is that of the equations") {
    struct Case {
        TransformerShape shape;
        Index steps;
    };
    for (const Case& c : {
             Case{{.vocabulary = 7, .context = 6, .width = 4, .heads = 1, .inner = 16}, 6},
             Case{{.vocabulary = 9,
                   .context = 8,
                   .width = 6,
                   .heads = 3,
                   .inner = 5,
                   .layers = 3,
                   .tied = false},
                  5},
             Case{{.vocabulary = 5, .context = 70, .width = 8, .heads = 2, .inner = 9, .layers = 2},
                  67},
         })
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(c.steps);
            CAPTURE(seed);
            RandomStream random = RandomStreams(seed).stream("transformer");
            const auto net = make_transformer<double>(c.shape);
            const Eigen::VectorXd x = random_point(random, net->layout()->entries(), 0.6);
            const Samples batch =
                draw_tokens(random, 11, c.steps, static_cast<int>(c.shape.vocabulary));
            const Reference reference{*net, c.shape, x};
            double expected = 0;
            for (Index s = 0; s < 11; ++s) expected += reference.loss(batch.tokens.col(s));

            const Score score = net->score(x, batch);

            CHECK(score.loss == doctest::Approx(expected).epsilon(1e-12));
            CHECK(score.predictions == 11 * c.steps);
        }
}

TransformerShape random_shape(RandomStream& random) {
    const auto draw = [&](int least, int most) {
        return boost::random::uniform_int_distribution<int>(least, most)(random);
    };
    TransformerShape shape{.vocabulary = draw(2, 9), .context = draw(1, 9), .width = 1};
    shape.heads = draw(1, 3);
    shape.width = shape.heads * draw(1, 3);
    shape.inner = draw(1, 9);
    shape.layers = draw(1, 3);
    shape.tied = draw(0, 1) == 1;
    return shape;
}

TEST_CASE(
    "transformer: every tensor's gradient is that of finite differences, whatever the sizes") {
    constexpr double step = 1e-6;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomStream random = RandomStreams(seed).stream("transformer");
        const TransformerShape shape = random_shape(random);
        const auto net = make_transformer<double>(shape);
        const Layout& layout = *net->layout();
        const Eigen::VectorXd x = random_point(random, layout.entries(), 0.5);
        const Samples batch =
            draw_tokens(random, 3, shape.context, static_cast<int>(shape.vocabulary));
        Eigen::VectorXd g;
        net->gradient(x, batch, g);
        for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
            CAPTURE(seed);
            CAPTURE(layout.tensors()[t].name);
            double error = 0;
            for (Index i = layout.offset(t); i < layout.offset(t + 1); ++i) {
                Eigen::VectorXd moved = x;
                moved[i] = x[i] + step;
                const double above = net->score(moved, batch).loss;
                moved[i] = x[i] - step;
                const Score below = net->score(moved, batch);
                const double difference =
                    (above - below.loss) / (2 * step) / static_cast<double>(below.predictions);
                error += (g[i] - difference) * (g[i] - difference);
            }
            const double size = g.segment(layout.offset(t), layout.tensors()[t].entries()).norm();
            // A width of 1 normalizes to 0 and biases of keys shift all scores alike: exact zeros.
            CHECK(std::sqrt(error) < 1e-6 * size + 1e-8);
        }
    }
}

TEST_CASE("transformer: it has the parameters and the work of a decoder by its sizes") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("transformer");
        const TransformerShape shape = random_shape(random);
        const DecoderSizes sizes{.layers = shape.layers,
                                 .width = shape.width,
                                 .heads = shape.heads,
                                 .vocabulary = shape.vocabulary,
                                 .context = shape.context,
                                 .inner = shape.inner,
                                 .tied = shape.tied};
        const auto net = make_transformer<float>(shape);
        CHECK(static_cast<double>(net->layout()->entries()) == parameters_of(sizes));
        double macs = 0;
        for (const ProfileLayer& layer : decoder_profile(sizes).layers) macs += layer.macs;
        const std::vector<double> by_tensor = net->tensor_macs();
        CHECK(std::accumulate(by_tensor.begin(), by_tensor.end(), 0.0) == macs);
    }
}

TEST_CASE("transformer: its tensors, tied and untied") {
    const TransformerShape shape{
        .vocabulary = 100, .context = 20, .width = 8, .heads = 2, .inner = 12, .layers = 2};
    const auto net = make_transformer<float>(shape);
    const auto& tensors = net->layout()->tensors();
    const std::vector<std::pair<std::string, std::vector<std::int64_t>>> block{
        {"norm1.scale", {8}}, {"norm1.shift", {8}},          {"qkv.weight", {24, 8}},
        {"qkv.bias", {24}},   {"projection.weight", {8, 8}}, {"projection.bias", {8}},
        {"norm2.scale", {8}}, {"norm2.shift", {8}},          {"inner.weight", {12, 8}},
        {"inner.bias", {12}}, {"outer.weight", {8, 12}},     {"outer.bias", {8}}};
    REQUIRE(tensors.size() == 2 + 2 * block.size() + 2);
    CHECK(tensors[0].name == "embedding");
    CHECK(tensors[0].shape == std::vector<std::int64_t>{100, 8});
    CHECK(tensors[1].name == "position");
    CHECK(tensors[1].shape == std::vector<std::int64_t>{20, 8});
    for (std::size_t layer = 0; layer < 2; ++layer)
        for (std::size_t t = 0; t < block.size(); ++t) {
            const Tensor& tensor = tensors[2 + layer * block.size() + t];
            CHECK(tensor.name == fmt::format("block{}.{}", layer + 1, block[t].first));
            CHECK(tensor.shape == block[t].second);
        }
    CHECK(tensors.back().name == "norm.shift");

    TransformerShape untied = shape;
    untied.tied = false;
    const auto untied_net = make_transformer<float>(untied);
    const auto& more = untied_net->layout()->tensors();
    REQUIRE(more.size() == tensors.size() + 1);
    CHECK(more.back().name == "output.weight");
    CHECK(more.back().shape == std::vector<std::int64_t>{100, 8});
}

TEST_CASE("transformer: multiply-accumulates count the steps, and attention with its inputs") {
    TransformerShape shape{.vocabulary = 100, .context = 20, .width = 8, .heads = 2, .inner = 12};
    CHECK(make_transformer<float>(shape)->tensor_macs() ==
          std::vector<double>{20 * 100 * 8, 0, 0, 0, 20 * 24 * 8 + 2 * 20 * 20 * 8, 0, 20 * 8 * 8,
                              0, 0, 0, 20 * 12 * 8, 0, 20 * 8 * 12, 0, 0, 0});
    shape.tied = false;
    const std::vector<double> untied = make_transformer<float>(shape)->tensor_macs();
    CHECK(untied.front() == 0);
    CHECK(untied.back() == 20 * 100 * 8);
}

double deviation_of(const RowMajor& values) {
    return std::sqrt(values.array().square().mean());
}

TEST_CASE("transformer: it starts as GPT-2 does, with a loss close to ln(vocabulary)") {
    RandomStream random = RandomStreams(1).stream("transformer");
    const auto net = make_transformer<double>(
        {.vocabulary = 500, .context = 100, .width = 60, .heads = 4, .inner = 240, .layers = 8});
    Eigen::VectorXd x(net->layout()->entries());
    net->initialize(random, x);
    const auto is_close = [&](std::string_view name, double deviation) {
        CAPTURE(name);
        const RowMajor values = tensor_of(*net, x, name);
        const double error = deviation / std::sqrt(2.0 * static_cast<double>(values.size()));
        CHECK(std::abs(deviation_of(values) - deviation) < 4 * error);
    };
    is_close("embedding", 0.02);
    is_close("position", 0.01);
    is_close("block3.qkv.weight", 0.02);
    is_close("block3.inner.weight", 0.02);
    is_close("block1.projection.weight", 0.005);  // 0.02 / sqrt(16)
    is_close("block8.outer.weight", 0.005);
    CHECK(tensor_of(*net, x, "block2.norm1.scale").isOnes(0));
    CHECK(tensor_of(*net, x, "norm.scale").isOnes(0));
    for (const char* zero : {"block2.norm1.shift", "block2.qkv.bias", "block8.projection.bias",
                             "block5.inner.bias", "block5.outer.bias", "norm.shift"})
        CHECK(tensor_of(*net, x, zero).isZero(0));
    Eigen::VectorXd g;
    // Logits have a deviation of 0.02 sqrt(60) = 0.15, which adds half their variance: 0.012.
    CHECK(net->gradient(x, draw_tokens(random, 4, 100, 500), g) ==
          doctest::Approx(std::log(500) + 0.012).epsilon(0.01));
}

TEST_CASE("transformer: with zero parameters the loss is ln(vocabulary) per token") {
    RandomStream random = RandomStreams(1).stream("transformer");
    const auto net = make_transformer<double>(
        {.vocabulary = 50, .context = 8, .width = 4, .heads = 2, .inner = 16});
    Eigen::VectorXd g;
    CHECK(net->gradient(Eigen::VectorXd::Zero(net->layout()->entries()),
                        draw_tokens(random, 3, 8, 50),
                        g) == doctest::Approx(std::log(50)).epsilon(1e-14));
}

// As for an LSTM: beyond a million logits, the panels are processed in groups.
TEST_CASE(
    "transformer: with a vocabulary so large that logits of few panels are kept, it is the same") {
    RandomStream random = RandomStreams(1).stream("transformer");
    const TransformerShape shape{.vocabulary = 14'000, .context = 40, .width = 2, .inner = 3};
    const auto net = make_transformer<double>(shape);
    const Eigen::VectorXd x = random_point(random, net->layout()->entries(), 0.8);
    const Samples batch = draw_tokens(random, 3, 40, 14'000);
    Eigen::VectorXd g;
    const double loss = net->gradient(x, batch, g);

    const Reference reference{*net, shape, x};
    double expected = 0;
    for (Index s = 0; s < 3; ++s) expected += reference.loss(batch.tokens.col(s));
    CHECK(loss == doctest::Approx(expected / 120).epsilon(1e-12));
    const Eigen::VectorXd direction = random_point(random, x.size(), 1);
    constexpr double step = 1e-5;
    const double above = net->score(x + step * direction, batch).loss / 120;
    const double below = net->score(x - step * direction, batch).loss / 120;
    CHECK((above - below) / (2 * step) == doctest::Approx(g.dot(direction)).epsilon(1e-6));
}

// The lanes after the last token of a sequence are padding, which must not keep what it held
// before.
TEST_CASE("transformer: a diverged call does not spoil the next") {
    RandomStream random = RandomStreams(1).stream("transformer");
    const auto net = make_transformer<double>(
        {.vocabulary = 5, .context = 9, .width = 4, .heads = 2, .inner = 6, .layers = 2});
    const Samples batch = draw_tokens(random, 3, 9, 5);
    const Eigen::VectorXd x = random_point(random, net->layout()->entries(), 0.5);
    Eigen::VectorXd expected;
    net->gradient(x, batch, expected);
    Eigen::VectorXd g;
    net->gradient(Eigen::VectorXd::Constant(x.size(), std::nan("")), batch, g);
    net->gradient(x, batch, g);
    CHECK(g == expected);
}

TEST_CASE("transformer: tokens outside of the vocabulary, and samples too long, are refused") {
    const auto net =
        make_transformer<float>({.vocabulary = 5, .context = 3, .width = 2, .inner = 4});
    const Eigen::VectorXf x = Eigen::VectorXf::Zero(net->layout()->entries());
    const auto refuses = [&](Index rows, int token) {
        Samples batch;
        batch.tokens.setConstant(rows, 2, token);
        CHECK_THROWS_AS(static_cast<void>(net->score(x, batch)), LogicError);
    };
    refuses(3, 5);
    refuses(3, -1);
    refuses(1, 1);
    refuses(5, 1);
    CHECK_THROWS_AS(make_transformer<float>(
                        {.vocabulary = 5, .context = 3, .width = 4, .heads = 3, .inner = 4}),
                    LogicError);
}

}  // namespace
}  // namespace paceline::transformer_test
