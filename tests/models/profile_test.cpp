#include "models/profile.hpp"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/built_in_profile.hpp"

namespace paceline::profile_test {
namespace {

Profile two_layers() {
    Profile profile;
    profile.layers = {{"conv", 100, {{"weight", {4, 3}}, {"bias", {4}}}},
                      {"relu", 0, {}},
                      {"fc", 20.5, {{"weight", {2, 4}}}}};
    return profile;
}

TEST_CASE("profile: its layout has all tensors in forward order, named after layer and tensor") {
    const LayoutPtr layout = two_layers().layout();

    REQUIRE(layout->tensors().size() == 3);
    CHECK(layout->tensors()[0].name == "conv.weight");
    CHECK(layout->tensors()[1].name == "conv.bias");
    CHECK(layout->tensors()[2].name == "fc.weight");
    CHECK(layout->tensors()[1].shape == std::vector<std::int64_t>{4});
    CHECK(layout->offset(2) == 16);
    CHECK(layout->entries() == 24);
}

TEST_CASE("profile: its multiply-accumulates are those of its layers") {
    CHECK(two_layers().macs() == 120.5);
    CHECK(Profile{}.macs() == 0);
}

TEST_CASE("profile: a layer's multiply-accumulates are booked on its first tensor") {
    CHECK(two_layers().tensor_macs() == std::vector<double>{100, 0, 20.5});
}

TEST_CASE("profile: layers without tensors are booked where backward passes them") {
    // Backward reaches them before the layer below; those at the front come after all others.
    Profile profile;
    profile.layers = {{"input", 3, {}},
                      {"scale", 4, {}},
                      {"conv", 100, {{"weight", {4, 3}}, {"bias", {4}}}},
                      {"attention", 7, {}},
                      {"softmax", 2, {}},
                      {"fc", 20, {{"weight", {2, 4}}}},
                      {"loss", 1, {}}};

    CHECK(profile.tensor_macs() == std::vector<double>{116, 0, 21});
}

TEST_CASE("profile: measured times are booked as multiply-accumulates are") {
    using namespace std::chrono_literals;
    Profile profile;
    profile.layers = {{"input", 0, {}, LayerTimes{1us, 10us}},
                      {"conv", 0, {{"weight", {4, 3}}, {"bias", {4}}}, LayerTimes{2us, 20us}},
                      {"relu", 0, {}, LayerTimes{3us, 30us}},
                      {"fc", 0, {{"weight", {2, 4}}}, LayerTimes{4us, 40us}},
                      {"loss", 0, {}, LayerTimes{5us, 50us}}};

    const std::optional<TensorTimes> times = profile.tensor_times();

    REQUIRE(times.has_value());
    CHECK(times->forward == std::vector<Duration>{6us, 0us, 9us});
    CHECK(times->backward == std::vector<Duration>{60us, 0us, 90us});
    CHECK(times->all() == 165us);
    CHECK_FALSE(two_layers().tensor_times().has_value());
}

TEST_CASE("profile: no multiply-accumulates get lost, and every tensor has its share") {
    for (const char* name : {"alexnet", "resnet-50", "bert-large", "transformer", "googlenet"}) {
        CAPTURE(name);
        const Profile profile = built_in_profile(name);
        const std::vector<double> macs = profile.tensor_macs();

        CHECK(macs.size() == profile.layout()->tensors().size());
        CHECK(std::accumulate(macs.begin(), macs.end(), 0.0) ==
              doctest::Approx(profile.macs()).epsilon(1e-12));
    }
    CHECK(Profile{}.tensor_macs().empty());
}

TEST_CASE("profile: the built-in ones have the published numbers of parameters") {
    struct Published {
        std::string name;
        std::int64_t entries;
        std::int64_t incompressible;
    };
    // Sizes: Lin et al., ICLR 2018, Tables 3 and 4, and torchvision's weight metadata
    // (inception-v3); otherwise summed by hand. One-dimensional tensors: from the architectures.
    const std::vector<Published> all{
        {"alexnet", 60'965'224, 10'568},
        {"resnet-50", 25'557'032, 54'120},
        {"ptb-lstm", 51'034'000, 34'000},
        {"vgg-16", 138'357'544, 13'416},
        {"resnet-110", 1'727'962, 8'106},
        {"resnet-152", 60'192'808, 151'424 + 1'000},
        {"vgg-a", 132'863'336, 2'752 + 9'192},
        {"googlenet", 6'998'552, 7'280 + 1'000},
        {"inception-v3", 27'161'264, 2 * (17'216 + 896) + 2'000},
        {"bert-base", 110'106'428, 1'536 + 12 * 9'984 + 768 + 2 + 768 + 1'536 + 30'522},
        {"bert-large", 336'226'108, 2'048 + 24 * 13'312 + 1'024 + 2 + 1'024 + 2'048 + 30'522},
        {"transformer", 209'911'808, 6 * 13'312 + 6 * 19'456},
        // A stand-in: 488.08 MiB are published.
        {"deepspeech", 127'948'528, 320 + 14'400 + 2'400 + 100'800}};
    for (const Published& published : all) {
        CAPTURE(published.name);

        const LayoutPtr layout = built_in_profile(published.name).layout();

        CHECK(layout->entries() == published.entries);
        CHECK(layout->incompressible_entries() == published.incompressible);
    }
}

}  // namespace
}  // namespace paceline::profile_test
