#include "app/questions/solve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "app/json/config_error.hpp"
#include "app/questions/solve_points.hpp"
#include "app/questions/solve_text.hpp"
#include "app/run/results.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::solve_test {
namespace {

// The latency to the switch is 10us, so a = 20us from node to node.
constexpr double a = 20e-6;

constexpr std::string_view scenario = R"({
  "cluster": {"nodes": 64, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "10us"}}},
  "workload": {"profile": "alexnet", "step_time": "344ms"},
  "algorithm": {"kind": "dense", "all_reduce": "ring"},
  "stop": {"iterations": 1}
})";

std::string dgc(const std::string& density) {
    return fmt::format(
        R"({{"kind": "dgc", "density": {}, "density_law": "worst-case", "exchange": "all-gather-ring",
             "uncompressed": "gathered", "selection": "free"}})",
        density);
}

struct Question {
    TemporaryFolder folder;
    SolveQuestion asked;
    StudyOptions options;

    explicit Question(std::string vary, std::string column = "step_time_s") {
        asked.file = folder.write("net.json", scenario);
        asked.vary = std::move(vary);
        asked.column = std::move(column);
        options.pool = {2, 2};
    }
    void keep_points() { options.keep_in = folder.path() / "points"; }

    [[nodiscard]] Solution solve() const { return solve_by(concurrently(options)); }
    [[nodiscard]] Solution solve_by(const Evaluate& evaluate) const {
        return paceline::solve(asked, open_scenario(asked.file), evaluate);
    }
    [[nodiscard]] std::vector<std::string> warnings() const {
        return solve_warnings(asked, open_scenario(asked.file));
    }
    [[nodiscard]] std::string json() const { return solution_json(asked, solve()); }
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Size of a DGC message: 6 bytes for each of ceil(density n) entries of tensors with two or more
// dimensions, 4 bytes for each entry of the others.
double message_of_dgc(const std::string& file, double density) {
    const Study study = read_study(file, {});
    double bytes = 0;
    for (const Tensor& tensor : study.points.front().scenario.workload.layout->tensors()) {
        const auto n = static_cast<double>(tensor.entries());
        bytes += tensor.compressible() ? 6 * std::ceil(density * n) : 4 * n;
    }
    return bytes;
}

constexpr double alexnet_bytes = 4 * 60965224.0;

TEST_CASE("solve: a scenario in memory has the answer of the same scenario in a file") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps");
    question.asked.equals = 0.5;
    const ScenarioText text{"nowhere.json", std::string(scenario), in_memory({})};

    const Solution of_file = question.solve();
    const Solution of_text = solve(question.asked, text, concurrently(question.options));

    CHECK(solution_json(question.asked, of_text) == solution_json(question.asked, of_file));
    CHECK(of_text.found.closest.has_value());
}

TEST_CASE("solve: answers at the ends of an interval are those of the columns with these ends") {
    const auto places = [](const Changes& found) {
        std::vector<double> all;
        for (const Change& change : found.changes) all.push_back(change.at);
        return all;
    };
    for (const char* column : {"efficiency", "step_time_s"}) {
        CAPTURE(column);
        Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps", column);
        question.asked.settings = {"measure.interval=true"};
        question.asked.equals = std::string_view(column) == "efficiency" ? 0.5 : 0.7;
        const Solution solution = question.solve();
        REQUIRE(solution.at_low);
        REQUIRE(solution.at_high);
        CHECK_FALSE(solution.at_high->changes.empty());
        for (const bool is_high : {false, true}) {
            Question end("cluster.fabric.link.bandwidth=1Gbps..100Gbps",
                         std::string(column) + (is_high ? "_high" : "_low"));
            end.asked.settings = question.asked.settings;
            end.asked.equals = question.asked.equals;
            CHECK(places(end.solve().found) ==
                  places(is_high ? *solution.at_high : *solution.at_low));
        }
        CHECK(contains(solution_text(question.asked, solution),
                       "90 % prediction interval (docs/trust.md): at"));
    }
}

