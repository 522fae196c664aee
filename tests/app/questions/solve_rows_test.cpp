// A row of `solve` over a study is held against the question about that point alone, and against
// closed forms.
#include "app/questions/rows/solve_rows.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "analysis/measures/csv.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/questions/rows/solve_rows_text.hpp"
#include "app/questions/solve_text.hpp"
#include "app/run/results.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::solve_rows_test {
namespace {

constexpr std::string_view study = R"({
  "title": "rings and a codec",
  "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "10us"}}},
  "workload": {"gradient": "8MB", "step_time": "10ms"},
  "stop": {"iterations": 1},
  "sweep": {"cluster.nodes": [4, 8], "algorithm": [
    {"kind": "dense", "label": "ring", "aggregation": {"kind": "all-reduce", "plan": "ring"}},
    {"kind": "sgd", "label": "8 bits", "codec": {"kind": "8-bit"}}]}
})";

SolveQuestion efficiency_of(const std::string& vary) {
    SolveQuestion question;
    question.file = "study.json";
    question.vary = vary;
    question.column = "efficiency";
    question.equals = 0.9;
    return question;
}

ScenarioText text_of(std::string_view json) {
    return {"study.json", std::string(json), in_memory({})};
}

std::string refusal(const SolveQuestion& question, std::string_view json) {
    try {
        const SolveRows rows = solve_rows(question, text_of(json));
        (void)solve_rows_warnings(rows);
        (void)solve_all(rows, &in_turn);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

const std::string bandwidth = "cluster.fabric.link.bandwidth=1Gbps..400Gbps";

TEST_CASE("solve over a study: each row has the answer of the question about its point alone") {
    const SolveQuestion question = efficiency_of(bandwidth);
    const ScenarioText text = text_of(study);
    const SolveRows rows = solve_rows(question, text);
    const std::vector<SolvedRow> solved = solve_all(rows, &in_turn);

    REQUIRE(solved.size() == 4);
    std::size_t i = 0;
    for (const char* nodes : {"4", "8"})
        for (const char* label : {"ring", "8 bits"}) {
            CAPTURE(rows.rows[i].name);
            SolveQuestion alone = question;
            alone.picks = {std::string("nodes=") + nodes, std::string("algorithm=") + label};
            const Solution expected = solve(alone, text, &in_turn);
            Json theirs = Json::parse(solution_json(alone, expected));
            Json ours = Json::parse(solution_json(rows.question, *solved[i].solution));
            theirs.erase("question");
            ours.erase("question");

            CHECK(ours == theirs);
            CHECK(rows.rows[i].name == fmt::format("cluster.nodes {}, algorithm {}", nodes, label));
            ++i;
        }
}

// C / (C + 2 (n - 1) (a + 8 S / n / B)) = 0.9, with a = 20 us from node to node.
TEST_CASE(
    "solve over a study: the bandwidth that each number of nodes needs is the closed form's") {
    SolveQuestion question = efficiency_of(bandwidth);
    question.picks = {"algorithm=ring"};
    const SolveRows rows = solve_rows(question, text_of(study));
    const std::vector<SolvedRow> solved = solve_all(rows, &in_turn);

    REQUIRE(solved.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const double n = i == 0 ? 4 : 8;
        const double exact = 8 * 8e6 / n / (0.010 * (1 / 0.9 - 1) / (2 * (n - 1)) - 20e-6);
        const std::vector<ShortAnswer> answers = short_answers(rows.question, *solved[i].solution);
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].kind == "crossing");
        CHECK(answers[0].what == "rises above 0.9");
        CHECK(*answers[0].at == doctest::Approx(exact).epsilon(1e-4));
        CHECK(*answers[0].value == doctest::Approx(0.9).epsilon(1e-4));
    }
}

