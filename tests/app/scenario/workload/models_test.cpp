#include "app/scenario/workload/models.hpp"

#include <doctest/doctest.h>

#include "models/least_squares.hpp"
#include "models/nets/conv_net.hpp"
#include "models/nets/linear_regression.hpp"
#include "models/nets/lstm.hpp"
#include "models/nets/mlp.hpp"
#include "models/nets/residual_net.hpp"
#include "models/nets/softmax_regression.hpp"
#include "models/nets/transformer.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::models_test {
namespace {

const TrainingStudy study;

constexpr const char* digits = R"({"kind": "digits", "size": 12, "train": 40, "test": 10})";
constexpr const char* text =
    R"({"kind": "artificial-language", "vocabulary": 30, "steps": 6, "train": 40, "test": 10})";

ModelChoice model(const std::string& json, const std::string& data = "") {
    std::vector<std::string> settings{"workload.model=" + json};
    if (!data.empty()) settings.push_back("workload.data=" + data);
    return study.scenario(settings).training.value().model;
}

template <class Scalar>
void check_is(const ModelChoice& choice, const std::unique_ptr<Net<Scalar>>& net) {
    REQUIRE(choice.layout->tensors().size() == net->layout()->tensors().size());
    for (std::size_t i = 0; i < choice.layout->tensors().size(); ++i) {
        CHECK(choice.layout->tensors()[i].name == net->layout()->tensors()[i].name);
        CHECK(choice.layout->tensors()[i].shape == net->layout()->tensors()[i].shape);
    }
    CHECK(choice.tensor_macs == net->tensor_macs());
}

TEST_CASE("models: each kind is the net of its name, made for the data") {
    const std::string numbers = R"({"kind": "linear-regression", "dimension": 7})";
    check_is(model(R"({"kind": "linear-regression"})", numbers),
             make_linear_regression<double>({7, true}));
    check_is(model(R"({"kind": "softmax-regression"})"), make_softmax_regression<double>(20, 10));
    check_is(model(R"({"kind": "mlp", "hidden": []})"), make_mlp<float>({20, {}, 10}));
    check_is(model(R"({"kind": "cnn"})", digits),
             make_conv_net<float>({{1, 12, 12}, {16, 32}, 10}));
    check_is(model(R"({"kind": "resnet"})", digits),
             make_residual_net<float>({.image = {1, 12, 12}, .classes = 10}));
    check_is(model(R"({"kind": "lstm"})", text),
             make_lstm<float>({.vocabulary = 30, .width = 128, .hidden = 128, .steps = 6}));
    check_is(
        model(R"({"kind": "transformer"})", text),
        make_transformer<float>(
            {.vocabulary = 30, .context = 6, .width = 64, .heads = 4, .inner = 256, .layers = 2}));
}

TEST_CASE("models: every option is read") {
    const std::string numbers = R"({"kind": "linear-regression", "dimension": 7})";
    check_is(model(R"({"kind": "linear-regression", "bias": false})", numbers),
             make_linear_regression<double>({7, false}));
    check_is(model(R"({"kind": "mlp", "hidden": [5, 9]})"), make_mlp<float>({20, {5, 9}, 10}));
    check_is(model(R"({"kind": "cnn", "channels": [3]})", digits),
             make_conv_net<float>({{1, 12, 12}, {3}, 10}));
    ResidualNetShape residual{.image = {1, 12, 12}, .classes = 10};
    residual.width = 6;
    residual.blocks = 2;
    residual.groups = 3;
    check_is(model(R"({"kind": "resnet", "width": 6, "blocks": 2, "groups": 3})", digits),
             make_residual_net<float>(residual));
    check_is(
        model(R"({"kind": "lstm", "hidden": 5, "embedding": 4, "layers": 2})", text),
        make_lstm<float>({.vocabulary = 30, .width = 4, .hidden = 5, .layers = 2, .steps = 6}));
    check_is(
        model(R"({"kind": "lstm", "hidden": 5, "tied": true})", text),
        make_lstm<float>({.vocabulary = 30, .width = 5, .hidden = 5, .tied = true, .steps = 6}));
    check_is(model(R"({"kind": "transformer", "layers": 3, "width": 6, "heads": 2, "inner": 7,
                       "tied": false})",
                   text),
             make_transformer<float>({.vocabulary = 30,
                                      .context = 6,
                                      .width = 6,
                                      .heads = 2,
                                      .inner = 7,
                                      .layers = 3,
                                      .tied = false}));
    check_is(
        model(R"({"kind": "transformer", "width": 12})", text),
        make_transformer<float>(
            {.vocabulary = 30, .context = 6, .width = 12, .heads = 4, .inner = 48, .layers = 2}));
}

// A run stores the activations of one panel of an LSTM's samples, but of eight panels of tokens of
// a transformer: 8 samples of 32 steps.
TEST_CASE("models: the activations of a transformer are those of the sequences in memory at once") {
    const std::string language =
        R"({"kind": "artificial-language", "vocabulary": 30, "steps": 32, "train": 40, "test": 10})";
    const double matrices = 32 * (2 * (3 * 8 + 8 + 32 + 8) + 30);
    const double scores = 2 * 2 * 32 * 32;
    CHECK(model(R"({"kind": "transformer", "width": 8})", language).activations ==
          doctest::Approx((matrices + scores) * 8 / 32));
}

TEST_CASE("models: only linear regression has a minimum in closed form") {
    const Scenario scenario =
        study.scenario({R"(workload.model={"kind": "linear-regression", "bias": false})",
                        R"(workload.data={"kind": "linear-regression", "dimension": 3})"});
    const Training& training = scenario.training.value();
    const DataSetPtr set = training.data.set();
    const Dataset& data = *set;
    const Shards shards = training.data.deal(4, RandomStreams(1));

    CHECK(training.model.minimum(data, shards, 0.5, {}) ==
          least_squares(data.train, shards, false, 0.5));
    CHECK(model(R"({"kind": "softmax-regression"})").minimum == nullptr);
    CHECK(model(R"({"kind": "mlp", "hidden": [4]})").minimum == nullptr);
}

TEST_CASE("models: every kind of the table trains, and its loss falls") {
    struct Case {
        const char* model;
        const char* data;
        const char* rate;
    };
    for (const Case& c : {
             Case{R"({"kind": "linear-regression"})", R"({"kind": "linear-regression"})", "0.05"},
             Case{R"({"kind": "softmax-regression"})", R"({"kind": "teacher-network", "train": 256,
                                                          "test": 64})",
                  "0.1"},
             Case{R"({"kind": "mlp", "hidden": [8]})", digits, "0.01"},
             Case{R"({"kind": "cnn", "channels": [4]})", digits, "0.02"},
             Case{R"({"kind": "resnet", "width": 4, "groups": 2})", digits, "0.05"},
             Case{R"({"kind": "lstm", "hidden": 8})", text, "0.5"},
             Case{R"({"kind": "transformer", "width": 8})", text, "0.5"},
         }) {
        CAPTURE(c.model);
        const Metrics m = study.run(
            {std::string("workload.model=") + c.model, std::string("workload.data=") + c.data,
             std::string("optimizer.learning_rate=") + c.rate, "stop.iterations=12", "measure={}"});

        CHECK(m.outcome == "finished");
        REQUIRE(m.timeline.size() == 2);
        CHECK(m.timeline.back().train_loss < 0.98 * m.timeline.front().train_loss);
    }
}

}  // namespace
}  // namespace paceline::models_test
