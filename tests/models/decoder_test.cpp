#include "models/decoder.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace paceline::decoder_test {
namespace {

DecoderSizes gpt2(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return {layers, width, heads, 50257, 1024, 4 * width, true};
}

// Llama's parts: RMSNorm, SwiGLU, rotary positions, an output of its own and no biases.
DecoderSizes llama(std::int64_t layers, std::int64_t width, std::int64_t key_value_heads,
                   std::int64_t inner) {
    return {layers,
            width,
            32,
            32000,
            2048,
            inner,
            false,
            key_value_heads,
            DecoderMlp::swiglu,
            DecoderNorm::rms,
            DecoderPositions::rotary,
            false};
}

struct Released {
    DecoderSizes sizes;
    std::int64_t parameters;
};

// The numbers that transformers counts (friedeggs/in-context_learning, data/model_info.py).
const Released released[]{
    {gpt2(12, 768, 12), 124'439'808},
    {gpt2(24, 1024, 16), 354'823'168},
    {gpt2(36, 1280, 20), 774'030'080},
    {gpt2(48, 1600, 25), 1'557'611'200},
};

TEST_CASE("decoder: with the sizes of GPT-2, it has the parameters of the released models") {
    for (const Released& model : released) {
        CAPTURE(model.sizes.width);
        CHECK(decoder_profile(model.sizes).layout()->entries() == model.parameters);
        CHECK(parameters_of(model.sizes) == static_cast<double>(model.parameters));
    }
}

// nanoGPT estimates 6 N + 12 L T d operations of training per token, a third of which is forward,
// at two operations each; N are the parameters but for the positions. It counts biases and norms as
// work.
TEST_CASE("decoder: its work is what nanoGPT estimates, but for biases and norms") {
    for (const Released& model : released) {
        const DecoderSizes& s = model.sizes;
        const auto n = static_cast<double>(model.parameters - s.context * s.width);
        const double per_token = n + 2.0 * static_cast<double>(s.layers * s.context * s.width);
        const double estimate = static_cast<double>(s.context) * per_token;
        const double macs = decoder_profile(s).macs();

        CHECK(macs < estimate);
        CHECK(macs > 0.999 * estimate);
    }
}

// TinyLlama-1.1B: layers, heads, query groups and inner width: jzhang38/TinyLlama README.md;
// 1,100,048,384 is what transformers and llama.cpp print. Llama-7B: sizes in Table 2 of Touvron et
// al., inner 11008 and vocabulary 32000 as in config.json of huggyllama/llama-7b; 6,738,415,616:
// README.md of calflops (MrYxJ/calculate-flops.pytorch).
TEST_CASE(
    "decoder: with the sizes and parts of Llama, it has the parameters of the released models") {
    const Released released_llamas[]{{llama(22, 2048, 4, 5632), 1'100'048'384},
                                     {llama(32, 4096, 32, 11008), 6'738'415'616}};
    for (const Released& model : released_llamas) {
        CAPTURE(model.sizes.width);
        CHECK(decoder_profile(model.sizes).layout()->entries() == model.parameters);
        CHECK(parameters_of(model.sizes) == static_cast<double>(model.parameters));
    }
}

// 1700.06 GFLOP: README.md of calflops, which runs the model, llama-7b at (1, 128).
TEST_CASE("decoder: Llama-7B does the work that is counted in a run over 128 tokens") {
    DecoderSizes sizes = llama(32, 4096, 32, 11008);
    sizes.context = 128;

    CHECK(decoder_profile(sizes).macs() == doctest::Approx(1700.06e9 / 2).epsilon(1e-4));
}

class Dice {
  public:
    std::int64_t up_to(std::int64_t most) {
        random_ = random_ * 6364136223846793005U + 1442695040888963407U;
        return 1 + static_cast<std::int64_t>((random_ >> 33U) % static_cast<std::uint64_t>(most));
    }
    bool coin() { return up_to(2) == 1; }

  private:
    std::uint64_t random_ = 1;
};

DecoderSizes any_sizes(Dice& dice) {
    const std::int64_t heads_of_a_group = dice.up_to(3);
    const std::int64_t groups = dice.up_to(4);
    DecoderSizes s;
    s.layers = dice.up_to(8);
    s.heads = groups * heads_of_a_group;
    s.width = s.heads * dice.up_to(16);
    s.vocabulary = dice.up_to(500);
    s.context = dice.up_to(100);
    s.inner = dice.up_to(300);
    s.tied = dice.coin();
    if (dice.coin()) s.key_value_heads = groups;
    if (dice.coin()) s.mlp = DecoderMlp::swiglu;
    if (dice.coin()) s.norm = DecoderNorm::rms;
    if (dice.coin()) s.positions = DecoderPositions::rotary;
    s.biases = dice.coin();
    return s;
}

// The formulas of decoder.hpp, with a share of key-value heads g = k / h.
TEST_CASE("decoder, property: parameters and work follow their formulas, whatever the parts") {
    Dice dice;
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        const DecoderSizes s = any_sizes(dice);
        const std::int64_t d = s.width;
        const std::int64_t dg = d * s.key_value_heads.value_or(s.heads) / s.heads;
        const std::int64_t m = s.mlp == DecoderMlp::gelu ? 2 : 3;
        const std::int64_t norm = s.norm == DecoderNorm::layer && s.biases ? 2 * d : d;
        const std::int64_t matrices = 2 * d * (d + dg) + m * d * s.inner;
        const std::int64_t biases = s.biases ? 3 * d + 2 * dg + (m - 1) * s.inner : 0;
        const std::int64_t positions = s.positions == DecoderPositions::learned ? s.context * d : 0;
        const std::int64_t parameters = (s.tied ? 1 : 2) * s.vocabulary * d + positions +
                                        s.layers * (matrices + 2 * norm + biases) + norm;
        const std::int64_t macs = s.context * (s.layers * matrices + s.vocabulary * d) +
                                  2 * s.layers * s.context * s.context * d;
        const Profile profile = decoder_profile(s);

        CHECK(profile.layout()->entries() == parameters);
        CHECK(profile.macs() == static_cast<double>(macs));
        CHECK(parameters_of(s) == static_cast<double>(parameters));
    }
}

TEST_CASE("decoder: without a bias, no tensor but a norm has one dimension") {
    for (const ProfileLayer& layer : decoder_profile(llama(2, 64, 4, 100)).layers)
        for (const Tensor& tensor : layer.tensors) {
            CAPTURE(layer.name);
            CHECK((tensor.shape.size() == 1) == (layer.name.find("ln_") != std::string::npos));
        }
}

}  // namespace
}  // namespace paceline::decoder_test
