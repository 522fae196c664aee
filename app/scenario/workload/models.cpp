#include "app/scenario/workload/models.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "models/kernels/kernels.hpp"
#include "models/least_squares.hpp"
#include "models/nets/conv_net.hpp"
#include "models/nets/linear_regression.hpp"
#include "models/nets/lstm.hpp"
#include "models/nets/mlp.hpp"
#include "models/nets/residual_net.hpp"
#include "models/nets/softmax_regression.hpp"
#include "models/nets/transformer.hpp"

namespace paceline {

namespace {

constexpr auto linear_keys = std::to_array<std::string_view>({"kind", "bias"});
constexpr auto softmax_keys = std::to_array<std::string_view>({"kind"});
constexpr auto mlp_keys = std::to_array<std::string_view>({"kind", "hidden"});
constexpr auto cnn_keys = std::to_array<std::string_view>({"kind", "channels"});
constexpr auto resnet_keys = std::to_array<std::string_view>({"kind", "width", "blocks", "groups"});
constexpr auto lstm_keys =
    std::to_array<std::string_view>({"kind", "embedding", "hidden", "layers", "tied"});
constexpr auto transformer_keys =
    std::to_array<std::string_view>({"kind", "layers", "width", "heads", "inner", "tied"});

constexpr std::int64_t most_width = 1'000'000;
constexpr std::int64_t most_parameters = 100'000'000;

// Returns the numbers that the layers put out for one sample: each takes as many
// multiply-accumulates as its tensor has entries for one output.
double activations_of(const Layout& layout, const std::vector<double>& macs) {
    double activations = 0;
    for (std::size_t i = 0; i < macs.size(); ++i) {
        const Tensor& tensor = layout.tensors()[i];
        if (tensor.compressible())
            activations += macs[i] * static_cast<double>(tensor.shape.front()) /
                           static_cast<double>(tensor.entries());
    }
    return activations;
}

// Convex models compute in double, nets in float.
template <class Scalar>
ModelChoice choice_of(const ObjectReader& read, std::unique_ptr<Net<Scalar>> net) {
    ModelChoice choice;
    choice.layout = net->layout();
    if (choice.layout->entries() > most_parameters)
        read.place().refuse(fmt::format("has {} parameters; a model that trains has at most {}",
                                        choice.layout->entries(), most_parameters));
    choice.tensor_macs = net->tensor_macs();
    choice.activations = activations_of(*choice.layout, choice.tensor_macs);
    choice.problem = [prototype = std::shared_ptr<const Net<Scalar>>(std::move(net))](
                         std::shared_ptr<const Dataset> data, ProblemOptions options) {
        return make_problem<Scalar>(prototype->clone(), std::move(data), std::move(options));
    };
    return choice;
}

void require(const ObjectReader& read, const DataShape& data, Prediction predicts,
             std::string_view what) {
    if (data.predicts != predicts)
        read.place().refuse(fmt::format("needs data of {}, and \"data\" has others", what));
}

// An index has 32 bits where addresses have.
Eigen::Index features_of(const DataShape& data) {
    return static_cast<Eigen::Index>(data.features);
}
Eigen::Index steps_of(const DataShape& data) {
    return static_cast<Eigen::Index>(data.steps);
}

void check_image(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::label, "labelled images");
    if (data.image.channels == 0)
        read.place().refuse("needs images, and \"data\" has none; \"digits\" are");
}

std::vector<Eigen::Index> as_widths(const Place& place) {
    std::vector<Eigen::Index> widths;
    if (!place.json->is_array()) place.refuse("is not a list of widths, such as [256]");
    for (std::size_t i = 0; i < place.json->size(); ++i)
        widths.push_back(as_integer(place.element(i), 1, most_width));
    if (widths.size() > 100) place.refuse("has more than 100 widths");
    return widths;
}

ModelChoice read_linear(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::number, "numbers to predict");
    LinearRegressionShape shape{features_of(data)};
    if (const auto p = read.optional("bias")) shape.bias = as_bool(*p);
    ModelChoice choice = choice_of(read, make_linear_regression<double>(shape));
    choice.minimum = [bias = shape.bias](const Dataset& set, const Shards& shards, double decay,
                                         const std::vector<double>& weights) {
        return least_squares(set.train, shards, bias, decay, weights);
    };
    return choice;
}

ModelChoice read_softmax(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::label, "labels");
    return choice_of(read, make_softmax_regression<double>(features_of(data), data.classes));
}

ModelChoice read_mlp(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::label, "labels");
    return choice_of(read,
                     make_mlp<float>({features_of(data),
                                      as_widths(read.required("hidden", "widths, such as [256]")),
                                      data.classes}));
}

