#include "app/scenario/mixings/mixings.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/names.hpp"
#include "app/questions/warnings/mixing_report.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"
#include "topologies/mixing/spectrum.hpp"

namespace paceline::mixings_test {
namespace {

MixingSchedule mixing_of(const std::string& text, int workers, std::uint64_t seed = 1) {
    const std::string file = "test.json";
    const Json json = parse_json(text, file);
    return read_mixing({&json, &file, "mixing"}, workers, MixingUse::averages).make(seed);
}

Eigen::MatrixXd w_of(const std::string& text, int workers, std::int64_t step = 0) {
    return matrix(*mixing_of(text, workers).at(step));
}

Study study_of(const std::string& algorithm, int nodes, const std::string& more = "") {
    const TemporaryFolder folder;
    return read_study(
        folder.write("scenario.json",
                     fmt::format(R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star",
                         "link": {{"bandwidth": "1Gbps", "latency": "5us"}}}}}},
                         "workload": {{"gradient": "2MB", "step_time": "3ms"}},
                         "algorithm": {}, "stop": {{"iterations": 6}}{}}})",
                                 nodes, algorithm, more)),
        {});
}

std::string decentralized(const std::string& kind, const std::string& mixing) {
    return fmt::format(R"({{"kind": "{}", "mixing": {}}})", kind, mixing);
}

std::string mixing_text(const Study& study) {
    MixingLines lines;
    for (const Point& point : study.points) lines.see(point.scenario);
    return lines.text();
}

std::vector<std::string> mixing_warnings(const Study& study) {
    MixingWarnings warnings;
    for (const Point& point : study.points) warnings.see(point.scenario);
    return warnings.lines();
}

TEST_CASE("mixings: every kind is defined for one, two and four workers, lazy or not") {
    for (const MixingEntry& entry : mixing_table())
        for (const int workers : {1, 2, 4})
            for (const char* lazy : {"", R"(, "lazy": true)"}) {
                CAPTURE(entry.name);
                CAPTURE(workers);
                const char* edges = entry.name != "explicit" ? ""
                                    : workers == 1           ? R"(, "edges": [])"
                                                             : R"(, "edges": [[0, 1]])";
                const Eigen::MatrixXd w =
                    w_of(fmt::format(R"({{"kind": "{}"{}{}}})", entry.name, edges, lazy), workers);

                CHECK(w.rows() == workers);
                CHECK((w.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
                CHECK((w.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
                if (workers == 2) CHECK(w(0, 1) == (*lazy == '\0' ? 0.5 : 0.25));
            }
}

TEST_CASE("mixings: explicit edges have Metropolis weights unless they ask for others") {
    const char* path = R"({"kind": "explicit", "edges": [[0, 1], [2, 1]]})";
    CHECK(w_of(path, 3) == matrix(make_grid_mixing(1, 3)));

    const char* ring = R"({"kind": "explicit", "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
                           "weights": "uniform"})";
    CHECK(w_of(ring, 4) == matrix(make_ring_mixing(4)));
}

// Groups of `size` that differ in one digit of base `size`, everybody with everybody.
std::string groups(int nodes, int size, int stride) {
    std::string edges;
    for (int i = 0; i < nodes; ++i)
        for (int j = i + stride; j < i + size * stride && j < nodes; j += stride)
            if (i / (size * stride) == j / (size * stride))
                edges += fmt::format("{}[{}, {}]", edges.empty() ? "" : ", ", i, j);
    return fmt::format(R"({{"edges": [{}], "weights": "uniform"}})", edges);
}

TEST_CASE("mixings: explicit ones in turn are those of their steps, from the first again") {
    const std::string first = R"({"edges": [[0, 1, 0.25]]})";
    const std::string both = fmt::format(R"({{"kind": "explicit", "in_turn": [{}, {}]}})", first,
                                         R"({"edges": [[1, 2, 0.5]]})");
    CHECK_FALSE(mixing_of(both, 3).is_static());
    CHECK(mixing_of(both, 3).period() == 2);
    for (const std::int64_t step : {0, 2, 10})
        CHECK(w_of(both, 3, step) == w_of(R"({"kind": "explicit", "edges": [[0, 1, 0.25]]})", 3));
    CHECK(w_of(both, 3, 3) == w_of(R"({"kind": "explicit", "edges": [[1, 2, 0.5]]})", 3));
}

TEST_CASE("mixings: averages of groups that change by stride are exact after log_k n steps") {
    for (const auto& [nodes, size] : {std::pair{4, 2}, {8, 2}, {9, 3}, {16, 4}, {27, 3}, {64, 4}}) {
        CAPTURE(nodes);
        std::string in_turn;
        int steps = 0;
        for (int stride = 1; stride < nodes; stride *= size, ++steps)
            in_turn += (in_turn.empty() ? "" : ", ") + groups(nodes, size, stride);
        const std::string text = fmt::format(R"({{"kind": "explicit", "in_turn": [{}]}})", in_turn);
        Eigen::MatrixXd product = Eigen::MatrixXd::Identity(nodes, nodes);
        for (int step = 0; step < steps; ++step) product = w_of(text, nodes, step) * product;
        const Eigen::MatrixXd mean = Eigen::MatrixXd::Constant(nodes, nodes, 1.0 / nodes);
        CHECK((product - mean).cwiseAbs().maxCoeff() < 1e-14);
    }
}

TEST_CASE("mixings: pairs in turn train as the one-peer hypercube does") {
    const std::string pairs =
        R"({"kind": "explicit", "in_turn": [{"edges": [[0, 1, 0.5], [2, 3, 0.5]]},
                                            {"edges": [[0, 2, 0.5], [1, 3, 0.5]]}]})";
    for (std::int64_t step = 0; step < 4; ++step)
        CHECK(w_of(pairs, 4, step) == w_of(R"({"kind": "one-peer-hypercube"})", 4, step));
}

