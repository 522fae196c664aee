// Memory on a device against published figures, and against sums by hand over the state of each
// method.
#include "analysis/forms/memory_forms.hpp"

#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/step_costs.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::memory_forms_test {
namespace {

// Section 3 of ZeRO: 16 bytes a parameter in mixed precision; 1.5 billion parameters take 24 GB.
TEST_CASE("memory forms: Adam in mixed precision takes what ZeRO's paper says") {
    CHECK(device_bytes(2, 1'500'000'000, fp16).all() == Bytes{24'000'000'000});
}

// The same section: K = 12 bytes of them are the optimizer's, with the copy in fp32.
TEST_CASE("memory forms: Adam's part has the copy of the parameters") {
    const KeptBytes kept = device_bytes(2, 1000, fp16);
    CHECK(kept.parameters == Bytes{2000});
    CHECK(kept.gradients == Bytes{2000});
    CHECK(kept.optimizer == Bytes{12000});
}

double bytes_a_parameter(const std::string& algorithm, int nodes) {
    const TemporaryFolder folder;
    const std::string file = folder.write("memory.json", fmt::format(R"({{
        "cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps"}}}}}},
        "workload": {{"gradient": "4MB", "step_time": "1ms"}},
        "algorithm": {}, "stop": {{"iterations": 1}}}})",
                                                                     nodes, algorithm));
    const auto memory = device_memory(read_study(file, {}).points.front().scenario);
    return memory ? static_cast<double>(memory->count) / 1e6 : 0;
}

// Parameters and gradient are 8 bytes a parameter in fp32; what follows is what each method keeps.
TEST_CASE("memory forms: each method keeps the vectors that its header lists") {
    constexpr int n = 4;
    const std::map<std::string, double> kept{
        {R"({"kind": "dense"})", 1},
        {R"({"kind": "sgd", "codec": {"kind": "top-k", "density": 0.1}})", 1 + 1},  // its error
        {R"({"kind": "dgc"})", 2},                                                  // u, v
        {R"({"kind": "gradient-dropping"})", 1 + 1},  // momentum, residual
        {R"({"kind": "gtop-k"})", 1 + 1},
        {R"({"kind": "power-sgd"})", 1 + 1},
        {R"({"kind": "adam"})", 2},
        {R"({"kind": "lamb"})", 2},
        {R"({"kind": "one-bit-adam"})", 2 + 1 + 0.25},
        {R"({"kind": "one-bit-lamb"})", 3 + 1 + 0.25},
        {R"({"kind": "local-sgd", "period": 4})", 1},
        {R"({"kind": "local-sgd", "period": 4, "inner": "lamb"})", 2},
        {R"({"kind": "local-adam", "period": 4})", 2},
        {R"({"kind": "sparta"})", 2},
        {R"({"kind": "diloco", "period": 4})", 2 + 1 + 1},  // m, v; the outer model; its momentum
        {R"({"kind": "diloco", "period": 4, "inner": "sgd", "outer": "none"})", 1 + 1},
        {R"({"kind": "sparseloco"})", 2 + 1 + 1},  // m, v; the outer model; the error
        {R"({"kind": "noloco", "mixing": {"kind": "ring"}})", 2 + 1 + 1},
        {R"({"kind": "streaming-diloco"})", 2 + 1 + 1},
        {R"({"kind": "slowmo", "period": 4})", 1 + 1 + 1},  // momentum; anchor; slow momentum
        {R"({"kind": "bmuf", "period": 4})", 1 + 1 + 1},
    };
    for (const auto& [algorithm, vectors] : kept) {
        CAPTURE(algorithm);
        CHECK(bytes_a_parameter(algorithm, n) == doctest::Approx(8 + 4 * vectors).epsilon(1e-6));
    }
    // In mixed precision: 2 + 2 + 4 bytes, and DiLoCo's four vectors.
    CHECK(bytes_a_parameter(R"({"kind": "diloco", "period": 4, "wire": "fp16"})", n) ==
          doctest::Approx(8 + 16));
}

}  // namespace
}  // namespace paceline::memory_forms_test
