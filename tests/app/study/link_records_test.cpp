// `paceline run --links`: what links.csv contains, and what recording it does not change.
#include "app/study/link_records.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/host/content_hash.hpp"
#include "app/json/config_error.hpp"
#include "app/run/results.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "app/study/tracing.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::link_records_test {
namespace {

using doctest::Approx;

// Ring all-reduce of 2 MB among 4 nodes: 6 chunks of 0.5 MB at 4 Gbps, 1 ms each, without latency,
// after 4 ms of computing. A step takes 10 ms.
const std::string ring_on_star = R"({
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "4Gbps"}}},
  "workload": {"gradient": "2MB", "step_time": "4ms"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 10}})";

const std::string several = R"({
  "cluster": {"nodes": 4, "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 2,
                                     "link": {"bandwidth": "4Gbps", "latency": "5us"}}},
  "workload": {"gradient": "2MB", "step_time": "4ms"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 3},
  "sweep": {"cluster.nodes": [1, 4, 6], "workload.gradient": ["1MB", "2MB"]}})";

struct Row {
    std::string point, gradient, nodes, link;
    double from_s = 0;
    double to_s = 0;
    double bytes = 0;
    double utilization = 0;
    double capacity_bps = 0;
};

// Reads links.csv without the code that writes it.
std::vector<Row> rows_of(const std::string& text, const std::string& header) {
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    CHECK(line == header);
    const bool has_axis = header.find("workload.gradient") != std::string::npos;
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        std::vector<std::string> all;
        for (std::string field; std::getline(fields, field, ',');) all.push_back(field);
        REQUIRE(all.size() == (has_axis ? 10 : 9));
        const std::size_t n = has_axis ? 3 : 2;  // of the nodes
        const auto number = [&](std::size_t i) { return std::stod(all[n + i]); };
        rows.push_back({all[0], has_axis ? all[1] : "", all[n], all[n + 1], number(2), number(3),
                        number(4), number(5), number(6)});
    }
    return rows;
}

struct Ran {
    StudyOutcome outcome;
    std::string csv;
    std::vector<std::string> warnings;
};

Ran run_with_links(const Study& study, const std::filesystem::path& folder, std::size_t jobs,
                   const std::string& interval = "", bool resume = false) {
    LinkRecords links(interval);
    links.write_into(folder);
    StudyOptions options;
    options.pool = {jobs, jobs};
    options.keep_in = folder / "points";
    options.resume = resume;
    options.links = &links;
    Ran ran{run_study(study, options), {}, links.warnings()};
    ran.csv = content(folder / "links.csv");
    return ran;
}

Study study_of(const TemporaryFolder& folder, const std::string& text) {
    return read_study(folder.write("study.json", text), {});
}

TEST_CASE(
    "links.csv: links of a star ring are idle while nodes compute, and full while they send") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, ring_on_star);
    const Ran ran = run_with_links(study, folder.path(), 1, "2ms");
    const std::vector<Row> rows =
        rows_of(ran.csv, "point,algorithm,nodes,link,from_s,to_s,bytes,utilization,capacity_bps");

    CHECK(rows.size() == std::size_t{8} * 50);
    for (const Row& row : rows) {
        CAPTURE(row.link);
        CAPTURE(row.from_s);
        const int part = static_cast<int>(row.from_s * 500 + 0.5) % 5;  // of a step
        CHECK(row.utilization == (part < 2 ? 0 : 1));
        CHECK(row.bytes == (part < 2 ? 0 : 1'000'000));
        CHECK(row.capacity_bps == 4e9);
        CHECK(row.to_s - row.from_s == Approx(0.002));
    }
}

TEST_CASE(
    "links.csv: bytes of nodes' links are those of results.csv, of spines what leaves a leaf") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, several);
    const Ran ran = run_with_links(study, folder.path(), 2);
    const std::vector<Row> rows =
        rows_of(ran.csv,
                "point,workload.gradient,algorithm,nodes,link,from_s,to_s,bytes,utilization,"
                "capacity_bps");

    std::map<std::string, double> up, across;  // by point
    for (const Row& row : rows) {
        CHECK(row.utilization >= 0);
        CHECK(row.utilization <= 1);
        if (row.link.ends_with(" up")) up[row.point] += row.bytes;
        if (row.link.find("-> spine") != std::string::npos) across[row.point] += row.bytes;
    }
    for (std::size_t i = 0; i < ran.outcome.results.size(); ++i) {
        const Metrics& m = ran.outcome.results[i].metrics;
        const std::string point = fmt::format("{}", i);
        CAPTURE(point);
        CHECK(up[point] == Approx(m.total_sent_gb.value() * 1e9).epsilon(1e-12));
        // In a ring every node sends as much, and the last one of each leaf to another leaf.
        const double leaves = m.nodes / 2;
        CHECK(across[point] == (m.nodes > 1 ? Approx(up[point] * leaves / m.nodes) : Approx(0.0)));
    }
    CHECK(rows.front().point == "2");  // one node sends nothing
    CHECK(rows.back().point == "5");
    CHECK(rows.back().gradient == "2MB");
    CHECK(rows.back().nodes == "6");
    CHECK_FALSE(std::filesystem::exists(folder.path() / "links"));
}

TEST_CASE("links.csv: the same bytes whatever the number of jobs, and results do not change") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, several);
    const Ran one = run_with_links(study, folder.path() / "1", 1);
    const Ran four = run_with_links(study, folder.path() / "4", 4);
    CHECK(one.csv == four.csv);
    CHECK(results_csv({study, one.outcome.results}) == results_csv({study, run_points(study, 1)}));
}