TEST_CASE("solve: the order of a method and itself is not sure anywhere, with intervals alone") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps", "step_time_s");
    question.asked.against = {R"(algorithm={"kind": "dense", "all_reduce": "recursive-doubling"})"};
    CHECK_FALSE(question.solve().at_low);
    question.asked.settings = {"measure.interval=true"};
    question.asked.against = {R"(algorithm={"kind": "dense", "all_reduce": "ring"})"};
    CHECK(contains(solution_text(question.asked, question.solve()),
                   "which of the two is larger is uncertain from 1Gbps to 100Gbps"));
}

// The answer for a run that ends within a period is that of whole periods, by the closed form
//   speedup  =  64 C / (C + A / 8),  A = 2 * 63 (a + 8 S/64 / B)
TEST_CASE("solve: Local SGD that ends within a period needs the bandwidth of whole periods") {
    constexpr double wanted = 62;
    const double average_s = 8 * 0.344 * (64 / wanted - 1);
    const double exact = 8 * std::ceil(alexnet_bytes / 64) / (average_s / 126 - a);
    for (const char* steps : {"3", "8", "10", "80"}) {
        CAPTURE(steps);
        Question question("cluster.fabric.link.bandwidth=100Mbps..100Gbps", "speedup");
        question.asked.settings = {R"(algorithm={"kind": "local-sgd", "period": 8})",
                                   std::string("stop.iterations=") + steps};
        question.asked.equals = wanted;

        const Solution solution = question.solve();

        REQUIRE(solution.found.changes.size() == 1);
        CHECK(solution.found.changes[0].at == doctest::Approx(exact).epsilon(1e-3));
        REQUIRE(solution.closed_form.has_value());
        CHECK(solution.closed_form->changes.at(0).at == doctest::Approx(exact).epsilon(1e-3));
        CHECK(question.warnings().empty());
    }
}

TEST_CASE("solve: where a warm-up fills the run, a warning says why nothing changes") {
    Question question("cluster.fabric.link.bandwidth=100Mbps..100Gbps", "compression_ratio");
    question.asked.settings = {R"(algorithm={"kind": "one-bit-adam", "fused": true})"};
    question.asked.equals = 30;

    REQUIRE(question.warnings().size() == 1);
    CHECK(contains(question.warnings()[0], "which lasts 100000 steps"));
    CHECK(question.solve().found.changes.empty());
}

// With latency a from node to node and DGC messages of V bytes, which are gathered in a ring,
//   C + 2(N-1) (a + 8 S/N / B)  =  C + (N-1) (a + 8 V / B1)    at    B = 16 S/N / (8 V / B1 - a)
TEST_CASE(
    "solve: the bandwidth at which dense SGD is as fast as DGC on 1 Gbps is the closed form's") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps");
    question.asked.against = {"cluster.fabric.link.bandwidth=1Gbps", "algorithm=" + dgc("0.001")};
    question.asked.tolerance = 1e-7;
    question.asked.grid = 5;
    const double chunk = std::ceil(alexnet_bytes / 64);
    const double exact = 16 * chunk / (8 * message_of_dgc(question.asked.file, 0.001) / 1e9 - a);

    const Solution solution = question.solve();

    REQUIRE(solution.found.changes.size() == 1);
    const Change& change = solution.found.changes[0];
    CHECK(change.kind == ChangeKind::crossing);
    CHECK(change.at == doctest::Approx(exact).epsilon(1e-6));
    CHECK(change.before == Side::above);
    CHECK(!solution.other_varies);
    REQUIRE(solution.closed_form);
    CHECK(solution.closed_form->changes.at(0).at == doctest::Approx(exact).epsilon(1e-6));
}

