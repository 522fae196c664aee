#include "models/decoder.hpp"

#include <cstdint>

#include <doctest/doctest.h>

namespace paceline::decoder_test {
namespace {

DecoderSizes gpt2(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return {layers, width, heads, 50257, 1024, 4 * width, true};
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

// nanoGPT estimates 6 N + 12 L T d operations of training per token, a third of which is forward, at two operations
// each; N are the parameters but for the positions. It counts biases and norms as work.
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

TEST_CASE("decoder, property: parameters and work follow their formulas, tied or not") {
    std::uint64_t random = 1;
    const auto up_to = [&random](std::int64_t most) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        return 1 + static_cast<std::int64_t>((random >> 33U) % static_cast<std::uint64_t>(most));
    };
    for (int trial = 0; trial < 200; ++trial) {
        CAPTURE(trial);
        const DecoderSizes s{up_to(8),   up_to(64),     1, up_to(500), up_to(100),
                             up_to(300), trial % 2 == 0};
        const std::int64_t d = s.width;
        const std::int64_t parameters = (s.tied ? 1 : 2) * s.vocabulary * d + s.context * d +
                                        s.layers * (4 * d * d + 2 * d * s.inner + 9 * d + s.inner) +
                                        2 * d;
        const std::int64_t macs =
            s.context * (s.layers * (4 * d * d + 2 * d * s.inner) + s.vocabulary * d) +
            2 * s.layers * s.context * s.context * d;
        const Profile profile = decoder_profile(s);

        CHECK(profile.layout()->entries() == parameters);
        CHECK(profile.macs() == static_cast<double>(macs));
        CHECK(parameters_of(s) == static_cast<double>(parameters));
    }
}

}  // namespace
}  // namespace paceline::decoder_test