TEST_CASE("mixings: faults of mixings in turn are told where they are") {
    const auto refused = [](const char* text, const char* sentence) {
        CHECK_THROWS_WITH_AS(static_cast<void>(mixing_of(text, 3)), doctest::Contains(sentence),
                             ConfigError);
    };
    refused(R"({"kind": "explicit", "in_turn": []})",
            "mixing.in_turn: is not a list of 1 to 10000");
    refused(R"({"kind": "explicit", "in_turn": [{"edges": [[0, 1]]}, {"edges": [[0, 7]]}]})",
            "mixing.in_turn[1].edges[0]");
    refused(R"({"kind": "explicit", "in_turn": [{"edges": [[0, 1, 0.5]], "directed": true}]})",
            "mixing.in_turn[0].edges: does not preserve the mean");
    refused(R"({"kind": "explicit", "edges": [[0, 1]], "in_turn": [{"edges": [[0, 1]]}]})",
            "has its own in each entry; leave out the outer \"edges\"");
    refused(R"({"kind": "ring", "in_turn": [{"edges": [[0, 1]]}]})", "is for \"explicit\" alone");
}

TEST_CASE("mixings: explicit weights leave the rest of a row with the node") {
    Eigen::MatrixXd expected(3, 3);
    expected << 0.75, 0.25, 0, 0.25, 0.25, 0.5, 0, 0.5, 0.5;
    CHECK(w_of(R"({"kind": "explicit", "edges": [[0, 1, 0.25], [1, 2, 0.5]]})", 3) == expected);

    expected << 0.5, 0, 0.5, 0.5, 0.5, 0, 0, 0.5, 0.5;
    CHECK(w_of(R"({"kind": "explicit", "directed": true,
                   "edges": [[0, 2, 0.5], [1, 0, 0.5], [2, 1, 0.5]]})",
               3) == expected);
    CHECK(w_of(R"({"kind": "explicit", "directed": true, "edges": [[0, 2], [1, 0], [2, 1]]})", 3) ==
          expected);

    // A weight of 1 leaves nothing.
    expected.setZero();
    expected(0, 1) = expected(1, 0) = expected(2, 2) = 1;
    CHECK(w_of(R"({"kind": "explicit", "edges": [[0, 1, 1]]})", 3) == expected);
}

TEST_CASE("mixings: a random matching is that of the run's seed") {
    const char* text = R"({"kind": "random-matching"})";

    CHECK(matrix(*mixing_of(text, 16, 1).at(3)) == matrix(*make_random_matching(16, 1).at(3)));
    CHECK(matrix(*mixing_of(text, 16, 1).at(3)) != matrix(*mixing_of(text, 16, 2).at(3)));
    CHECK(matrix(*mixing_of(R"({"kind": "random-matching", "lazy": true})", 16, 1).at(3)) ==
          matrix(*make_random_matching(16, 1, 0.25).at(3)));
}

