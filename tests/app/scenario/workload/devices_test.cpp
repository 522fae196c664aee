#include "app/scenario/workload/devices.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/study.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "app/study/study_file.hpp"
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

TEST_CASE("devices: each has a name of its own, a peak and where it comes from") {
    std::set<std::string> names;
    for (const Device& device : device_table()) {
        CAPTURE(device.name);

        CHECK(names.insert(device.name).second);
        CHECK(!device.title.empty());
        CHECK(device.peak_flops > 1e12);
        CHECK(device.peak_flops < 1e14);
        CHECK(!device.source.empty());
        CHECK(!device.source.starts_with("from memory"));
    }
    CHECK(names.size() >= 10);
}

TEST_CASE("devices: whatever a built-in profile was measured on has a known peak") {
    const std::vector<Device> devices = device_table();
    int measured = 0;
    for (const std::string_view name : profile_names()) {
        const Profile profile = built_in(name);
        for (const MeasuredThroughput& row : profile.throughput) {
            CAPTURE(name);
            CAPTURE(row.device);
            ++measured;

            CHECK(std::ranges::count(devices, row.device, &Device::name) == 1);
        }
    }
    CHECK(measured >= 60);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// For every net on every device that it was measured on: the share of the peak that it reaches.
std::vector<double> measured_shares() {
    std::vector<double> shares;
    for (const std::string_view name : profile_names()) {
        const Profile profile = built_in(name);
        for (const Device& device : device_table()) {
            std::vector<double> rates;
            for (const MeasuredThroughput& row : profile.throughput)
                if (row.device == device.name) rates.push_back(row.samples_per_s);
            if (!rates.empty())
                shares.push_back(6 * profile.macs() * median(rates) / device.peak_flops);
        }
    }
    return shares;
}

TEST_CASE("devices: the default efficiency is the median of what was measured") {
    const std::vector<double> shares = measured_shares();

    REQUIRE(shares.size() >= 40);
    CHECK(std::abs(median(shares) - default_efficiency) <= 0.005);
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
        "workload.efficiency: is for a device that is named");
    refused(R"({"profile": "resnet-50", "device": {"peak_flops": 1e13, "efficiency": 1}})",
            "workload.device: a device needs a \"batch\"");
}

}  // namespace
}  // namespace paceline::devices_test
