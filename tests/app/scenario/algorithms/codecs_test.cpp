#include "app/scenario/algorithms/codecs.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/resources.hpp"
#include "app/scenario/workload/profiles.hpp"

namespace paceline::codecs_test {
namespace {

const std::string file = "scenario.json";

Codec read(const std::string& text) {
    const Json json = Json::parse(text);
    return read_codec({&json, &file, "codec"}, {{4, 1}, {}});
}

const Compressor& compressor_of(const Codec& codec) {
    return std::get<Compressor>(codec.coder);
}

// Returns where the tensors that an algorithm leaves out are refused, and why; nothing if they are
// not.
std::pair<std::string, std::string> refusal(const std::string& leave_out, const Layout& layout,
                                            const Layout* stand_in = nullptr) {
    const Json algorithm =
        Json::parse(R"({"codec": {"kind": "qsgd", "leave_out": )" + leave_out + "}}");
    try {
        check_left_out({&algorithm, &file, "algorithm"}, layout, stand_in);
    } catch (const ConfigError& error) {
        return {error.path(), error.problem()};
    }
    return {};
}

TEST_CASE("codecs: each is read by its name, and as an object without other keys") {
    CHECK(codec_table().size() == 16);
    for (const CodecEntry& entry : codec_table()) {
        CAPTURE(entry.name);
        const std::string name(entry.name);
        const Codec by_name = read('"' + name + '"');
        const Codec object = read(R"({"kind": ")" + name + R"("})");

        CHECK(by_name.coder.index() == object.coder.index());
        CHECK(by_name.error_feedback == object.error_feedback);
        CHECK(by_name.leave_out.empty());
        CHECK(by_name.coding.per_entry == Duration{9});
        if (std::holds_alternative<Compressor>(by_name.coder))
            CHECK(compressor_of(by_name).name == name);
    }
}

TEST_CASE("codecs: error feedback is on for biased compressors but fp16 and votes, or as chosen") {
    for (const auto& [codec, feedback] : std::vector<std::pair<std::string, bool>>{
             {R"("kind": "top-k")", true},
             {R"("kind": "random-k")", true},
             {R"("kind": "random-k", "unbiased": true)", false},
             {R"("kind": "random-block")", true},
             {R"("kind": "random-block", "unbiased": true)", false},
             {R"("kind": "qsgd")", false},
             {R"("kind": "terngrad")", false},
             {R"("kind": "terngrad", "scaler": "shared")", false},
             {R"("kind": "sign")", true},
             {R"("kind": "sign", "majority": true)", false},
             {R"("kind": "scaled-sign")", true},
             {R"("kind": "natural")", false},
             {R"("kind": "fp16")", false},
             {R"("kind": "8-bit")", true},
             {R"("kind": "chunked-top-k")", true},
             {R"("kind": "one-bit-columns")", true}}) {
        CAPTURE(codec);

        CHECK(read("{" + codec + "}").error_feedback == feedback);
        CHECK(read("{" + codec + R"(, "error_feedback": true})").error_feedback);
        CHECK(!read("{" + codec + R"(, "error_feedback": false})").error_feedback);
    }
    for (const char* without : {"none", "power-sgd", "dgc", "one-bit"})
        CHECK(!read('"' + std::string(without) + '"').error_feedback);
}

TEST_CASE("codecs: options arrive") {
    const Tensor tensor{"t", {100}};
    CHECK(compressor_of(read(R"({"kind": "8-bit", "bucket": 30})")).bits(tensor) == 800 + 4 * 64);
    CHECK(compressor_of(read(R"({"kind": "qsgd", "levels": 7})")).bits(tensor) == 400 + 32);
    CHECK(compressor_of(read(R"({"kind": "top-k", "density": 0.1})")).bits(tensor) == 640);
    CHECK(compressor_of(read(R"("none")")).lossless);
    CHECK(compressor_of(read(R"({"kind": "sign", "majority": true})")).majority);
    CHECK(!compressor_of(read(R"("sign")")).majority);
    CHECK(compressor_of(read(R"({"kind": "terngrad", "scaler": "shared"})")).scaler);
    CHECK(!compressor_of(read(R"({"kind": "terngrad", "scaler": "own"})")).scaler);
    CHECK(std::get<LowRankCodec>(read(R"({"kind": "power-sgd", "rank": 5})").coder).rank == 5);
    CHECK(std::get<OneBitCodec>(read(R"({"kind": "one-bit", "fused": true})").coder).fused);
    CHECK(read(R"({"kind": "fp16", "coding_step": "20ps"})").coding.per_entry == Duration{20});
    const Codec dgc = read(R"({"kind": "dgc", "density": 0.02, "masking": false,
                               "warm_up": {"densities": [0.5, 0.1], "steps_each": 3},
                               "leave_out": ["fc", -1]})");
    const auto& options = std::get<DgcOptions>(dgc.coder);
    CHECK(options.density == 0.02);
    CHECK(!options.masking);
    CHECK(options.warm_up.densities == std::vector<double>{0.5, 0.1});
    CHECK(dgc.leave_out == std::vector<TensorChoice>{"fc", -1});
}

TEST_CASE("codecs: what is left out is a tensor, a layer or a place of the model") {
    const Layout model({{"conv1.weight", {2, 2}}, {"conv1.bias", {2}}, {"fc.weight", {2, 2}}});

    CHECK(refusal(R"([])", model).second.empty());
    CHECK(refusal(R"(["conv1.bias", "fc", 0, 2, -1, -3])", model).second.empty());
    CHECK(refusal(R"([0, "conv2"])", model) ==
          std::pair<std::string, std::string>(
              "algorithm.codec.leave_out[1]",
              "\"conv2\" is not a tensor or layer of the model; did you mean \"conv1\"? it has "
              "3, "
              "from \"conv1.weight\" to \"fc.weight\""));
    CHECK(refusal(R"(["bias"])", model).second ==
          "\"bias\" is not a tensor or layer of the model; it has 3, from \"conv1.weight\" to "
          "\"fc.weight\"");
    CHECK(refusal("[3]", model).second ==
          "3 is not the position of a tensor; the model has 3, from 0 to 2, or from -3 to -1");
    CHECK(!refusal("[-4]", model).second.empty());
}

TEST_CASE("codecs: with a stand-in, a tensor may be of either net") {
    const Layout charged({{"fc8.weight", {2, 2}}, {"fc8.bias", {2}}});
    const Layout trained({{"out.weight", {2, 2}}, {"out.bias", {2}}, {"out.scale", {2}}});

    CHECK(refusal(R"(["fc8", "out", 2])", charged, &trained).second.empty());
    CHECK(!refusal(R"(["out"])", charged).second.empty());
    CHECK(!refusal(R"([3])", charged, &trained).second.empty());
}

TEST_CASE("codecs: TernGrad sends AlexNet in 29.18 MiB with fc8 in 32 bits, as published") {
    const std::string name = "models/profiles/alexnet.json";
    const LayoutPtr alexnet = read_profile(parse_json(resource(name), name), name).layout();
    const Codec terngrad = read(R"({"kind": "terngrad", "leave_out": ["fc8"]})");

    const Bytes sent =
        message_bytes(compressor_of(terngrad), *with_left_out(alexnet, terngrad.leave_out));

    CHECK(static_cast<double>(sent.count) / (1 << 20) == doctest::Approx(29.18).epsilon(5e-4));
    CHECK(4.0 * static_cast<double>(alexnet->entries()) / static_cast<double>(sent.count) ==
          doctest::Approx(8).epsilon(5e-3));
}

}  // namespace
}  // namespace paceline::codecs_test
