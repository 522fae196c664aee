#include "app/scenario/workload/devices.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_file.hpp"
#include "app/json/resources.hpp"
#include "app/scenario/study.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "app/study/study_file.hpp"
#include "models/precision.hpp"
#include "models/profile.hpp"
#include "models/step_estimate.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::devices_test {
namespace {

using doctest::Approx;

Profile built_in(std::string_view name) {
    const Json json(name);
    const std::string file = "scenario.json";
    const Sources nothing;
    return load_profile({&json, &file, "workload.profile", &nothing})->profile;
}

TEST_CASE("devices: each has a name of its own, peaks and where they come from") {
    std::set<std::string> names;
    for (const Device& device : device_table()) {
        CAPTURE(device.name);

        CHECK(names.insert(device.name).second);
        CHECK(!device.title.empty());
        CHECK(device.peaks.front().precision == Precision::fp32);
        for (const Peak& peak : device.peaks) {
            CHECK(peak.flops >= device.peaks.front().flops);
            CHECK(peak.flops < 1e16);
        }
        CHECK(!device.source.empty());
        CHECK(!device.source.starts_with("from memory"));
    }
    CHECK(names.size() >= 20);
}

// An A100 has five stacks of 8 or 16 GiB; board power and list price lie in the range of cards.
TEST_CASE("devices: memory, power and list prices are there with their sources") {
    CHECK(known_device("a100-40gb")->memory == Bytes{5 * (std::int64_t{8} << 30)});
    CHECK(known_device("a100-80gb")->memory == Bytes{5 * (std::int64_t{16} << 30)});
    CHECK(known_device("h100-sxm")->watts->most == 700);
    CHECK(!known_device("p100")->price);
    int priced = 0;
    for (const Device& device : device_table()) {
        CAPTURE(device.name);
        if (device.memory) CHECK(!device.memory_source.empty());
        if (device.watts) {
            CHECK(!device.watts->source.empty());
            CHECK(device.watts->idle.value() < 0.35 * device.watts->most);
        }
        if (!device.price) continue;
        ++priced;
        CHECK(!device.price->date.empty());
        CHECK(!device.price->source.empty());
        CHECK(device.price->per_hour < 10);
    }
    CHECK(priced >= 4);
}

const Device& device_called(const std::vector<Device>& devices, std::string_view name) {
    return *std::ranges::find(devices, name, &Device::name);
}

// Units of a device, the multiply-accumulates of each in a cycle, and the clock in GHz. Tensor
// cores of NVIDIA do 64 dense ones in fp16 in Volta and Turing, 256 (GA100) or 128 (GA102, Ada) in
// Ampere, 512 in Hopper, and half of them in tf32; a compute unit of CDNA 3 does 1024 in fp16 and
// 128 in fp32. Cores and clocks: the sources in devices.json, and glennklockwood.com for the A100
// and the H100. The data sheet of the L40S is 1.2 % below its boost clock.
struct Units {
    std::string device;
    Precision precision;
    double peak;
};

TEST_CASE("devices: a peak is twice the multiply-accumulates of all units at the boost clock") {
    constexpr double giga = 1e9;
    const std::vector<Device>& devices = device_table();
    const std::vector<Units> table{
        {"t4", Precision::fp32, 2 * 2560 * 1.59},
        {"t4", Precision::fp16, 2 * 320 * 64 * 1.59},
        {"p100", Precision::fp16, 2 * 2 * 3584 * 1.48},
        {"v100", Precision::fp16, 2 * 640 * 64 * 1.53},
        {"a100-40gb", Precision::fp32, 2 * 6912 * 1.41},
        {"a100-40gb", Precision::tf32, 2 * 432 * 128 * 1.41},
        {"a100-80gb", Precision::bf16, 2 * 432 * 256 * 1.41},
        {"a40", Precision::fp32, 2 * 10752 * 1.74},
        {"a40", Precision::fp16, 2 * 336 * 128 * 1.74},
        {"h100-sxm", Precision::fp32, 2 * 16896 * 1.98},
        {"h100-sxm", Precision::tf32, 2 * 528 * 256 * 1.83},
        {"h100-sxm", Precision::bf16, 2 * 528 * 512 * 1.83},
        {"l40s", Precision::fp32, 2 * 18176 * 2.52},
        {"l40s", Precision::bf16, 2 * 568 * 128 * 2.52},
        {"mi300x", Precision::fp32, 2 * 304 * 128 * 2.1},
        {"mi300x", Precision::bf16, 2 * 304 * 1024 * 2.1},
        {"apple-m2", Precision::fp32, 2 * 1280 * 1.398},
        {"snapdragon-888", Precision::fp32, 2.84 * 32 + 3 * 2.42 * 16 + 4 * 1.8 * 8},
    };
    for (const Units& row : table) {
        CAPTURE(row.device);
        CAPTURE(name_of(row.precision));
        const auto peak = device_called(devices, row.device).peak(row.precision);

        REQUIRE(peak);
        CHECK(*peak == Approx(row.peak * giga).epsilon(0.015));
    }
    CHECK(!device_called(devices, "v100").peak(Precision::bf16));
}

TEST_CASE(
    "devices: whatever a built-in profile was measured on has a known peak in that precision") {
    const std::vector<Device>& devices = device_table();
    int measured = 0;
    for (const std::string_view name : profile_names()) {
        const Profile profile = built_in(name);
        for (const MeasuredThroughput& row : profile.throughput) {
            CAPTURE(name);
            CAPTURE(row.device);
            ++measured;

            REQUIRE(std::ranges::count(devices, row.device, &Device::name) == 1);
            CHECK(device_called(devices, row.device).peak(row.precision));
        }
    }
    CHECK(measured >= 70);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// What the profile reaches of the device's peak in this precision, where it was measured.
std::optional<double> measured_share(const Profile& profile, const Device& device,
                                     Precision precision) {
    std::vector<double> rates;
    for (const MeasuredThroughput& row : profile.throughput)
        if (row.device == device.name && row.precision == precision)
            rates.push_back(row.samples_per_s);
    if (rates.empty()) return std::nullopt;
    return 6 * profile.macs() * median(rates) / device.peak(precision).value();
}

TEST_CASE("devices: the default efficiency is the median of nets of images in fp32") {
    std::vector<double> shares;
    for (const std::string_view name : profile_names()) {
        const Json json =
            parse_json(resource(fmt::format("models/profiles/{}.json", name)), std::string(name));
        if (json.at("sample") != "image") continue;
        for (const Device& device : device_table())
            if (const auto share = measured_share(built_in(name), device, Precision::fp32))
                shares.push_back(*share);
    }

    REQUIRE(shares.size() >= 40);
    CHECK(std::abs(median(shares) - default_efficiency) <= 0.005);
}

// TinyLlama's authors state 56 % for their 24k tokens per second, llm.c's about 50 % for GPT-2 of
// 1.5B parameters. No training reaches the peak of tensor cores.
TEST_CASE("devices: language models reach the share of the peak that their authors state") {
    const std::vector<Device>& devices = device_table();
    const auto share = [&](std::string_view net, std::string_view device) {
        return measured_share(built_in(net), device_called(devices, device), Precision::bf16)
            .value();
    };

    CHECK(share("tinyllama-1.1b", "a100-40gb") == Approx(0.56).epsilon(0.01));
    CHECK(share("gpt2-xl", "h100-sxm") == Approx(0.50).epsilon(0.02));
    for (const std::string_view name : profile_names())
        for (const Device& device : devices)
            for (const Peak& peak : device.peaks)
                if (peak.precision != Precision::fp32)
                    CHECK(measured_share(built_in(name), device, peak.precision).value_or(0) < 0.7);
}

std::string scenario_with(std::string_view workload) {
    return fmt::format(
        R"({{"cluster": {{"nodes": 2, "fabric": {{"kind": "star",
                                                "link": {{"bandwidth": "1Gbps"}}}}}},
             "workload": {}, "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}}}})",
        workload);
}