// DGC sends dense vectors where its messages have more bytes: (N-1) V > 2(N-1) S/N at N = 2 S/V.
TEST_CASE("solve: from the number of nodes on at which DGC is dense, it equals dense SGD") {
    for (const std::string density : {"0.05", "0.08"}) {
        CAPTURE(density);
        Question question("cluster.nodes=8..32");
        question.asked.settings = {"algorithm=" + dgc(density)};
        question.asked.against = {R"(algorithm={"kind": "dense", "all_reduce": "ring"})"};
        const double exact =
            2 * alexnet_bytes / message_of_dgc(question.asked.file, std::stod(density));

        const Solution solution = question.solve();

        REQUIRE(solution.found.changes.size() == 1);
        CHECK(solution.found.changes[0].first.x == std::ceil(exact));
        CHECK(solution.found.changes[0].last.x == 32);
        CHECK(solution.found.changes[0].before == Side::below);
        CHECK(contains(solution_text(question.asked, solution),
                       fmt::format("from {} to 32: equal", std::ceil(exact))));
    }
}

std::string top_k(const std::string& density) {
    return fmt::format(
        R"({{"kind": "compressed-sgd", "compressor": {{"kind": "top-k", "density": {}}},
             "exchange": "all-gather-ring", "coding_step": "0s"}})",
        density);
}

// Size of a top-k message: 8 bytes for each of max(1, floor(density n)) entries.
double message_of_top_k(const std::string& file, double density) {
    const Study study = read_study(file, {});
    double bytes = 0;
    for (const Tensor& tensor : study.points.front().scenario.workload.layout->tensors())
        bytes += 8 * std::max(1.0, std::floor(density * static_cast<double>(tensor.entries())));
    return bytes;
}

//   C + 2(N-1) (a + 8 S/N / B)  =  C + (N-1) (a + 8 V / B)    at    N = 16 S / (8 V - a B)
TEST_CASE("solve: the number of nodes from which top-k does not pay is the closed form's") {
    for (const std::string density : {"0.05", "0.08"}) {
        CAPTURE(density);
        Question question("cluster.nodes=8..32");
        question.asked.settings = {"algorithm=" + top_k(density)};
        question.asked.against = {R"(algorithm={"kind": "dense", "all_reduce": "ring"})"};
        const double message = message_of_top_k(question.asked.file, std::stod(density));
        const double exact = 16 * alexnet_bytes / (8 * message - a * 1e10);

        const Solution solution = question.solve();

        CHECK(solution.other_varies);
        CHECK(solution.varied.kind == QuantityKind::whole_number);
        CHECK(solution.grid.size() == 25);
        REQUIRE(solution.found.changes.size() == 1);
        const Change& change = solution.found.changes[0];
        CHECK(change.kind == ChangeKind::crossing);
        CHECK(change.first.x == std::floor(exact));
        CHECK(change.last.x == std::floor(exact) + 1);
        CHECK(change.before == Side::below);
        CHECK(solution.closed_form.value().changes.at(0).first.x == change.first.x);
        CHECK(contains(
            solution_text(question.asked, solution),
            fmt::format("from {} on: step_time_s rises above the other", std::floor(exact) + 1)));
    }
}

TEST_CASE("solve: where DGC always pays, both ends are told") {
    Question question("cluster.nodes=2..32");
    question.asked.settings = {"algorithm=" + dgc("0.001")};
    question.asked.against = {R"(algorithm={"kind": "dense", "all_reduce": "ring"})"};
    question.asked.grid = 2;

    const Solution solution = question.solve();
    const std::string text = solution_text(question.asked, solution);

    CHECK(solution.found.changes.empty());
    CHECK(contains(text, "nowhere: below the other from 2 to 32\n"));
    CHECK(contains(text, "closest at 2: "));
    CHECK(contains(text, "by the closed forms: nowhere\n"));
}