ModelChoice read_cnn(const ObjectReader& read, const DataShape& data) {
    check_image(read, data);
    ConvNetShape shape;
    shape.image = data.image;
    shape.classes = data.classes;
    if (const auto p = read.optional("channels")) {
        shape.channels = as_widths(*p);
        if (shape.channels.empty()) p->refuse("names no channels; give at least one stage");
    }
    int height = data.image.height;
    int width = data.image.width;
    for (std::size_t i = 0; i < shape.channels.size(); ++i, height /= 2, width /= 2)
        if (height % 2 != 0 || width % 2 != 0)
            read.place().refuse(fmt::format(
                "each stage halves the image, and {}x{} cannot be halved {} times; give fewer "
                "\"channels\"",
                data.image.height, data.image.width, shape.channels.size()));
    return choice_of(read, make_conv_net<float>(shape));
}

ModelChoice read_resnet(const ObjectReader& read, const DataShape& data) {
    check_image(read, data);
    ResidualNetShape shape;
    shape.image = data.image;
    shape.classes = data.classes;
    if (const auto p = read.optional("width")) shape.width = as_integer(*p, 1, 4096);
    if (const auto p = read.optional("blocks"))
        shape.blocks = static_cast<int>(as_integer(*p, 1, 1000));
    if (const auto p = read.optional("groups")) shape.groups = as_integer(*p, 1, 4096);
    if (shape.width % shape.groups != 0)
        read.place().refuse(
            fmt::format("{} groups do not divide a width of {}", shape.groups, shape.width));
    return choice_of(read, make_residual_net<float>(shape));
}

ModelChoice read_lstm(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::next_token, "text");
    LstmShape shape{.vocabulary = data.classes, .width = 128, .hidden = 128};
    shape.steps = steps_of(data);
    if (const auto p = read.optional("hidden")) shape.hidden = as_integer(*p, 1, most_width);
    shape.width = shape.hidden;
    if (const auto p = read.optional("embedding")) shape.width = as_integer(*p, 1, most_width);
    if (const auto p = read.optional("layers"))
        shape.layers = static_cast<int>(as_integer(*p, 1, 16));
    if (const auto p = read.optional("tied")) {
        shape.tied = as_bool(*p);
        if (shape.tied && shape.width != shape.hidden)
            p->refuse("tied embeddings are as wide as \"hidden\"");
    }
    return choice_of(read, make_lstm<float>(shape));
}

ModelChoice read_transformer(const ObjectReader& read, const DataShape& data) {
    require(read, data, Prediction::next_token, "text");
    TransformerShape shape{.vocabulary = data.classes,
                           .context = steps_of(data),
                           .width = 64,
                           .heads = 4,
                           .layers = 2};
    if (const auto p = read.optional("layers"))
        shape.layers = static_cast<int>(as_integer(*p, 1, 100));
    if (const auto p = read.optional("width")) shape.width = as_integer(*p, 1, most_width);
    if (const auto p = read.optional("heads")) shape.heads = as_integer(*p, 1, most_width);
    if (shape.width % shape.heads != 0)
        read.place().refuse(
            fmt::format("{} heads do not divide a width of {}", shape.heads, shape.width));
    shape.inner = 4 * shape.width;
    if (const auto p = read.optional("inner")) shape.inner = as_integer(*p, 1, most_width);
    if (const auto p = read.optional("tied")) shape.tied = as_bool(*p);
    ModelChoice choice = choice_of(read, make_transformer<float>(shape));
    // The other nets store what a panel of samples puts out.
    choice.activations *= static_cast<double>(transformer_sequences_at_once(shape.context)) /
                          static_cast<double>(panel_lanes);
    return choice;
}

constexpr auto model_kinds = std::to_array<ModelEntry>({
    {"linear-regression", "a number, in double", linear_keys, &read_linear},
    {"softmax-regression", "convex classification, in double", softmax_keys, &read_softmax},
    {"mlp", "fully connected layers with ReLU", mlp_keys, &read_mlp},
    {"cnn", "3x3 convolutions, ReLU and pooling, a stage per entry of \"channels\"", cnn_keys,
     &read_cnn},
    {"resnet", "in the shape of the CIFAR ResNets, with group normalization", resnet_keys,
     &read_resnet},
    {"lstm", "a language model", lstm_keys, &read_lstm},
    {"transformer", "a language model, decoder-only in the form of GPT-2", transformer_keys,
     &read_transformer},
});

}  // namespace

std::span<const ModelEntry> model_table() {
    return model_kinds;
}

ModelChoice read_model(const Place& place, const DataShape& data) {
    const std::vector<std::string_view> names = names_of(model_kinds);
    const Place kind = kind_of(place, "a model", names);
    const ModelEntry& entry = model_kinds[as_name(kind, "a model", names)];
    ModelChoice choice = entry.read(ObjectReader(place, entry.keys), data);
    choice.name = std::string(entry.name);
    return choice;
}

}  // namespace paceline
