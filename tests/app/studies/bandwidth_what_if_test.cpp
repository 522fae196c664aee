// The crossovers that docs/what-if.md lists for scenarios/bandwidth-what-if.json: found by
// bisection on the closed forms, and checked by simulation on both sides.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"

namespace paceline::bandwidth_what_if_test {
namespace {

const std::string file = PACELINE_SOURCE_DIR "/scenarios/bandwidth-what-if.json";

const std::string overlapped = R"({"kind": "dense-overlapped", "bucket": "25MiB"})";
const std::string hierarchical = R"({"kind": "dense", "all_reduce": "hierarchical"})";
const std::string dgc =
    R"({"kind": "dgc", "density": 0.001, "exchange": "all-gather-ring", "selection": "sampled",
        "selection_step": "500ps"})";

const std::string by_machine =
    R"({"kind": "dgc", "density": 0.001, "selection": "sampled", "selection_step": "500ps",
        "aggregation": {"kind": "sparse-all-reduce", "machines": "leaders"}})";

Scenario at(const std::string& algorithm, int nodes, double gbps) {
    const Study study =
        read_study(file, {"algorithm=" + algorithm, fmt::format("cluster.nodes={}", nodes),
                          fmt::format("cluster.fabric.link.bandwidth=\"{:.0f}bps\"", gbps * 1e9)});
    return study.points.front().scenario;
}

double predicted(const std::string& algorithm, int nodes, double gbps) {
    return to_seconds(model_step_time(at(algorithm, nodes, gbps), 1).value());
}

double simulated(const std::string& algorithm, int nodes, double gbps) {
    return run_point(at(algorithm, nodes, gbps), nullptr).step_time_s.value();
}

/// Returns the bandwidth at which the closed forms of `dense` and a way of DGC are equal; dense is
/// slower below.
double crossover(const std::string& dense, const std::string& sparse, int nodes) {
    double slow = 0.1;
    double fast = 100;
    REQUIRE(predicted(dense, nodes, slow) > predicted(sparse, nodes, slow));
    REQUIRE(predicted(dense, nodes, fast) < predicted(sparse, nodes, fast));
    while (fast / slow > 1.0001) {
        const double middle = (slow + fast) / 2;
        (predicted(dense, nodes, middle) > predicted(sparse, nodes, middle) ? slow : fast) = middle;
    }
    return fast;
}

struct Named {
    std::string dense;
    std::string sparse;
    int nodes;
    double gbps;  // from docs/what-if.md
};

TEST_CASE("bandwidth what-if: dense passes DGC at the bandwidths that the docs name") {
    for (const auto& [dense, sparse, nodes, gbps] :
         {Named{overlapped, dgc, 16, 53.0}, Named{overlapped, dgc, 64, 35.6},
          Named{hierarchical, dgc, 256, 6.99}, Named{overlapped, by_machine, 4, 16.7},
          Named{overlapped, by_machine, 16, 19.2}, Named{overlapped, by_machine, 64, 33.2},
          Named{hierarchical, by_machine, 256, 88.0}}) {
        CAPTURE(sparse);
        CAPTURE(nodes);
        CHECK(crossover(dense, sparse, nodes) == doctest::Approx(gbps).epsilon(0.01));
    }
}

TEST_CASE("bandwidth what-if: the simulation changes sides where the closed forms do") {
    for (const std::string& sparse : {dgc, by_machine}) {
        CAPTURE(sparse);
        const double gbps = crossover(overlapped, sparse, 16);

        CHECK(simulated(overlapped, 16, 0.98 * gbps) > simulated(sparse, 16, 0.98 * gbps));
        CHECK(simulated(overlapped, 16, 1.02 * gbps) < simulated(sparse, 16, 1.02 * gbps));
    }
}

TEST_CASE("bandwidth what-if: simulated steps are those of the closed forms within 1e-5") {
    const std::string flat = R"({"kind": "dense"})";
    for (const std::string& algorithm : {flat, overlapped, hierarchical, dgc, by_machine})
        for (const int nodes : {4, 16})
            for (const double gbps : {0.1, 1.0, 10.0, 25.0, 100.0}) {
                CAPTURE(algorithm);
                CAPTURE(nodes);
                CAPTURE(gbps);
                CHECK(simulated(algorithm, nodes, gbps) ==
                      doctest::Approx(predicted(algorithm, nodes, gbps)).epsilon(1e-5));
            }
}

// With the costs of starting a collective and of coding, from docs/what-if.md.
struct WithCosts {
    std::string dgc;
    int nodes;
    double gbps;
};

double with_costs(const std::string& algorithm, int nodes, double gbps) {
    const Study study =
        read_study(file, {"algorithm=" + algorithm, fmt::format("cluster.nodes={}", nodes),
                          R"(cluster.library={"start_up": "236us"})",
                          fmt::format("cluster.fabric.link.bandwidth=\"{:.0f}bps\"", gbps * 1e9)});
    return to_seconds(model_step_time(study.points.front().scenario, 1).value());
}

double best_dense_with_costs(int nodes, double gbps) {
    return std::min({with_costs(R"({"kind": "dense"})", nodes, gbps),
                     with_costs(overlapped, nodes, gbps), with_costs(hierarchical, nodes, gbps)});
}

TEST_CASE("bandwidth what-if: with start-ups and coding, dense passes DGC earlier") {
    const std::string tensors =
        R"({"kind": "dgc", "codec": {"kind": "dgc", "density": 0.001, "selection": "sampled", "selection_step": "500ps"},
            "aggregation": {"kind": "all-gather", "how": "ring"}, "schedule": "tensors"})";
    const std::string coded =
        R"({"kind": "dgc", "codec": {"kind": "dgc", "density": 0.001, "coding": "v100-tensorflow"},
            "aggregation": {"kind": "all-gather", "how": "ring"}})";
    for (const auto& [method, nodes, gbps] :
         {WithCosts{dgc, 4, 89.5}, WithCosts{dgc, 16, 49.8}, WithCosts{dgc, 64, 36.1},
          WithCosts{dgc, 256, 6.96}, WithCosts{tensors, 4, 7.75}, WithCosts{tensors, 16, 2.41},
          WithCosts{tensors, 64, 0.547}, WithCosts{tensors, 256, 0.0389}, WithCosts{coded, 4, 2.90},
          WithCosts{coded, 16, 3.15}, WithCosts{coded, 64, 2.84}, WithCosts{coded, 256, 0.777}}) {
        CAPTURE(method);
        CAPTURE(nodes);
        CHECK(best_dense_with_costs(nodes, 0.98 * gbps) > with_costs(method, nodes, 0.98 * gbps));
        CHECK(best_dense_with_costs(nodes, 1.02 * gbps) < with_costs(method, nodes, 1.02 * gbps));
    }
}

}  // namespace
}  // namespace paceline::bandwidth_what_if_test
