// DGC and gradient dropping as scenarios name them: their closed forms by stages, their encodings,
// and stand-ins.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::sparse_family_test {
namespace {

using doctest::Approx;

Metrics run(const std::string& workload, int nodes, int iterations, const std::string& algorithm,
            const std::string& more = "") {
    const TemporaryFolder folder;
    const std::string json =
        R"({"cluster": {"nodes": )" + std::to_string(nodes) +
        R"(, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "0s"}}},
            "workload": )" +
        workload + R"(, "algorithm": )" + algorithm + R"(, "stop": {"iterations": )" +
        std::to_string(iterations) + "}" + more + "}";
    return run_points(read_study(folder.write("study.json", json), {}), 1).front().metrics;
}

const std::string resnet_50 = R"({"profile": "resnet-50", "step_time": "150ms"})";
constexpr double entries = 25'557'032;
constexpr double flat = 54'120;  // entries of its one-dimensional tensors
constexpr double bytes_per_s = 125e6;

// The union of c of 8 workers, as one tensor: 6 bytes for each of n (1 - (1 - rho)^c) entries.
double union_bytes(double rho, int c) {
    return 6 * (entries - flat) * (1 - std::pow(1 - rho, c));
}

double dense_step(int n) {
    return 0.150 + 2.0 * (n - 1) / n * 4 * entries / bytes_per_s;
}

double sparse_step_of_8(double rho) {
    const double sparse = union_bytes(rho, 1) + union_bytes(rho, 2) + union_bytes(rho, 4);
    return 0.150 + (sparse + 2.0 * 7 / 8 * 4 * flat) / bytes_per_s;
}

TEST_CASE("sparse family: a density that comes twice counts in both stages of the closed form") {
    const Metrics m = run(resnet_50, 8, 100, R"({"kind": "dgc", "density": 0.001,
        "selection": "free", "warm_up": {"densities": [0.001, 0.25], "steps_each": 10}})");

    // 90 sparse steps around 10 at density 0.25, whose messages would outweigh dense ones.
    const double expected = (90 * sparse_step_of_8(0.001) + 10 * dense_step(8)) / 100;
    CHECK(*m.model_step_time_s == Approx(expected).epsilon(1e-4));
    CHECK(*m.step_time_s == Approx(*m.model_step_time_s).epsilon(1e-9));
}

TEST_CASE("sparse family: dense steps and steps at density 1 are stages of their own") {
    // Recursive doubling moves as many bytes as the sparse messages of whole vectors, so these stay
    // sparse: 3 vectors of 4 bytes per entry in every step. The search takes its time after step 5.
    const std::string dropping = R"({"kind": "gradient-dropping", "density": 1, "dense_steps": 5,
        "all_reduce": "recursive-doubling", "selection": "exact"})";

    const Metrics m = run(resnet_50, 8, 20, dropping);

    const double search = 219e-12 * entries * std::log2(entries);
    const double expected = 0.150 + 3 * 4 * entries / bytes_per_s + search * 15 / 20;
    CHECK(*m.model_step_time_s == Approx(expected).epsilon(1e-6));
    CHECK(*m.step_time_s == Approx(*m.model_step_time_s).epsilon(1e-9));
}

TEST_CASE("sparse family: fp16 sends 6 bytes per kept entry and 2 per entry of flat tensors") {
    const auto sent = [](const char* more) {
        const Metrics m = run(resnet_50, 2, 1,
                              std::string(R"({"kind": "dgc", "density": 0.001)") +
                                  R"(, "uncompressed": "gathered")" + more + "}");
        return m.bytes_sent_per_node_per_step.value();
    };

    // 25,533 entries are kept, by rounding up in each of 54 tensors.
    CHECK(sent(R"(, "encoding": "fp16-int32")") == 6 * 25'533 + 2 * 54'120);
    CHECK(sent(R"(, "encoding": "run-length-16")") == 6 * 25'533 + 4 * 54'120);
    CHECK(sent(R"(, "encoding": "fp32-int32")") == 8 * 25'533 + 4 * 54'120);
}

const std::string learns = R"(, "optimizer": {"learning_rate": 0.2, "momentum": 0.9})";

std::string alexnet_by_mlp(const char* hidden) {
    return std::string(R"({"model": {"kind": "mlp", "hidden": [)") + hidden + R"(]},
        "data": {"kind": "gaussian-mixture", "components": 60, "dimension": 32, "scale": 0.6,
                 "train": 512, "test": 64},
        "batch": 32, "stand_in_for": {"profile": "alexnet", "step_time": "344ms", "batch": 512}})";
}

TEST_CASE("sparse family: a stand-in for AlexNet sends what AlexNet would, whatever its own net") {
    // Lin et al.: 0.1 % of 8 tensors, rounded up in each, and 10,568 entries uncompressed.
    for (const char* hidden : {"256", "300, 200"})
        for (const char* selection : {"free", "sampled"}) {
            CAPTURE(hidden);
            CAPTURE(selection);
            const Metrics m = run(alexnet_by_mlp(hidden), 2, 3,
                                  std::string(R"({"kind": "dgc", "density": 0.001,
                                      "uncompressed": "gathered", "selection": ")") +
                                      selection + R"("})",
                                  learns);

            CHECK(m.bytes_sent_per_node_per_step.value() == 408'020);
            CHECK(*m.step_time_s == Approx(*m.model_step_time_s).epsilon(1e-12));
        }
}

TEST_CASE("sparse family: unions of a stand-in grow as those of the net that trains") {
    const Metrics m = run(alexnet_by_mlp("256"), 8, 40, R"({"kind": "dgc", "density": 0.001,
        "uncompressed": "gathered", "selection": "free", "exchange": "recursive-doubling"})",
                          learns);

    // Messages of 1, 2 and 4 contributions; the largest union that the table shows has all 8.
    const double flat_bytes = 7 * 4 * 10'568.0;
    const double growth = m.union_density.value() / m.density.value();
    const double sent = (m.bytes_sent_per_node_per_step.value() - flat_bytes) / (6 * 60'954.656);
    CHECK(growth < 7.9);
    CHECK(sent > 7 * growth / 8);  // growth slows down as unions fill up
    CHECK(sent <= 7.001);
}

}  // namespace
}  // namespace paceline::sparse_family_test