TEST_CASE(
    "mixings: weights are uniform or Metropolis on every graph of equal degrees, and the same") {
    for (const char* kind : {"ring", "complete", "torus", "hypercube", "symmetric-exponential"})
        for (const int workers : {1, 2, 4, 16}) {
            CAPTURE(kind);
            const auto with = [&](const char* weights) {
                return w_of(fmt::format(R"({{"kind": "{}", "weights": "{}"}})", kind, weights),
                            workers);
            };
            CHECK((with("uniform") - with("metropolis")).cwiseAbs().maxCoeff() < 1e-15);
        }
}

TEST_CASE("mixings: the time of a step that sends one vector is the closed form's") {
    for (const auto& [mixing, nodes] :
         std::vector<std::pair<std::string, int>>{{R"({"kind": "one-peer-exponential"})", 6},
                                                  {R"({"kind": "one-peer-hypercube"})", 8},
                                                  {R"({"kind": "random-matching"})", 10}}) {
        CAPTURE(mixing);
        const Study study = study_of(decentralized("dmsgd", mixing), nodes);

        const Metrics metrics = run_point(study.points[0].scenario, nullptr);

        const double expected = 3e-3 + 10e-6 + 16e-3;
        REQUIRE(metrics.model_step_time_s);
        CHECK(*metrics.model_step_time_s == doctest::Approx(expected).epsilon(1e-9));
        CHECK(metrics.step_time_s.value() == doctest::Approx(expected).epsilon(1e-9));
        CHECK(messages_of_run(study.points[0].scenario) == 6.0 * nodes);
    }
}

TEST_CASE(
    "mixings: no closed form is claimed where a worker is left over, and messages are right") {
    const Study study = study_of(decentralized("dmsgd", R"({"kind": "random-matching"})"), 7);

    const Metrics metrics = run_point(study.points[0].scenario, nullptr);

    CHECK(!metrics.model_step_time_s);
    CHECK(metrics.step_time_s.value() >= 3e-3 + 10e-6 + 16e-3 - 1e-12);
    CHECK(messages_of_run(study.points[0].scenario) == 6.0 * 6);
}

TEST_CASE("mixings: PmSGD by that name and with LARS cost what dense costs") {
    const auto step = [](const char* algorithm) {
        const Study study = study_of(algorithm, 5);
        const Metrics metrics = run_point(study.points[0].scenario, nullptr);
        REQUIRE(metrics.model_step_time_s);
        CHECK(*metrics.model_step_time_s ==
              doctest::Approx(metrics.step_time_s.value()).epsilon(1e-9));
        return metrics.step_time_s.value();
    };
    const double dense = step(R"({"kind": "dense", "all_reduce": "tree", "wire": "fp16"})");

    CHECK(step(R"({"kind": "pmsgd", "all_reduce": "tree", "wire": "fp16"})") == dense);
    CHECK(
        step(
            R"({"kind": "pmsgd-lars", "all_reduce": "tree", "wire": "fp16", "trust": 0.002, "larc": true})") ==
        dense);
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST_CASE("check: a line for each distinct mixing, with its gap") {
    const Study study = study_of(decentralized("dmsgd", R"({"kind": "ring"})"), 16,
                                 R"(, "sweep": {"seed": [1, 2], "algorithm.mixing": [
        {"kind": "ring"}, {"kind": "one-peer-exponential"}, {"kind": "star"},
        {"kind": "exponential"}, {"kind": "random-matching"}]})");
    const std::string text = mixing_text(study);

    CHECK(std::ranges::count(text, '\n') == 1 + 2 + 5);  // a blank line and two header lines
    CHECK(mixing_warnings(study).empty());
}

TEST_CASE("check: without mixings, it prints nothing about them") {
    CHECK(mixing_text(study_of(R"({"kind": "dense"})", 4)).empty());
}

TEST_CASE("check: rho, gap, symmetry and lambda_n stand in a mixing's line") {
    const auto text = [](const char* mixing, int nodes) {
        return mixing_text(study_of(decentralized("dmsgd", mixing), nodes));
    };
    CHECK(
        contains(text(R"({"kind": "ring"})", 16),
                 "ring                             16          2   0.949253    0.050747 symmetric "
                 "  -0.333333\n"));
    CHECK(contains(text(R"({"kind": "star", "lazy": true})", 4), "star, lazy"));
    CHECK(contains(text(R"({"kind": "star"})", 4), "1 to 3   0.750000        0.25 symmetric"));
    CHECK(contains(text(R"({"kind": "exponential"})", 8),
                   "0.500000         0.5 directed            -\n"));
    CHECK(contains(text(R"({"kind": "one-peer-exponential"})", 8),
                   "0.000000           1 directed            -  3 in turn"));
    CHECK(contains(text(R"({"kind": "random-matching"})", 16), "0.683130"));  // sqrt(14 / 30)
}

