// Cost of reading a point of a study, which a study does for each of its points when it is checked
// and again when they run. `parse` parses the text of one resolved point and nothing else, with the
// JSON library that paceline uses: the bound below which no reader of such a text can be.
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace {

using namespace paceline;

// ResNet-50 on a star: 100 numbers of nodes and 100 bandwidths.
Study study() {
    std::vector<int> nodes(100);
    std::iota(nodes.begin(), nodes.end(), 2);
    std::vector<std::string> bandwidths;
    for (const int i : nodes) bandwidths.push_back(fmt::format("\"{}Gbps\"", i));
    const std::string text = fmt::format(
        R"({{"cluster": {{"nodes": 4, "fabric": {{"kind": "star",
                          "link": {{"bandwidth": "1Gbps", "latency": "30us"}}}}}},
             "workload": {{"profile": "resnet-50", "step_time": "100ms", "batch": 32}},
             "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}},
             "sweep": {{"cluster.nodes": [{}], "cluster.fabric.link.bandwidth": [{}]}}}})",
        fmt::join(nodes, ", "), fmt::join(bandwidths, ", "));
    return read_study(ScenarioText{"points.json", text, in_memory({})}, {});
}

void parse(benchmark::State& state) {
    const std::string text = study().points[0].resolved;
    for (auto _ : state) benchmark::DoNotOptimize(Json::parse(text));
}

void read(benchmark::State& state) {
    const Study all = study();
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(all.points[i++ % all.points.size()]);
}

BENCHMARK(parse);
BENCHMARK(read);

}  // namespace

BENCHMARK_MAIN();