// Leaves the results and links of two points.
void stop_after_two_points(const Study& study, const std::filesystem::path& out) {
    LinkRecords links("");
    links.write_into(out);
    StudyOptions options;
    options.keep_in = out / "points";
    options.links = &links;
    std::stop_source stop;
    std::size_t finished = 0;
    options.stop = stop.get_token();
    options.run_all = [&](const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                          StudyProgress& progress, const std::stop_token& token) {
        RunExchange two = exchange;
        two.finished = [&](std::size_t run, PointResult result) {
            exchange.finished(run, std::move(result));
            if (++finished == 2) stop.request_stop();
        };
        run_side_by_side(runs, size, two, progress, token);
    };
    static_cast<void>(run_study(study, options));
}

TEST_CASE("links.csv: --resume runs points again whose links are not recorded, and no others") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, several);
    const Ran whole = run_with_links(study, folder.path() / "whole", 1);

    const std::filesystem::path out = folder.path() / "stopped";
    stop_after_two_points(study, out);
    CHECK(content(out / "links.csv").size() < whole.csv.size());

    const Ran resumed = run_with_links(study, out, 1, "", true);
    CHECK(resumed.outcome.kept == 2);
    CHECK(resumed.csv == whole.csv);
    CHECK(run_with_links(study, out, 1, "", true).outcome.kept == 0);  // the parts are gone
}

TEST_CASE("links.csv: a part that was cut is not used") {
    const TemporaryFolder folder;
    LinkRecords links("");
    links.write_into(folder.path());
    const std::string rows = "node 0 up,0,1,5,0.5,8e9\nnode 1 up,0,1,6,0.6,8e9\n";
    const std::string whole = rows + "end " + content_hash("key" + rows) + "\n";
    const auto is_taken = [&](std::string_view text, const std::string& key = "key") {
        static_cast<void>(folder.write("links/" + key + ".part", text));
        return links.has(key);
    };
    CHECK(is_taken(whole));
    CHECK_FALSE(links.has("none"));
    CHECK_FALSE(is_taken(whole, "other"));  // the part of another point
    for (std::size_t size = 0; size + 1 < whole.size(); ++size)
        CHECK_FALSE(is_taken(std::string_view(whole).substr(0, size)));
    for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = changed[at] == '7' ? '8' : '7';
        CAPTURE(changed);
        CHECK_FALSE(is_taken(changed));
    }
    CHECK_FALSE(is_taken(whole.substr(rows.size() / 2)));
    CHECK_FALSE(is_taken(rows + whole));
}

TEST_CASE("links.csv: a point that ended by an error has no part, and the others are joined") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, several);
    LinkRecords links("");
    links.write_into(folder.path());
    CHECK_NOTHROW(links.write_csv(StudyRuns(study), true));
    CHECK(content(folder.path() / "links.csv").ends_with("capacity_bps\n"));
}

TEST_CASE("links.csv: a part that changes is made again by --resume") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, several);
    const Ran whole = run_with_links(study, folder.path() / "whole", 1);
    const std::filesystem::path out = folder.path() / "stopped";
    stop_after_two_points(study, out);

    for (const auto& entry : std::filesystem::directory_iterator(out / "links")) {
        std::string text = content(entry.path());
        if (text.size() < 100) continue;  // of one node, whose links carry nothing
        text[text.find(",0.0") + 1] = '1';
        std::ofstream(entry.path(), std::ios::binary) << text;
    }
    const Ran resumed = run_with_links(study, out, 1, "", true);
    CHECK(resumed.csv == whole.csv);
    CHECK(resumed.outcome.kept < 2);
}

TEST_CASE("links.csv: it can be recorded beside a trace") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, ring_on_star);
    const Ran alone = run_with_links(study, folder.path() / "alone", 1);
    const std::filesystem::path out = folder.path() / "both";
    LinkRecords links("");
    links.write_into(out);
    Tracing tracing(study, {});
    tracing.write_into(out);
    StudyOptions options;
    options.links = &links;
    options.tracing = &tracing;
    static_cast<void>(run_study(study, options));
    CHECK(content(out / "links.csv") == alone.csv);

    Tracing only(study, {});
    only.write_into(folder.path() / "traced");
    options.links = nullptr;
    options.tracing = &only;
    static_cast<void>(run_study(study, options));
    CHECK(content(out / "traces" / "point-0.json") ==
          content(folder.path() / "traced" / "traces" / "point-0.json"));
}

TEST_CASE(
    "links.csv: an interval that is too short for the run is told, and made ten times as long") {
    const TemporaryFolder folder;
    const Study study = study_of(folder, ring_on_star);
    const Ran ran = run_with_links(study, folder.path(), 1, "1us");
    REQUIRE(ran.warnings.size() == 1);
    CHECK(ran.warnings.front() ==
          "links.csv: the run of point 0 is too long for intervals of 1us; used 10us");
    CHECK(run_with_links(study, folder.path(), 1, "10us").warnings.empty());
}

TEST_CASE("links.csv: an impossible interval is refused") {
    CHECK_THROWS_AS(LinkRecords("0s"), ConfigError);
    CHECK_THROWS_AS(LinkRecords("ten"), ConfigError);
}

}  // namespace
}  // namespace paceline::link_records_test