TEST_CASE("warnings: DecentLaM on directed or changing mixings, D2 below -1/3; all are allowed") {
    const auto warning = [](const char* kind, const char* mixing, int nodes) {
        const std::vector<std::string> all =
            mixing_warnings(study_of(decentralized(kind, mixing), nodes));
        CHECK(all.size() <= 1);
        return all.empty() ? std::string() : all.front();
    };
    CHECK(contains(warning("decentlam", R"({"kind": "exponential"})", 8),
                   "decentlam on \"exponential\" of 8 workers: DecentLaM needs a symmetric W"));
    CHECK(contains(warning("decentlam", R"({"kind": "one-peer-exponential"})", 8),
                   "needs a W that stays the same"));
    CHECK(contains(warning("decentlam", R"({"kind": "random-matching"})", 8), "0.707"));
    CHECK(contains(warning("d2-dmsgd", R"({"kind": "hypercube"})", 8), "and this is -0.500000"));
    CHECK(contains(warning("d2-dmsgd", R"({"kind": "ring"})", 8), "and this is -0.333333"));
    CHECK(contains(warning("d2-dmsgd", R"({"kind": "explicit", "edges": [[0, 1, 1]]})", 2),
                   "and this is -1.000000"));
    CHECK(contains(warning("d2-dmsgd", R"({"kind": "random-matching"})", 8), "stays the same"));
    for (const char* mixing : {R"({"kind": "ring"})", R"({"kind": "symmetric-exponential"})"})
        CHECK(warning("decentlam", mixing, 8).empty());
    for (const char* mixing : {R"({"kind": "one-peer-exponential"})",
                               R"({"kind": "random-matching"})", R"({"kind": "exponential"})"}) {
        for (const int few : {1, 2}) CHECK(warning("decentlam", mixing, few).empty());
        CHECK(warning("dmsgd", mixing, 8).empty());
    }
    CHECK(warning("d2-dmsgd", R"({"kind": "hypercube", "lazy": true})", 8).empty());
    CHECK(warning("d2-dmsgd", R"({"kind": "ring", "lazy": true})", 8).empty());
}

constexpr const char* irregular = R"({"kind": "explicit", "directed": true,
                                       "edges": [[1, 0], [2, 1], [3, 2], [0, 3], [0, 2]]})";

TEST_CASE("mixings: push-sum takes any graph, and others only what keeps the mean") {
    const std::vector<std::string> graphs{
        irregular, R"({"kind": "star", "weights": "uniform"})",
        R"({"kind": "explicit", "directed": true, "edges": [[0, 1, 0.7], [1, 0, 0.2]]})"};
    for (const std::string& graph : graphs) {
        CAPTURE(graph);
        const auto read = [&](const std::string& algorithm) {
            const Study study =
                study_of(fmt::format(R"({{"kind": {}, "mixing": {}}})", algorithm, graph), 4);
            return run_point(study.points[0].scenario, nullptr).outcome;
        };
        CHECK(read(R"("sgp")") == "finished");
        CHECK(read(R"("osgp")") == "finished");
        for (const char* base : {"sgp", "osgp", "sgp-adam"})
            CHECK(read(fmt::format(R"("slowmo", "period": 3, "base": "{}")", base)) == "finished");
        CHECK_THROWS_AS(read(R"("dsgd")"), ConfigError);
        CHECK_THROWS_AS(read(R"("slowmo", "base": "dsgd")"), ConfigError);
        CHECK_THROWS_AS(read(R"("swarm-sgd")"), ConfigError);
    }
}

TEST_CASE("warnings: push-sum on a graph that is not strongly connected") {
    const auto warned = [](const std::string& mixing) {
        return mixing_warnings(study_of(decentralized("sgp", mixing), 4));
    };
    CHECK(warned(irregular).empty());
    CHECK(warned(R"({"kind": "one-peer-exponential"})").empty());
    CHECK(warned(R"({"kind": "star"})").empty());
    REQUIRE(warned(R"({"kind": "explicit", "directed": true, "edges": [[1, 0], [2, 1], [3, 2]]})")
                .size() == 1);
    CHECK(contains(warned(R"({"kind": "explicit", "edges": [[0, 1], [2, 3]]})").front(),
                   "needs a strongly connected graph"));
    // Its rho is not that of W, because push-sum does not use W's weights.
    CHECK(contains(mixing_text(study_of(decentralized("sgp", irregular), 4)), "not known"));
}