double step_of(std::string_view workload) {
    const TemporaryFolder folder;
    const std::string file = folder.write("scenario.json", scenario_with(workload));
    return to_seconds(read_study(file, {}).points.front().scenario.workload.step());
}

TEST_CASE("devices: an efficiency requests an estimate if nothing was measured") {
    const double step =
        step_of(R"({"profile": "bert-large", "device": "v100", "batch": 8, "efficiency": 0.5})");

    CHECK(step == Approx(6 * 40.107e9 * 8 / (15.7e12 * 0.5)).epsilon(1e-4));
}

TEST_CASE("devices: an efficiency takes precedence over a measurement") {
    const double estimated =
        step_of(R"({"profile": "resnet-50", "device": "v100", "batch": 32, "efficiency": 0.25})");
    const double measured = step_of(R"({"profile": "resnet-50", "device": "v100", "batch": 32})");

    CHECK(estimated == Approx(6 * 4.089184256e9 * 32 / (15.7e12 * 0.25)).epsilon(1e-9));
    CHECK(measured == Approx(32 / 298.51).epsilon(1e-9));
}

TEST_CASE("devices: one's own by its peak is a named one with that peak") {
    const double named =
        step_of(R"({"profile": "bert-large", "device": "v100", "batch": 8, "efficiency": 0.5})");
    const double own = step_of(
        R"({"profile": "bert-large", "batch": 8,
            "device": {"name": "mine", "peak_flops": 15.7e12, "efficiency": 0.5}})");

    CHECK(own == named);
}