TEST_CASE(
    "solve over a study: the axis of what varies makes no rows, and settings take axes away") {
    SolveQuestion question = efficiency_of("cluster.nodes=2..16");
    CHECK(solve_rows(question, text_of(study)).rows.size() == 2);
    question.settings = {R"(algorithm={"kind": "dense"})"};
    CHECK(solve_rows(question, text_of(study)).rows.size() == 1);
    question = efficiency_of(bandwidth);
    question.settings = {"cluster.nodes=[2, 4, 8]"};
    CHECK(solve_rows(question, text_of(study)).rows.size() == 6);
}

TEST_CASE("solve over a study: a row may refuse the question, and if all do it is refused") {
    Json json = Json::parse(study);
    json["sweep"].erase("cluster.nodes");
    json["sweep"]["algorithm"][1] = {{"kind", "sgd"}, {"codec", {{"kind", "top-k"}}}};
    const SolveQuestion question = efficiency_of("algorithm.codec.density=1e-4..1");
    const SolveRows rows = solve_rows(question, text_of(json.dump()));
    const std::vector<SolvedRow> solved = solve_all(rows, &in_turn);

    REQUIRE(solved.size() == 2);
    CHECK_FALSE(solved[0].solution);
    CHECK(contains(solved[0].refusal, "codec"));
    CHECK(solved[1].solution);
    CHECK(contains(solved_rows_text(question, rows, solved), "refused"));

    CHECK(contains(refusal(efficiency_of("cluster.speling=1..2"), study), "speling"));
    CHECK(contains(refusal(efficiency_of("cluster.fabric.link.bandwidth=1ms..2ms"), study),
                   "bandwidth"));
}

TEST_CASE("solve over a study: a fault of the study and too many rows are refused") {
    Json json = Json::parse(study);
    json["sweep"]["algorithm"][1]["kind"] = "sgdd";
    CHECK(contains(refusal(efficiency_of(bandwidth), json.dump()),
                   "sweep.algorithm[1].kind: \"sgdd\" is not an algorithm"));

    json = Json::parse(study);
    for (int seed = 1; seed <= 51; ++seed) json["sweep"]["seed"].push_back(seed);
    CHECK(contains(refusal(efficiency_of(bandwidth), json.dump()),
                   "makes 204 points, and each would be a row with its own search (at most 100); "
                   "pick values of axes with --pick axis=label: cluster.nodes, algorithm, seed"));
}

TEST_CASE("solve over a study: the points that were run are a study with the samples' values") {
    const SolveQuestion question = efficiency_of(bandwidth);
    const SolveRows rows = solve_rows(question, text_of(study));
    const std::vector<SolvedRow> solved = solve_all(rows, &in_turn);
    const SearchedStudy searched = searched_study(rows, solved);
    const auto table = csv_rows(results_csv(RanPoints(searched.study, searched.results)));

    CHECK(searched.study.title == "rings and a codec");
    const auto place = [&](const std::string& name) {
        return static_cast<std::size_t>(std::ranges::find(table[0], name) - table[0].begin());
    };
    std::size_t line = 1;
    for (std::size_t i = 0; i < solved.size(); ++i)
        for (const Sample& sample : solved[i].solution->found.samples) {
            REQUIRE(line < table.size());
            CHECK(table[line][place("cluster.fabric.link.bandwidth")] ==
                  solved[i].solution->varied.spelled(sample.x));
            CHECK(table[line][place("nodes")] == (i < 2 ? "4" : "8"));
            CHECK(table[line][place("algorithm")] == (i % 2 == 0 ? "ring" : "8 bits"));
            CHECK(std::stod(table[line][place("efficiency")]) == *sample.at.left);
            ++line;
        }
    CHECK(line == table.size());
}