//   C / (C + (N-1) (a + 8 V / B)) = e    at    V = B/8 (C (1/e - 1) / (N-1) - a),  density V / 6 E
TEST_CASE("solve: the density of 90 % efficiency is the closed form's") {
    Question question("algorithm.density=0.0001..0.1", "efficiency");
    question.asked.settings = {"cluster.nodes=8",
                               R"(workload={"gradient": "1GB", "step_time": "2s"})",
                               "algorithm=" + dgc("1")};
    question.asked.equals = 0.9;
    question.asked.tolerance = 1e-7;
    question.asked.grid = 7;
    const double message = 1e10 / 8 * (2.0 * (1 / 0.9 - 1) / 7 - a);
    const double exact = message / 6 / 250e6;

    const Solution solution = question.solve();

    REQUIRE(solution.found.changes.size() == 1);
    CHECK(solution.found.changes[0].kind == ChangeKind::crossing);
    CHECK(solution.found.changes[0].at == doctest::Approx(exact).epsilon(1e-6));
    CHECK(solution.found.changes[0].before == Side::above);
    CHECK(solution.search.scale == Scale::logarithmic);
    CHECK(solution.closed_form.value().changes.at(0).at == doctest::Approx(exact).epsilon(1e-6));
}

TEST_CASE("solve: a multiple of the other's column can be asked for") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps", "exposed_comm_s");
    question.asked.settings = {"cluster.nodes=4", "cluster.fabric.link.latency=0s"};
    question.asked.against = {"cluster.fabric.link.bandwidth=8Gbps"};
    question.asked.times = 0.5;
    question.asked.tolerance = 1e-7;

    const Solution solution = question.solve();

    REQUIRE(solution.found.changes.size() == 1);
    CHECK(solution.found.changes[0].at == doctest::Approx(16e9).epsilon(1e-6));
    CHECK(!solution.closed_form);
}

TEST_CASE("solve: the other varies along unless a setting of its own stands there or above") {
    const std::vector<std::pair<std::vector<std::string>, bool>> cases{
        {{"algorithm.density=0.1"}, true},
        {{"cluster.fabric.link.latency=1ms"}, true},
        {{"cluster.fabric.link.bandwidth=1Gbps"}, false},
        {{R"(cluster.fabric.link={"bandwidth": "1Gbps"})"}, false},
        {{R"(cluster.fabric={"kind": "star", "link": {"bandwidth": "1Gbps"}})"}, false},
    };
    for (const auto& [against, varies] : cases) {
        CAPTURE(against.front());
        Question question("cluster.fabric.link.bandwidth=1Gbps..2Gbps");
        question.asked.settings = {"cluster.nodes=2", "algorithm=" + dgc("0.01")};
        question.asked.against = against;
        question.asked.grid = 2;

        CHECK(question.solve().other_varies == varies);
    }
}

TEST_CASE("solve: an own quantity against itself is equal everywhere") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps");
    question.asked.settings = {"cluster.nodes=2"};
    question.asked.against = {"cluster.nodes=2"};

    const Solution solution = question.solve();

    REQUIRE(solution.found.changes.size() == 1);
    CHECK(solution.found.changes[0].kind == ChangeKind::equal);
    CHECK(solution.found.changes[0].first.x == 1e9);
    CHECK(solution.found.changes[0].last.x == 1e11);
    CHECK(solution.points == 25);  // the two scenarios coincide
}

TEST_CASE("solve: a second search runs nothing, and says the same") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..100Gbps");
    question.asked.settings = {"cluster.nodes=8"};
    question.asked.equals = 0.5;
    question.keep_points();

    const Solution first = question.solve();
    const Solution second = question.solve();

    CHECK(first.kept == 0);
    CHECK(first.points == first.found.samples.size());
    CHECK(second.kept == second.points);
    CHECK(second.points == first.points);
    Solution as_first = second;
    as_first.kept = 0;
    CHECK(solution_json(question.asked, as_first) == solution_json(question.asked, first));
}