TEST_CASE("devices: one's own relative to a measured one is so many times as fast, also above 1") {
    const double v100 = step_of(R"({"profile": "resnet-50", "device": "v100", "batch": 32})");
    for (const double factor : {0.25, 1.0, 1.3, 40.0})
        CHECK(
            step_of(fmt::format(
                R"({{"profile": "resnet-50", "batch": 32, "device": {{"like": "v100", "efficiency": {}}}}})",
                factor)) == Approx(v100 / factor).epsilon(1e-9));
}

TEST_CASE("devices: faults of one's own are told") {
    const auto refused = [](std::string_view workload, const char* sentence) {
        CAPTURE(workload);
        CHECK_THROWS_WITH_AS(static_cast<void>(step_of(workload)), doctest::Contains(sentence),
                             ConfigError);
    };
    refused(R"({"profile": "resnet-50", "batch": 32, "device": {"peak_flops": 1e13}})",
            "workload.device: \"efficiency\" is missing");
    refused(
        R"({"profile": "resnet-50", "batch": 32, "device": {"peak_flops": 1e13, "efficiency": 1.2}})",
        "workload.device.efficiency");
    refused(
        R"({"profile": "resnet-50", "batch": 32, "device": {"like": "v10", "efficiency": 1.2}})",
        "workload.device.like");
    refused(R"({"profile": "resnet-50", "batch": 32, "device": {"efficiency": 1}})",
            "workload.device: \"peak_flops\" is missing");
    refused(
        R"({"profile": "resnet-50", "batch": 32, "efficiency": 1, "device": {"like": "v100", "efficiency": 1}})",
        "workload.efficiency: is for a named device");
    refused(R"({"profile": "resnet-50", "device": {"peak_flops": 1e13, "efficiency": 1}})",
            "workload.device: a device needs a \"batch\"");
}

double step_in(std::string_view profile, std::string_view device, std::string_view precision) {
    return step_of(fmt::format(
        R"({{"profile": "{}", "device": "{}", "batch": 8, "efficiency": 0.5, "precision": "{}"}})",
        profile, device, precision));
}

// BERT-Large: 40.107 G multiply-accumulates of a sequence.
TEST_CASE(
    "devices: an estimate is by the peak in the precision, which is fp32 unless it is stated") {
    const auto expected = [](double peak) {
        return Approx(6 * 40.107e9 * 8 / (peak * 0.5)).epsilon(1e-4);
    };

    CHECK(step_in("bert-large", "a100-40gb", "fp32") == expected(19.5e12));
    CHECK(step_in("bert-large", "a100-40gb", "tf32") == expected(156e12));
    CHECK(step_in("bert-large", "a100-40gb", "fp16") == expected(312e12));
    CHECK(step_in("bert-large", "h100-sxm", "bf16") == expected(989.4e12));
    CHECK(step_of(R"({"profile": "bert-large", "device": "a100-40gb", "batch": 8,
                      "efficiency": 0.5})") == expected(19.5e12));
}

// BERT-Large on a V100 in fp16: 125.44 sequences/s in batches of 16 and 171.52 in batches of 64,
// that is 5.116 ms a sequence and 45.7 ms whatever the batch.
TEST_CASE("devices: between and beyond two measured batches, a gradient has a floor and a slope") {
    const auto seconds = [](int batch) {
        return step_of(fmt::format(
            R"({{"profile": "bert-large", "device": "v100", "precision": "fp16", "batch": {}}})",
            batch));
    };
    const double slope = (64 / 171.52 - 16 / 125.44) / 48;
    const double floor = 16 / 125.44 - 16 * slope;
    CHECK(floor == Approx(0.0457).epsilon(1e-2));
    for (const int batch : {1, 8, 16, 32, 64, 256}) {
        CAPTURE(batch);
        CHECK(seconds(batch) == Approx(floor + slope * batch).epsilon(1e-9));
    }
}