TEST_CASE("solve over a study: an axis without a column of its own has its values there, too") {
    Json json = Json::parse(study);
    json["sweep"] = {{"cluster.fabric.link.latency", {"10us", "40us"}}};
    json["algorithm"] = {{"kind", "dense"}};
    SolveQuestion question = efficiency_of(bandwidth);
    question.grid = 3;
    const SolveRows rows = solve_rows(question, text_of(json.dump()));
    const SearchedStudy searched = searched_study(rows, solve_all(rows, &in_turn));
    std::map<std::string, std::set<std::string>> bandwidths;  // by latency
    for (const auto& row : csv_rows(results_csv(RanPoints(searched.study, searched.results))))
        bandwidths[row[1]].insert(row[2]);

    CHECK(bandwidths["cluster.fabric.link.latency"] ==
          std::set<std::string>{"cluster.fabric.link.bandwidth"});
    CHECK(bandwidths.size() == 3);
    for (const char* latency : {"10us", "40us"})
        for (const char* end : {"1Gbps", "20Gbps", "400Gbps"})
            CHECK(bandwidths[latency].contains(end));
}

TEST_CASE("solve over a study: answers.csv and the JSON have each row and its answers") {
    SolveQuestion question = efficiency_of(bandwidth);
    question.picks = {"nodes=8"};
    const SolveRows rows = solve_rows(question, text_of(study));
    const std::vector<SolvedRow> solved = solve_all(rows, &in_turn);
    const auto table = csv_rows(answers_csv(rows, solved));
    const Json json = Json::parse(solved_rows_json(rows, solved));

    REQUIRE(table.size() == 3);
    CHECK(table[0] == std::vector<std::string>{"cluster.nodes", "algorithm", "vary", "column",
                                               "target", "answer", "at", "number", "value",
                                               "what"});
    for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<std::string>& line = table[i + 1];
        CHECK(line[0] == "8");
        CHECK(line[1] == (i == 0 ? "ring" : "8 bits"));
        CHECK(line[2] == "cluster.fabric.link.bandwidth");
        CHECK(line[4] == "0.9");
        CHECK(line[5] == "crossing");
        const Json& row = json.at("rows").at(i);
        CHECK(row.at("row").at("algorithm") == line[1]);
        CHECK(row.at("answers").at(0).at("at").at("number") == std::stod(line[7]));
        CHECK(row.at("answers").at(0).at("at").at("value") == line[6]);
    }
}

TEST_CASE("command line: solve over a study prints a row per point, and --out keeps the answers") {
    const TemporaryFolder folder;
    (void)folder.write("study.json", study);
    const auto run = [&](const std::string& arguments) {
        const std::string command = fmt::format("cd '{}' && '{}' {} >out 2>err </dev/null",
                                                folder.path().string(), PACELINE_BINARY, arguments);
        return WEXITSTATUS(std::system(command.c_str()));  // NOLINT(cert-env33-c)
    };
    const auto there = [&](const char* file) {
        return std::filesystem::exists(folder.path() / file);
    };
    const std::string question = "solve study.json --grid 5 --find efficiency --vary " + bandwidth;

    CHECK(run(question + " --equals 0.9 --out answers") == 0);
    const std::string out = content(folder.path() / "out");
    for (const char* row : {"\n4              ring", "\n8              8 bits", "rises above 0.9"})
        CHECK(contains(out, row));
    CHECK(there("answers/results.csv"));
    CHECK(there("answers/manifest.json"));
    CHECK(content(folder.path() / "answers/answers.csv").starts_with("cluster.nodes,algorithm,"));
    CHECK(run(question + " --equals 0.8 --out answers") == 0);
    CHECK(contains(content(folder.path() / "answers/answers.csv"), "0.8"));

    CHECK(run("run --quiet study.json --out answers") == 0);
    CHECK_FALSE(there("answers/answers.csv"));  // results.csv is of other points now
    CHECK(run(question + " --equals 0.8 --out answers") == 2);
    CHECK(contains(content(folder.path() / "err"), "holds results of paceline run"));
    CHECK(run(question + " --equals 1.5") == 0);
    CHECK(contains(content(folder.path() / "out"), "nowhere"));
    CHECK(run("solve study.json --grid 5 --find train_loss --equals 1 --vary " + bandwidth) == 1);
}

}  // namespace
}  // namespace paceline::solve_rows_test