TEST_CASE("solve: points that a run has kept are not run again") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..10Gbps");
    question.asked.settings = {"cluster.nodes=8"};
    question.asked.equals = 1e9;
    question.asked.grid = 2;
    question.keep_points();
    const Study study =
        read_study(question.asked.file, {"cluster.nodes=8", "cluster.fabric.link.bandwidth=1Gbps"});
    StudyOptions options;
    options.keep_in = question.options.keep_in;
    (void)run_study(study, options);

    const Solution solution = question.solve();

    CHECK(solution.points == 2);
    CHECK(solution.kept == 1);
}

TEST_CASE("solve, determinism: whatever runs side by side, the answer is the same bytes") {
    std::vector<std::string> answers;
    for (const std::size_t jobs : {1U, 2U, 5U}) {
        Question question("cluster.nodes=8..30");
        question.options.pool = {jobs, jobs};
        question.asked.file = question.folder.write("net.json", scenario);
        question.asked.against = {"algorithm=" + dgc("0.05")};
        SolveQuestion shown = question.asked;
        shown.file = "net.json";
        answers.push_back(solution_json(shown, question.solve()));
    }

    CHECK(answers[0] == answers[1]);
    CHECK(answers[0] == answers[2]);
}

TEST_CASE("solve: points that run in turn give the answer of those that run concurrently") {
    const std::string bandwidth = "cluster.fabric.link.bandwidth";
    const std::string local_sgd = R"(algorithm={"kind": "local-sgd", "period": 8})";
    struct Case {
        std::string vary;
        std::string column;
        std::vector<std::string> settings;
        std::vector<std::string> against{};  // empty: equals 0.5
    };
    const std::vector<Case> cases{
        {bandwidth + "=1Gbps..100Gbps", "step_time_s", {"cluster.nodes=8"}},
        {"cluster.nodes=8..30", "step_time_s", {}, {"algorithm=" + dgc("0.05")}},
        {bandwidth + "=1Gbps..100Gbps", "step_time_s", {}, {bandwidth + "=2Gbps"}},
        {bandwidth + "=100Mbps..100Gbps", "speedup", {local_sgd, "stop.iterations=3"}},
        {"cluster.nodes=3..8",
         "step_time_s",
         {R"(algorithm={"kind": "dsgd", "mixing": {"kind": "hypercube"}})"}},
        {"workload.step_time=1d..90d", "step_time_s", {"cluster.nodes=2", "stop.iterations=2"}},
        {"workload.step_time=1s..90s", "speedup", {"cluster.nodes=2", R"(stop={"time": "40s"})"}},
        {"cluster.nodes=2..4", "train_loss", {}},
    };
    for (const Case& c : cases) {
        CAPTURE(c.vary);
        Question question(c.vary, c.column);
        question.asked.settings = c.settings;
        question.asked.against = c.against;
        if (c.against.empty()) question.asked.equals = 0.5;

        const Solution in_this_thread = question.solve_by(in_turn);

        CHECK(solution_json(question.asked, in_this_thread) == question.json());
    }
}

TEST_CASE("solve: values that the scenario refuses, and failed runs, are gaps with a reason") {
    Question question("cluster.nodes=3..8");
    question.asked.settings = {R"(algorithm={"kind": "dsgd", "mixing": {"kind": "hypercube"}})"};
    question.asked.equals = 0.5;
    Question failing("workload.step_time=1d..90d");
    failing.asked.settings = {"cluster.nodes=2", "stop.iterations=2"};
    failing.asked.equals = 1e6;

    const Solution solution = question.solve();
    const Solution failed = failing.solve();

    CHECK(solution.found.gaps.size() == 2);  // the gaps are 3 and 5, 6, 7
    CHECK(solution.why_gap.at(5).starts_with("refused: "));
    CHECK(contains(solution_text(question.asked, solution), "no value from 5 to 7: refused: "));
    REQUIRE(failed.found.changes.size() == 1);
    CHECK(failed.found.changes[0].kind == ChangeKind::crossing);
    CHECK(failed.why_gap.at(failed.varied.to).starts_with("out-of-range: "));
}

