#include "models/decoder.hpp"

#include <string>
#include <utility>

namespace paceline {

namespace {

ProfileLayer norm(std::string name, std::int64_t width) {
    return {std::move(name), 0, {{"weight", {width}}, {"bias", {width}}}};
}

ProfileLayer dense(std::string name, std::int64_t inputs, std::int64_t outputs,
                   std::int64_t tokens) {
    const double macs =
        static_cast<double>(tokens) * static_cast<double>(inputs) * static_cast<double>(outputs);
    return {std::move(name), macs, {{"weight", {inputs, outputs}}, {"bias", {outputs}}}};
}

void add_layer(Profile& profile, const DecoderSizes& sizes, std::int64_t number) {
    const std::string at = "h." + std::to_string(number) + ".";
    const std::int64_t d = sizes.width;
    const std::int64_t tokens = sizes.context;
    const auto pairs = static_cast<double>(tokens) * static_cast<double>(tokens);
    profile.layers.push_back(norm(at + "ln_1", d));
    profile.layers.push_back(dense(at + "attn.c_attn", d, 3 * d, tokens));
    profile.layers.push_back({at + "attn.scores", 2 * pairs * static_cast<double>(d), {}});
    profile.layers.push_back(dense(at + "attn.c_proj", d, d, tokens));
    profile.layers.push_back(norm(at + "ln_2", d));
    profile.layers.push_back(dense(at + "mlp.c_fc", d, sizes.inner, tokens));
    profile.layers.push_back(dense(at + "mlp.c_proj", sizes.inner, d, tokens));
}

}  // namespace

Profile decoder_profile(const DecoderSizes& sizes) {
    Profile profile;
    profile.name =
        "transformer " + std::to_string(sizes.layers) + " x " + std::to_string(sizes.width);
    profile.source = "sizes of the scenario";
    profile.sample = "sequence";
    const std::int64_t d = sizes.width;
    profile.layers.push_back({"wte", 0, {{"weight", {sizes.vocabulary, d}}}});
    profile.layers.push_back({"wpe", 0, {{"weight", {sizes.context, d}}}});
    for (std::int64_t number = 0; number < sizes.layers; ++number)
        add_layer(profile, sizes, number);
    profile.layers.push_back(norm("ln_f", d));
    ProfileLayer output = dense("lm_head", d, sizes.vocabulary, sizes.context);
    output.tensors.pop_back();  // it has no bias
    if (sizes.tied) output.tensors.clear();
    profile.layers.push_back(std::move(output));
    return profile;
}

double parameters_of(const DecoderSizes& sizes) {
    const auto d = static_cast<double>(sizes.width);
    const auto f = static_cast<double>(sizes.inner);
    const double vocabulary = static_cast<double>(sizes.vocabulary) * d;
    const double layer = 4 * d * d + 2 * d * f + 9 * d + f;
    return (sizes.tied ? 1 : 2) * vocabulary + static_cast<double>(sizes.context) * d +
           static_cast<double>(sizes.layers) * layer + 2 * d;
}

}  // namespace paceline