TEST_CASE("devices: a time stated by batch is its floor and what the samples add") {
    const auto step = [](const std::string& key, int batch) {
        return step_of(fmt::format(
            R"({{"gradient": "1MB", "{}": {{"floor": "20ms", "per_sample": "500us"}}, "batch": {}}})",
            key, batch));
    };
    CHECK(step("step_time", 1) == Approx(0.0205).epsilon(1e-12));
    CHECK(step("step_time", 64) == Approx(0.052).epsilon(1e-12));
    CHECK(step("gradient_time", 64) == Approx(0.052).epsilon(1e-12));
}

TEST_CASE("devices: a measurement holds in the precision that it was made in") {
    CHECK(step_of(R"({"profile": "bert-large", "device": "v100", "batch": 8})") ==
          Approx(8 / 33.36).epsilon(1e-9));
    CHECK(step_of(
              R"({"profile": "bert-large", "device": "v100", "batch": 16, "precision": "fp16"})") ==
          Approx(16 / 125.44).epsilon(1e-9));
    CHECK(
        step_of(
            R"({"profile": "resnet-50", "device": "a100-80gb", "batch": 8, "precision": "tf32"})") ==
        Approx(8 / 938.0).epsilon(1e-9));
    CHECK(step_of(R"({"profile": "tinyllama-1.1b", "device": "a100-40gb", "batch": 8,
                      "precision": "bf16"})") == Approx(8 * 2048 / 24000.0).epsilon(1e-3));
}

TEST_CASE("devices: one's own like a measured one is like it in the precision") {
    CHECK(step_of(R"({"profile": "bert-large", "batch": 16, "precision": "fp16",
                      "device": {"like": "v100", "efficiency": 2}})") ==
          Approx(16 / 125.44 / 2).epsilon(1e-9));
}

TEST_CASE("devices: a stand-in has a precision, too") {
    Json scenario = Json::parse(scenario_with(R"({"model": {"kind": "mlp", "hidden": [8]},
        "data": {"kind": "gaussian-mixture", "train": 64, "test": 16}, "batch": 4,
        "stand_in_for": {"profile": "bert-large", "device": "v100", "batch": 16,
                         "precision": "fp16"}})"));
    scenario["optimizer"] = {{"learning_rate", 0.1}};
    const TemporaryFolder folder;
    const Study study = read_study(folder.write("scenario.json", scenario.dump()), {});

    CHECK(to_seconds(study.points.front().scenario.workload.step()) ==
          Approx(16 / 125.44).epsilon(1e-9));
}

TEST_CASE("devices: a precision that a device lacks, or none was measured in, is refused") {
    const auto refusal = [](std::string_view workload) {
        try {
            static_cast<void>(step_of(workload));
        } catch (const ConfigError& error) {
            return error.path() + ": " + error.problem();
        }
        return std::string("accepted");
    };
    CHECK(refusal(R"({"profile": "resnet-50", "device": "k80", "batch": 8, "efficiency": 0.5,
                      "precision": "bf16"})") ==
          "workload.precision: k80 has no peak in bf16; it has one in fp32");
    CHECK(refusal(R"({"profile": "resnet-50", "device": "v100", "batch": 8, "efficiency": 0.5,
                      "precision": "tf32"})") ==
          "workload.precision: v100 has no peak in tf32; it has one in fp32, fp16");
    CHECK(refusal(R"({"profile": "gpt2", "device": "a100-40gb", "batch": 8})") ==
          "workload.device: gpt2 was measured in bf16 on a100-40gb, not in fp32; state the "
          "\"precision\", or give \"step_time\", or \"efficiency\": 0.49 for an estimate");
    CHECK(
        refusal(R"({"profile": "tinyllama-1.1b", "device": "a100-40gb", "batch": 32,
                      "precision": "bf16"})")
            .starts_with("workload.device: tinyllama-1.1b was measured with batch 8 on a100-40gb, "
                         "not with 32"));
    CHECK(refusal(R"({"profile": "gpt2", "device": "v100", "batch": 8, "efficiency": 0.5,
                      "precision": "bf61"})") ==
          "workload.precision: \"bf61\" is not a precision; did you mean \"bf16\"? known: fp32, "
          "tf32, fp16, bf16");
    CHECK(refusal(R"({"profile": "gpt2", "step_time": "1ms", "precision": "bf16"})") ==
          "workload.precision: refers to a device's peak or measurement; name a \"device\"");
    CHECK(refusal(R"({"profile": "gpt2", "batch": 1, "precision": "bf16",
                      "device": {"peak_flops": 1e14, "efficiency": 0.5}})")
              .starts_with("workload.precision: is for a named device"));
}

}  // namespace
}  // namespace paceline::devices_test