TEST_CASE("solve: a run that a limit cuts before a step is whole is a gap, of every column") {
    for (const char* column : {"speedup", "sim_time_s"}) {
        CAPTURE(column);
        Question question("workload.step_time=1s..90s", column);
        question.asked.settings = {"cluster.nodes=2", R"(stop={"time": "40s"})"};
        question.asked.equals = 1e6;

        const Solution solution = question.solve();

        CHECK(solution.why_gap.at(solution.varied.to) == "time-limit, before a step was complete");
    }
}

TEST_CASE("solve: a column that is empty everywhere has no answer") {
    Question question("cluster.fabric.link.bandwidth=1Gbps..10Gbps", "train_loss");
    question.asked.settings = {"cluster.nodes=2"};
    question.asked.equals = 0.5;

    const Solution solution = question.solve();

    CHECK(!solution.found.closest);
    CHECK(contains(solution_text(question.asked, solution), "train_loss is empty"));
}

TEST_CASE("solve: the JSON has the question, the answers and every sample") {
    Question question("cluster.fabric.link.latency=1us..1ms");
    question.asked.settings = {"cluster.nodes=8"};
    question.asked.equals = 0.7;

    const Json json = Json::parse(question.json());

    CHECK(json.at("question").at("vary").at("path") == "cluster.fabric.link.latency");
    CHECK(json.at("question").at("vary").at("from").at("value") == "1us");
    CHECK(json.at("question").at("vary").at("to").at("number") == 1e-3);
    CHECK(json.at("question").at("vary").at("unit") == "s");
    REQUIRE(json.at("answers").size() == 1);
    CHECK(json.at("answers")[0].at("kind") == "crossing");
    CHECK(json.at("answers")[0].at("before") == "below");
    CHECK(json.at("answers")[0].at("values").at("from")[1] == 0.7);
    CHECK(json.at("closed_form").size() == 1);
    CHECK(json.at("gaps").empty());
    CHECK(json.at("samples").size() == json.at("points"));
    CHECK(std::ranges::count_if(json.at("samples"), [](const Json& sample) {
              return sample.at("on_grid").get<bool>();
          }) == 25);
}

TEST_CASE("solve: a search can be stopped") {
    Question question("cluster.nodes=2..64");
    question.asked.equals = 0.5;
    std::stop_source source;
    source.request_stop();
    question.options.stop = source.get_token();

    CHECK_THROWS_AS((void)question.solve(), SearchStopped);
}

