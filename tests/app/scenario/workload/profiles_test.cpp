#include "app/scenario/workload/profiles.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/sparse/sparse.hpp"
#include "app/host/files.hpp"
#include "app/json/resources.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::profiles_test {
namespace {

using namespace std::chrono_literals;
using doctest::Approx;

struct Published {
    std::string name;
    std::int64_t parameters;
    double gradient_mib;         // fp32
    double macs;                 // forward, per sample
    std::int64_t nominal_bytes;  // 6 bytes x 0.001 for 2-D tensors, 4 bytes per 1-D entry
};

// Parameters: torchvision's weight metadata for Inception-v3, ResNet-50 and VGG-16, derived for the
// others (published: 60.2M for ResNet-152, 336M for BERT-Large, 210M for Transformer).
// Gradient sizes: Lin et al., ICLR 2018, Tables 3 and 4, where given. DeepSpeech is a stand-in:
// only its 488.08 MiB are published, and the 0.74 MB of Table 4 are not reproduced.
// Work of BERT-Large (of Base: 12 layers of 768): per token and layer 12 x 1024^2 and, for
// attention, 2 x 128 x 1024; one pooler; 20 tokens decoded. Work of the Transformer: 12 and 16 x
// 1024^2 for the layers of the encoder and the decoder, 32 x 1024^2 for the output.
const std::vector<Published> published{
    {"alexnet", 60'965'224, 232.56, 724'406'816, 408'000},
    {"bert-base", 110'106'428, 420.02,
     128 * 12 * (12 * 768. * 768 + 2 * 128 * 768) + 21 * 768. * 768 + 20 * 30'522. * 768,
     1'279'469},
    {"bert-large", 336'226'108, 1282.60,
     128 * 24 * (12 * 1024. * 1024 + 2 * 128 * 1024) + 21 * 1024. * 1024 + 20 * 30'522. * 1024,
     3'439'844},
    {"deepspeech", 127'948'528, 488.08, 7.632e9, 1'238'664},
    {"googlenet", 6'998'552, 26.70, 1.6e9, 75'062},
    {"gpt2", 124'439'808, 474.70, 1024 * (124'439'808 - 1024 * 768. + 24 * 1024 * 768), 1'231'287},
    {"gpt2-large", 774'030'080, 2952.69, 1024 * (774'030'080 - 1024 * 1280. + 72 * 1024 * 1280),
     7'046'971},
    {"gpt2-medium", 354'823'168, 1353.54, 1024 * (354'823'168 - 1024 * 1024. + 48 * 1024 * 1024),
     3'413'154},
    {"gpt2-xl", 1'557'611'200, 5941.82, 1024 * (1'557'611'200 - 1024 * 1600. + 96 * 1024 * 1600),
     13'346'058},
    {"inception-v3", 27'161'264, 103.61, 5.7e9, 315'634},
    {"llama-7b", 6'738'415'616, 25'705.02,
     2048 * (6'738'415'616 - 32'000 * 4096. + 64. * 2048 * 4096), 41'493'856},
    {"ptb-lstm", 51'034'000, 194.68, 51'000'000, 442'000},
    {"resnet-101", 44'549'160, 169.94, 7.8e9, 692'033},
    {"resnet-110", 1'727'962, 6.59, 253'000'000, 42'743},
    {"resnet-152", 60'192'808, 229.62, 11.5e9, 969'938},
    {"resnet-50", 25'557'032, 97.49, 4'089'184'256, 369'497},
    {"tinyllama-1.1b", 1'100'048'384, 4196.35,
     2048 * (1'100'048'384 - 32'000 * 2048. + 44. * 2048 * 2048), 6'968'377},
    {"transformer", 209'911'808, 800.75, 200 * 1024. * 1024, 2'044'723},
    {"vgg-16", 138'357'544, 527.79, 15'470'264'320, 883'729},
    {"vgg-a", 132'863'336, 506.83, 7.61e9, 844'884},
    {"vit-b-16", 86'567'656, 330.23, 17.56e9, 1'011'115},
};

Profile profile_of(const std::string& name, const std::string& scenario = "scenario.json") {
    const Json json(name);
    const Sources files = files_of_this_machine();
    return load_profile({&json, &scenario, "workload.profile", &files})->profile;
}

constexpr std::string_view tiny = R"({
  "name": "tiny", "source": "this test",
  "dataset": {"samples": 640},
  "layers": [
    {"name": "fc", "macs": 8, "tensors": [{"name": "weight", "shape": [2, 4]},
                                          {"name": "bias", "shape": [2]}]}
  ],
  "throughput": [
    {"device": "abacus", "batch": 32, "samples_per_s": 64, "source": "this test"},
    {"device": "slide-rule", "samples_per_s": 128, "source": "this test"}
  ]
})";

TEST_CASE("profiles: the built-in ones stand in alphabetical order") {
    CHECK(profile_names() == std::vector<std::string_view>{
                                 "alexnet",        "bert-base",    "bert-large", "deepspeech",
                                 "googlenet",      "gpt2",         "gpt2-large", "gpt2-medium",
                                 "gpt2-xl",        "inception-v3", "llama-7b",   "ptb-lstm",
                                 "resnet-101",     "resnet-110",   "resnet-152", "resnet-50",
                                 "tinyllama-1.1b", "transformer",  "vgg-16",     "vgg-a",
                                 "vit-b-16"});
}

TEST_CASE("profiles: the built-in ones have the published numbers of parameters") {
    for (const Published& net : published) {
        CAPTURE(net.name);
        const LayoutPtr layout = profile_of(net.name).layout();

        const double mib = static_cast<double>(layout->entries()) * 4 / (1 << 20);

        CHECK(layout->entries() == net.parameters);
        CHECK(std::abs(mib - net.gradient_mib) <= 0.005);  // published with two decimals
    }
}

TEST_CASE("profiles: at density 0.001 they weigh what Deep Gradient Compression publishes") {
    for (const Published& net : published) {
        CAPTURE(net.name);
        const LayoutPtr layout = profile_of(net.name).layout();

        const auto bytes = static_cast<double>(nominal_bytes(*layout, 0.001).count);

        CHECK(bytes == Approx(static_cast<double>(net.nominal_bytes)).epsilon(2e-3));
    }
}

TEST_CASE("profiles: the built-in ones do the published work per sample") {
    for (const Published& net : published) {
        CAPTURE(net.name);

        CHECK(profile_of(net.name).macs() == Approx(net.macs).epsilon(0.02));
    }
}

TEST_CASE("profiles: the totals that a file states are those of its layers") {
    for (const std::string_view name : profile_names()) {
        CAPTURE(name);
        const std::string file = fmt::format("models/profiles/{}.json", name);
        const Json json = parse_json(resource(file), file);
        const Profile profile = read_profile(json, file);

        CHECK(profile.name == name);
        CHECK(json.at("published").at("parameters") == profile.layout()->entries());
    }
}

TEST_CASE("profiles: a name of a transformer is its sizes") {
    const Profile named = profile_of("gpt2");
    const Json sizes{{"transformer",
                      {{"layers", 12},
                       {"width", 768},
                       {"heads", 12},
                       {"vocabulary", 50257},
                       {"context", 1024}}}};
    const std::string scenario = "scenario.json";
    const Sources files = files_of_this_machine();
    const Profile sized = load_profile({&sizes, &scenario, "workload.profile", &files})->profile;

    CHECK(named.name == "gpt2");
    CHECK(named.sample == "sequence");
    CHECK(named.macs() == sized.macs());
    CHECK(named.tensor_macs() == sized.tensor_macs());
}

TEST_CASE("profiles: what was not measured or published says so") {
    for (const std::string_view name : {"alexnet", "vgg-16"})
        for (const MeasuredThroughput& row : profile_of(std::string(name)).throughput)
            if (row.device == "titan-xp") CHECK(row.source.starts_with("from memory, unverified"));
    CHECK(profile_of("deepspeech").source.find("Stand-in") != std::string::npos);
    CHECK(profile_of("inception-v3").source.find("23,834,568") != std::string::npos);
}

TEST_CASE("profiles: throughputs are those that their sources print") {
    struct Row {
        std::string profile;
        std::string device;
        std::optional<std::int64_t> batch;
        double samples_per_s;
    };
    // jcjohnson/cnn-benchmarks prints milliseconds per batch of 16 images.
    const std::vector<Row> rows{{"resnet-50", "gtx-1080", 16, 16 / 0.14982},
                                {"vgg-16", "titan-x-pascal", 16, 16 / 0.12862},
                                {"googlenet", "gtx-1080", 16, 16 / 0.05616},
                                {"resnet-152", "titan-x-pascal", 16, 16 / 0.21791},
                                {"inception-v3", "m40", 32, 68.87},
                                {"inception-v3", "v100", 64, 247.43},
                                {"resnet-152", "k80", 32, 20.08},
                                {"alexnet", "k80", 512, 457.07},
                                {"resnet-152", "titan-xp", std::nullopt, 90},
                                {"resnet-50", "v100", 32, 314.9}};
    for (const Row& row : rows) {
        CAPTURE(row.profile);
        CAPTURE(row.device);
        const Profile profile = profile_of(row.profile);

        const bool found = std::ranges::any_of(profile.throughput, [&](const auto& measured) {
            return measured.device == row.device && measured.batch == row.batch &&
                   measured.samples_per_s == Approx(row.samples_per_s).epsilon(5e-4);
        });

        CHECK(found);
    }
}

TEST_CASE("profiles: every layer that has a matrix counts multiply-accumulates") {
    const Profile resnet = profile_of("resnet-50");

    for (const ProfileLayer& layer : resnet.layers) {
        CAPTURE(layer.name);
        const bool has_matrix = layer.tensors.front().shape.size() > 1;

        CHECK((layer.macs > 0) == has_matrix);
    }
}

TEST_CASE("profiles: data sets are those that the papers trained on") {
    CHECK(profile_of("alexnet").dataset_samples == 1'281'167);
    CHECK(profile_of("resnet-50").dataset_samples == 1'281'167);
    CHECK(profile_of("resnet-110").dataset_samples == 50'000);
}

TEST_CASE("profiles: tensors of one layer that no number can count are refused") {
    constexpr std::int64_t most = std::int64_t{1} << 50;
    const Json tensor{{"name", "weight"}, {"shape", {most}}};
    const Json layer{{"name", "wide"}, {"macs", 0}, {"tensors", std::vector<Json>(8200, tensor)}};
    const Json profile{{"name", "vast"}, {"source", "this test"}, {"layers", {layer}}};

    CHECK_THROWS_WITH_AS(static_cast<void>(read_profile(profile, "vast.json")),
                         "vast.json: layers: a net has at most 1125899906842624 parameters",
                         ConfigError);
}

TEST_CASE("profiles: a file gives layers, or the sizes of a transformer, and not both") {
    const auto refusal = [](std::string_view what) {
        const Json json = Json::parse(fmt::format(R"({{"name": "n", "source": "s"{}}})", what));
        try {
            return fmt::format("{} parameters", read_profile(json, "n.json").layout()->entries());
        } catch (const ConfigError& error) {
            return error.path() + ": " + error.problem();
        }
    };
    const std::string sizes =
        R"(, "transformer": {"layers": 1, "width": 4, "heads": 2, "vocabulary": 3, "context": 5})";

    // V d + T d + (4 d^2 + 2 d f + 9 d + f) + 2 d with d = 4, f = 16, V = 3, T = 5
    CHECK(refusal(sizes) == "284 parameters");
    CHECK(refusal(sizes + R"(, "layers": [])").find("\"layers\"") != std::string::npos);
    CHECK(refusal(R"(, "transformer": {"layers": 1})") ==
          "transformer: \"width\" is missing: of a token's vector, such as 1024");
    CHECK(refusal("").starts_with(": \"layers\" is missing: a list in forward order"));
    CHECK(
        refusal(
            sizes +
            R"(, "throughput": [{"device": "d", "samples_per_s": 1, "source": "s", "precision": "fp8"}])")
            .starts_with("throughput[0].precision: \"fp8\" is not a precision"));
}

TEST_CASE("profiles: a user's own file is found beside the scenario, from any folder") {
    const TemporaryFolder folder;
    (void)folder.write("nets/tiny.json", tiny);

    const Profile profile =
        profile_of("../nets/tiny.json", (folder.path() / "nets/scenario.json").string());
    const Profile below = profile_of("nets/tiny.json", (folder.path() / "scenario.json").string());

    CHECK(profile.name == "tiny");
    CHECK(below.layout()->entries() == 10);
}

TEST_CASE("profiles: a user's own file may be named by its whole path") {
    const TemporaryFolder folder;
    const std::string file = folder.write("tiny.json", tiny);

    CHECK(profile_of(file, "/elsewhere/scenario.json").name == "tiny");
}

TEST_CASE("profiles: without its ending a file's name is that of a built-in profile") {
    const TemporaryFolder folder;
    (void)folder.write("tiny.json", tiny);

    CHECK_THROWS_AS(profile_of("tiny", (folder.path() / "scenario.json").string()), ConfigError);
}

std::string scenario_with(std::string_view workload) {
    return fmt::format(
        R"({{"cluster": {{"nodes": 2, "fabric": {{"kind": "star",
                                                "link": {{"bandwidth": "1Gbps"}}}}}},
             "workload": {}, "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}}}})",
        workload);
}

TEST_CASE("profiles: a device's step is its batch over the throughput measured with it") {
    const TemporaryFolder folder;
    (void)folder.write("tiny.json", tiny);
    const std::string file =
        folder.write("scenario.json",
                     scenario_with(R"({"profile": "tiny.json", "device": "abacus", "batch": 32})"));

    const Study study = read_study(file, {});

    CHECK(study.points.front().scenario.workload.step() == 500ms);
    CHECK(study.points.front().scenario.workload.dataset == 640);
}

TEST_CASE("profiles: a throughput without a batch holds for every batch") {
    const TemporaryFolder folder;
    (void)folder.write("tiny.json", tiny);
    const std::string file = folder.write(
        "scenario.json",
        scenario_with(R"({"profile": "tiny.json", "device": "slide-rule", "batch": 64})"));

    CHECK(read_study(file, {}).points.front().scenario.workload.step() == 500ms);
}

TEST_CASE("profiles: a throughput measured with the batch goes before one without a batch") {
    const TemporaryFolder folder;
    (void)folder.write("tiny.json", R"({"name": "tiny", "source": "this test",
        "layers": [{"name": "fc", "macs": 8, "tensors": [{"name": "weight", "shape": [2, 4]}]}],
        "throughput": [{"device": "abacus", "samples_per_s": 1, "source": "this test"},
                        {"device": "abacus", "batch": 32, "samples_per_s": 64, "source": "x"}]})");
    const std::string file =
        folder.write("scenario.json",
                     scenario_with(R"({"profile": "tiny.json", "device": "abacus", "batch": 32})"));

    const Study measured = read_study(file, {});
    const Study other_batch = read_study(file, {"workload.batch=2"});

    CHECK(measured.points.front().scenario.workload.step() == 500ms);
    CHECK(other_batch.points.front().scenario.workload.step() == 2s);
}

TEST_CASE("profiles: a fault in a user's own file is told with that file's name and path") {
    const TemporaryFolder folder;
    const std::string file = folder.write("tiny.json", R"({"name": "tiny", "source": 5})");

    try {
        (void)profile_of(file);
        FAIL("must be refused");
    } catch (const ConfigError& error) {
        CHECK(error.file() == file);
        CHECK(error.path() == "source");
    }
}

}  // namespace
}  // namespace paceline::profiles_test