TEST_CASE("check: rho of what changes and does not preserve the mean is not known") {
    const std::string in_turn = R"({"kind": "explicit", "in_turn": [
        {"edges": [[0, 1], [1, 2], [2, 3]]},
        {"edges": [[0, 1, 0.7], [1, 0, 0.2]], "directed": true}]})";
    CHECK(contains(mixing_text(study_of(decentralized("sgp", in_turn), 4)), "not known"));
}

TEST_CASE("check: a mixing in parts has rho 1 and no gap") {
    const std::string text = mixing_text(
        study_of(decentralized("dsgd", R"({"kind": "explicit", "edges": [[0, 1]]})"), 64));
    CHECK(contains(text, "1.000000 none: parts never meet symmetric    0.000000"));
}

TEST_CASE("check: workers that only swap have no gap, though they meet") {
    const std::string text = mixing_text(
        study_of(decentralized("dsgd", R"({"kind": "explicit", "edges": [[0, 1, 1]]})"), 2));
    CHECK(contains(text, "1.000000        none symmetric   -1.000000"));
}

TEST_CASE("warnings: a mixing in parts, but not where push-sum has a warning of its own") {
    const auto warned = [](const std::string& algorithm, int nodes) {
        return mixing_in_parts(study_of(algorithm, nodes).points[0].scenario);
    };
    const std::string pair = R"({"kind": "explicit", "edges": [[0, 1]]})";
    CHECK(warned(decentralized("dsgd", pair), 64) ==
          "its mixing leaves 64 workers in 63 parts that never communicate with each other; rho is "
          "1, and models of different parts do not meet");
    CHECK(warned(decentralized("dsgd", pair), 2).empty());
    CHECK(warned(decentralized("sgp", pair), 4).empty());
    CHECK(warned(decentralized("dsgd", R"({"kind": "ring"})"), 4).empty());
    CHECK(warned(decentralized("dsgd", R"({"kind": "random-matching"})"), 4).empty());
    CHECK(warned(R"({"kind": "dense"})", 4).empty());
    const std::string in_turn = R"({"kind": "explicit", "in_turn": [{"edges": [[0, 1], [2, 3]]},
                                                                    {"edges": [[1, 2]]}]})";
    CHECK(warned(decentralized("dsgd", in_turn), 4).empty());
    CHECK(contains(warned(decentralized("dsgd", in_turn), 5), "5 workers in 2 parts"));
    const std::string slow = R"({"kind": "slowmo", "period": 2, "base": "dsgd", "mixing": )";
    CHECK(contains(warned(slow + pair + "}", 4), "meet only where all workers average"));
}

TEST_CASE("mixings: an explicit mixing that states its workers is refused for any other number") {
    const std::string four =
        R"({"kind": "explicit", "workers": 4, "edges": [[0, 1], [2, 3], [1, 2]]})";
    CHECK(mixing_of(four, 4).nodes() == 4);
    for (const int workers : {5, 8, 64}) {
        CAPTURE(workers);
        try {
            mixing_of(four, workers);
            FAIL("not refused");
        } catch (const ConfigError& error) {
            CHECK(contains(error.what(),
                           fmt::format("the mixing is one of 4 workers, and {} average", workers)));
        }
    }
    CHECK_THROWS_AS(mixing_of(R"({"kind": "ring", "workers": 4})", 4), ConfigError);
}

TEST_CASE("mixings: max-degree weights of a star are 1/n for each edge") {
    for (const char* mixing :
         {R"({"kind": "star", "weights": "max-degree"})",
          R"({"kind": "explicit", "edges": [[0, 1], [0, 2], [0, 3]], "weights": "max-degree"})"}) {
        const Mixing w = *mixing_of(mixing, 4).at(0);
        CHECK(w.row(0).size() == 4);
        for (int i = 1; i < 4; ++i) {
            REQUIRE(w.row(i).size() == 2);
            CHECK(w.row(i)[0].weight == doctest::Approx(0.25));
            CHECK(w.row(i)[1].weight == doctest::Approx(0.75));
        }
    }
}

TEST_CASE("warnings: each is told once, however many points share it") {
    const Study study = study_of(decentralized("decentlam", R"({"kind": "exponential"})"), 8,
                                 R"(, "sweep": {"seed": [1, 2, 3], "cluster.nodes": [8, 16]})");

    REQUIRE(mixing_warnings(study).size() == 1);
    CHECK(contains(mixing_warnings(study).front(), "\"exponential\" of 8, 16 workers: "));
}

}  // namespace
}  // namespace paceline::mixings_test