std::string refusal(const Question& question) {
    try {
        (void)question.solve();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "taken";
}

TEST_CASE("solve: refusals name the option, what is wrong and what would be right") {
    const std::string bandwidth = "cluster.fabric.link.bandwidth";
    struct Case {
        std::string vary;
        std::string column;
        std::vector<std::string> settings;
        std::vector<std::string> against;  // empty: equals 0.5
        std::string refusal;
    };
    for (const Case& c : std::vector<Case>{
             {"cluster.nodes=2..4",
              "step_time",
              {},
              {},
              "--find: \"step_time\" is not a column of "
              "numbers in results.csv; did you mean \"step_time_s\"?"},
             {"cluster.nodse=2..4",
              "speedup",
              {},
              {},
              "--vary cluster.nodse: \"nodse\" is not a key"},
             {"cluster.nodes", "speedup", {}, {}, "is not path=from..to"},
             {"cluster.nodes=2", "speedup", {}, {}, "is not path=from..to"},
             {"=2..3", "speedup", {}, {}, "is not path=from..to"},
             {"cluster.nodes=2..", "speedup", {}, {}, "write both in the same way"},
             {"cluster.nodes=a..b", "speedup", {}, {}, "write both in the same way"},
             {bandwidth + "=1Gbps..1ms", "speedup", {}, {}, "write both in the same way"},
             {bandwidth + "=1Gbps..10", "speedup", {}, {}, "write both in the same way"},
             {bandwidth + "=1ms..2ms", "speedup", {}, {}, "--vary " + bandwidth + ": "},
             {bandwidth + "=1..2", "speedup", {}, {}, "--vary " + bandwidth + ": "},
             {bandwidth + "=0bps..1Gbps", "speedup", {}, {}, "must be above 0"},
             {bandwidth + "=10Gbps..1Gbps",
              "speedup",
              {},
              {},
              "the range runs backwards; write 1Gbps..10Gbps"},
             {bandwidth + "=1Gbps..1000Mbps", "speedup", {}, {}, "is one value"},
             {"cluster.nodes=2.5..4", "speedup", {}, {}, "2.5 is not a whole number"},
             {"cluster.nodes=0..-5", "speedup", {}, {}, "runs backwards"},
             {"cluster.nodes=-5..0", "speedup", {}, {}, "--vary cluster.nodes: -5 is not a whole"},
             {"algorithm.density=0.1..2",
              "speedup",
              {"algorithm=" + dgc("1")},
              {},
              "--vary algorithm.density: 2"},
             {"algorithm.density=0.1..1",
              "speedup",
              {},
              {},
              "--vary algorithm.density: \"density\""},
             {bandwidth + "=1Gbps..2Gbps",
              "speedup",
              {bandwidth + "=1Gbps"},
              {},
              "--set " + bandwidth + ": is also varied by --vary"},
             {"cluster.nodes=2..4", "speedup", {"cluster.nodse=2"}, {}, "--set cluster.nodse: "},
             {"cluster.nodes=2..4", "speedup", {"nodes"}, {}, "--set: \"nodes\" is not path=value"},
             {"cluster.nodes=2..4",
              "speedup",
              {},
              {"nodes"},
              "--against: \"nodes\" is not path=value"},
             {"cluster.nodes=2..4",
              "speedup",
              {},
              {"algorithm.kind=dcg"},
              "--against algorithm.kind: "},
             {"cluster.nodes=2..4",
              "speedup",
              {},
              {"algorithm.bogus=1"},
              "--against algorithm.bogus: "},
         }) {
        CAPTURE(c.vary);
        CAPTURE(c.refusal);
        Question question(c.vary, c.column);
        question.keep_points();
        question.asked.settings = c.settings;
        question.asked.against = c.against;
        if (c.against.empty()) question.asked.equals = 0.5;

        const std::string said = refusal(question);

        CAPTURE(said);
        CHECK(said.starts_with("command line: "));
        CHECK(contains(said, c.refusal));
        CHECK(!std::filesystem::exists(*question.options.keep_in));
    }
}

TEST_CASE("solve: a target is asked for, and one only; a logarithm is of what is above 0") {
    Question none("cluster.nodes=2..4");
    Question both("cluster.nodes=2..4");
    both.asked.equals = 1;
    both.asked.against = {"cluster.nodes=2"};
    Question times("cluster.nodes=2..4");
    times.asked.equals = 1;
    times.asked.times = 2;
    Question logarithm("cluster.fabric.link.latency=0s..1ms");
    logarithm.asked.equals = 1;
    logarithm.asked.scale = Scale::logarithmic;

    CHECK(contains(refusal(none), "give --equals a number, or --against"));
    CHECK(contains(refusal(both), "--equals: excludes --against"));
    CHECK(contains(refusal(times), "--times: "));
    CHECK(contains(refusal(logarithm), "--scale: "));
}

TEST_CASE("solve: a share in percent is refused, with the share that was meant") {
    const auto said = [](const std::string& column, double equals) {
        Question question("cluster.nodes=2..4", column);
        question.asked.equals = equals;
        return refusal(question);
    };

    CHECK(contains(said("efficiency", 90),
                   "--equals: efficiency is a share, and 90 is too large for one; did you mean "
                   "\"0.9\", 90 %?"));
    CHECK(contains(said("waiting_network_share", 12.5), "did you mean \"0.125\", 12.5 %?"));
    CHECK(contains(said("test_accuracy", 99), "did you mean \"0.99\", 99 %?"));
    CHECK(contains(said("efficiency", 900), "is too large for one; 90 % is 0.9"));
    CHECK(said("efficiency", 0.9) == "taken");
    CHECK(said("efficiency", 1.5) == "taken");
    CHECK(said("speedup", 90) == "taken");
}

TEST_CASE("solve: a range in units that people write is refused with the range that was meant") {
    const auto said = [](const std::string& range) {
        Question question(range);
        question.asked.equals = 1;
        return refusal(question);
    };
    const std::string bandwidth = "cluster.fabric.link.bandwidth=";

    CHECK(contains(said(bandwidth + "100mbps..100Gbps"), "did you mean 100Mbps..100Gbps? write"));
    CHECK(contains(said(bandwidth + "1Gb/s..1 Pbps"), "did you mean 1Gbps..1000Tbps? write"));
    CHECK(contains(said("cluster.fabric.link.latency=1\u00b5s..1ms"), "did you mean 1us..1ms?"));
    CHECK(contains(said("workload.gradient=1KB..1MB"), "did you mean 1kB..1MB?"));
    CHECK(!contains(said(bandwidth + "1Gbps..1ms"), "did you mean"));
}

TEST_CASE("solve: for a study it reports which axes to fix, and a free axis is fixed") {
    Question question("cluster.nodes=2..4");
    Json swept = Json::parse(scenario);
    swept["sweep"] = {{"seed", {1, 2}},
                      {"cluster.nodes", {2, 4}},
                      {"cluster.fabric.link.bandwidth", {"1Gbps", "10Gbps"}}};
    question.asked.file = question.folder.write("swept.json", swept.dump());
    question.asked.equals = 0.5;

    CHECK(contains(refusal(question),
                   "swept.json: sweep: makes 4 points and only one can be used; pick a value of "
                   "each axis with --pick axis=label: seed, cluster.fabric.link.bandwidth"));
    question.asked.settings = {"seed=1", "cluster.fabric.link.bandwidth=1Gbps"};
    CHECK(refusal(question) == "taken");
}

TEST_CASE("command line: solve answers on standard output with code 0, wrong questions get 2") {
    const TemporaryFolder folder;
    (void)folder.write("net.json", scenario);
    const auto run = [&](const std::string& arguments) {
        const std::string command =
            fmt::format("cd '{}' && '{}' solve net.json {} >out 2>err </dev/null",
                        folder.path().string(), PACELINE_BINARY, arguments);
        return WEXITSTATUS(std::system(command.c_str()));  // NOLINT(cert-env33-c)
    };
    const std::string question = "--vary cluster.nodes=2..4 --find step_time_s --equals 0.5";

    CHECK(run(question) == 0);
    CHECK(contains(content(folder.path() / "out"),
                   "For which cluster.nodes from 2 to 4 is step_time_s equal to 0.5?"));
    CHECK(content(folder.path() / "err").empty());
    CHECK(std::filesystem::exists(folder.path() / "results/net/points"));
    CHECK(run(question + " --json --cache kept") == 0);
    CHECK(Json::parse(content(folder.path() / "out")).at("kept") == 0);
    CHECK(run(question + " --json --cache kept") == 0);
    CHECK(Json::parse(content(folder.path() / "out")).at("kept") == 3);
    for (const char* wrong :
         {"--find x", "--equals many", "--grid 1", "--tolerance 0", "--scale x"})
        CHECK(run(question + " " + wrong) == 2);
    CHECK(run("--vary cluster.nodes=2..4 --find train_loss --equals 0.5") == 1);
}

}  // namespace
}  // namespace paceline::solve_test
