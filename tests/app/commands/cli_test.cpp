// The program itself, run as a user would run it.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/host/commit.hpp"
#include "app/host/version.hpp"
#include "app/json/json_file.hpp"
#include "app/json/resources.hpp"
#include "app/questions/list_text.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::cli_test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

constexpr std::string_view scenario = R"({
  "title": "a small study",
  "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
  "workload": {"gradient": "1MB", "step_time": "10ms"},
  "algorithm": {"kind": "dense"},
  "stop": {"iterations": 3},
  "sweep": {"cluster.nodes": [1, 2, 4]}
})";

// A folder with small.json, in which the program runs.
struct Shell {
    TemporaryFolder folder;

    Shell() { (void)folder.write("small.json", scenario); }

    [[nodiscard]] fs::path path(const std::string& name) const { return folder.path() / name; }

    // Splits `arguments` as a shell would. `streams` may send standard output and error elsewhere.
    [[nodiscard]] Outcome run(const std::string& arguments, const std::string& before = "exec",
                              const std::string& streams = "") const {
        const TemporaryFolder written;
        const std::string out = (written.path() / "out").string();
        const std::string err = (written.path() / "err").string();
        const std::string command = fmt::format(
            "cd '{}' && ({} '{}' {} {}) >'{}' 2>'{}' </dev/null", folder.path().string(), before,
            PACELINE_BINARY, arguments, streams, out, err);
        const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
        return {WEXITSTATUS(status), content(out), content(err)};
    }

    // Runs the same on a terminal, with both streams merged.
    [[nodiscard]] Outcome run_on_terminal(const std::vector<std::string>& arguments) const {
        int terminal = -1;
        const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
        if (child == 0) {
            std::vector<char*> argv{const_cast<char*>("paceline")};
            for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
            argv.push_back(nullptr);
            if (::chdir(folder.path().c_str()) == 0) ::execv(PACELINE_BINARY, argv.data());
            ::_exit(127);
        }
        std::string text;
        std::array<char, 4096> buffer{};
        for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;)
            text.append(buffer.data(), static_cast<std::size_t>(n));
        int status = 0;
        ::waitpid(child, &status, 0);
        ::close(terminal);
        return {WEXITSTATUS(status), text, {}};
    }
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

const std::vector<std::string> all_results{"manifest.json", "points", "results.csv", "table.txt"};

TEST_CASE("command line: --version tells version, commit, instruction set and what is there") {
    const Outcome outcome = Shell().run("--version");

    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with(
        fmt::format("paceline {} (commit {})\ninstruction set: ", version, commit())));
    for (const char* part :
         {"\nMPI: ", "\nscripts of plot: " PACELINE_SOURCE_DIR "/analysis/plots\n",
          "\npage of explore: "})
        CHECK(contains(outcome.out, part));
    // A shell names a program of PATH by its name alone, which is no file.
    CHECK(Shell().run("--version", R"(exec bash -c 'exec -a paceline "$0" "$@"')").out ==
          outcome.out);
    CHECK(outcome.err.empty());
}

TEST_CASE("command line: --help names every command, also after a command") {
    const Outcome whole = Shell().run("--help");
    const Outcome run = Shell().run("run --help");

    CHECK(whole.code == 0);
    CHECK(contains(whole.out, "run"));
    CHECK(contains(whole.out, "check"));
    CHECK(contains(whole.out, "list"));
    CHECK(run.code == 0);
    for (const char* option :
         {"SCENARIO", "--set", "--out", "--jobs", "--resume", "--quiet", "--log-json"})
        CHECK(contains(run.out, option));
}

TEST_CASE("command line: each list is printed, and without a name all of them") {
    const Shell shell;
    const Outcome all = shell.run("list");

    CHECK(all.code == 0);
    for (const std::string_view name : list_names()) {
        CAPTURE(name);
        const Outcome one = shell.run(fmt::format("list {}", name));

        CHECK(one.code == 0);
        CHECK(one.out == list_text(name));
        CHECK(one.out.size() > name.size() + 10);
        const bool is_long = name == "combinations" || name == "schema";  // on request alone
        CHECK(contains(all.out, one.out) != is_long);
    }
}

TEST_CASE("command line: lists stand in groups, by what of a scenario names them") {
    const std::string all = Shell().run("list").out;
    const std::string algorithms = Shell().run("list algorithms").out;

    const std::vector<std::string> in_order{"\"algorithm\": ", "\nalgorithms\n", "\ncodecs\n",
                                            "\nmixings\n",     "\"cluster\": ",  "\nfabrics\n",
                                            "\nlinks\n",       "\"workload\": ", "\ndata\n",
                                            "\ndevices\n"};
    std::size_t at = 0;
    for (const std::string& heading : in_order) {
        CAPTURE(heading);
        REQUIRE(all.find(heading, at) != std::string::npos);
        at = all.find(heading, at);
    }
    // A family is a page of docs/algorithms, which is the oracle of what belongs to it.
    for (const auto& [name, family] : std::map<std::string, std::string>{
             {"dgc", "sparse"}, {"diloco", "local"}, {"sgp", "gossip"}, {"zero", "dense"}}) {
        CAPTURE(name);
        const std::size_t heading = algorithms.find(fmt::format("  [{}] ", family));
        const std::size_t entry = algorithms.find(fmt::format("\n  {} ", name));
        REQUIRE(heading < entry);
        CHECK(entry < algorithms.find("\n  [", heading));
    }
}

TEST_CASE("command line: list schema prints the schema, which has an identifier") {
    const Shell shell;
    const std::string file =
        content(std::string(PACELINE_SOURCE_DIR) + "/scenarios/scenario.schema.json");

    CHECK(shell.run("list schema").out == file);
    CHECK(shell.run("list schema --json").out == file);
    CHECK(Json::parse(file).at("$id") == "urn:paceline:scenario.schema.json");
}

// The schema is the oracle: what it lets a scenario name.
TEST_CASE("command line: lists as JSON name what the schema takes, one list or all") {
    const Shell shell;
    const Json all = Json::parse(shell.run("list --json").out);
    CHECK(all.size() == list_names().size() - 1);
    for (const std::string_view name : list_names()) {
        if (name == "schema") continue;
        CAPTURE(name);
        const Json one = Json::parse(shell.run(fmt::format("list {} --json", name)).out);

        REQUIRE(all.contains(std::string(name)));
        CHECK(one == all.at(std::string(name)));
        CHECK(one.size() >= 3);
    }
    const Json schema = parse_json(resource("scenarios/scenario.schema.json"), "schema");
    const auto in_schema = [&](const char* definition, const char* key) {
        std::set<std::string> names;
        for (const Json& name : schema["definitions"][definition]["properties"][key]["enum"])
            names.insert(name);
        return names;
    };
    const auto listed = [](const Json& list) {
        std::set<std::string> names;
        for (const Json& entry : list) names.insert(entry["name"]);
        return names;
    };
    CHECK(listed(all["links"]) == in_schema("link", "preset"));
    CHECK(listed(all["libraries"]) == in_schema("library", "preset"));
    for (const Json& profile : all["profiles"]) {
        const std::string name = profile["name"];
        CAPTURE(name);
        const Json file = Json::parse(
            content(std::string(PACELINE_SOURCE_DIR) + "/models/profiles/" + name + ".json"));
        if (!file.contains("layers")) {
            CHECK(profile["parameters"] > 1'000'000);
            continue;
        }
        std::int64_t parameters = 0;
        for (const Json& layer : file["layers"])
            for (const Json& tensor : layer["tensors"]) {
                std::int64_t entries = 1;
                for (const Json& side : tensor["shape"]) entries *= side.get<std::int64_t>();
                parameters += entries;
            }
        CHECK(profile["parameters"] == parameters);
    }
}

// The text is for people and the JSON for programs; one must not know what the other does not.
TEST_CASE("command line: lists as JSON have what the texts have") {
    const Shell shell;
    const Json all = Json::parse(shell.run("list --json").out);
    const auto text = [&](const std::string& name) { return shell.run("list " + name).out; };

    for (const char* list : {"fabrics", "codecs", "aggregations", "schedules", "mixings", "models",
                             "data", "profiles", "devices", "links", "libraries"}) {
        CAPTURE(list);
        const std::regex name(R"(\n  ([\w.-]+) )");
        const std::string lines = text(list);
        std::set<std::string> shown;
        for (std::sregex_iterator at(lines.begin(), lines.end(), name), end; at != end; ++at)
            shown.insert((*at)[1]);
        for (const Json& entry : all[list]) {
            CAPTURE(entry["name"]);
            CHECK(shown.contains(entry["name"]));
        }
        for (const Json& entry : all[list])
            if (entry.contains("source")) CHECK(!entry["source"].get<std::string>().empty());
    }
    std::set<std::string> aliases;
    for (const Json& family : all["algorithms"])
        for (const Json& algorithm : family["algorithms"])
            for (const Json& alias : algorithm["aliases"]) {
                CHECK(alias["stands_for"]["kind"] == algorithm["name"]);
                aliases.insert(alias["name"]);
            }
    CHECK(aliases == std::set<std::string>{"adamw", "ddp", "fsdp", "horovod", "hsdp", "zero-1",
                                           "zero-2", "zero-3"});
    std::size_t refused = 0;
    const std::string tables = text("combinations");
    for (const Json& table : all["combinations"]) {
        CHECK(contains(tables, fmt::format("## {}\n", table["title"].get<std::string>())));
        for (const Json& pair : table["pairs"]) {
            CHECK(pair["runs"] == pair["reason"].is_null());
            if (pair["runs"] == false) ++refused;
        }
    }
    const std::regex number(R"(\]\(#reasons\))");  // a cell that refuses
    CHECK(refused == std::size_t(std::distance(
                         std::sregex_iterator(tables.begin(), tables.end(), number), {})));
    for (const Json& entry : all["collectives"])
        CHECK(contains(text("collectives"), entry["name"].get<std::string>()));
}

TEST_CASE("command line: lists show what scenarios can name") {
    const Shell shell;

    CHECK(contains(shell.run("list algorithms").out, "gradient-dropping"));
    CHECK(contains(shell.run("list fabrics").out, "star"));
    CHECK(contains(shell.run("list codecs").out, "scaled-sign"));
    CHECK(contains(shell.run("list codecs").out, "gathered, unbiased; keys: kind, levels"));
    CHECK(contains(shell.run("list codecs").out, "power-sgd"));
    CHECK(contains(shell.run("list codecs").out, "keys: kind, scaler, error_feedback"));
    CHECK(contains(shell.run("list links").out, "10GbE-tcp"));
    CHECK(contains(shell.run("list profiles").out, "60965224"));
    CHECK(contains(shell.run("list profiles").out, "336226108"));
    CHECK(contains(shell.run("list devices").out, "p100"));
    CHECK(contains(shell.run("list devices").out, "15.7 TFLOP/s"));
    CHECK(contains(shell.run("list collectives").out, "halving-doubling"));
}

TEST_CASE("command line: an unknown list is refused with the nearest one") {
    const Outcome outcome = Shell().run("list link");

    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "did you mean \"links\"? known: algorithms, codecs"));
}

TEST_CASE("command line: an unknown command is refused with the nearest one") {
    const Shell shell;
    for (const auto& [typed, meant] :
         std::map<std::string, std::string>{{"runn small.json", "run"},
                                            {"chekc small.json", "check"},
                                            {"lists", "list"},
                                            {"slove small.json --grid 3", "solve"},
                                            {"Explain", "explain"}}) {
        CAPTURE(typed);
        const Outcome outcome = shell.run(typed);

        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(
            contains(outcome.err, fmt::format("is not a command; did you mean \"{}\"? known: run, "
                                              "check, list, explain",
                                              meant)));
        CHECK(outcome.err.ends_with('\n'));
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
    }
    const Outcome far = shell.run("small.json");
    CHECK(far.code == 2);
    CHECK(contains(far.err, "\"small.json\" is not a command; known: run, check"));
}

TEST_CASE("command line: a wrong command line is reported on standard error and ends with 2") {
    const Shell shell;
    for (const char* arguments :
         {"", "run", "check", "runn small.json", "run small.json --jobs 0",
          "run small.json --jobs many", "run small.json --jobs 1025", "run small.json --bogus",
          "run small.json other.json", "check small.json --set", "run small.json --out",
          "list links devices"}) {
        CAPTURE(arguments);
        const Outcome outcome = shell.run(arguments);

        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(!outcome.err.empty());
        CHECK(names_in(shell.folder.path()) == std::vector<std::string>{"small.json"});
    }
}

// Returns the options of a command that take a number, as its --help tells them.
std::vector<std::string> options_of_numbers(const std::string& help) {
    std::vector<std::string> names;
    const std::regex line(R"(\n  (?:-\w,)?(--[\w-]+) (?:INT|UINT|FLOAT)\b)");
    for (auto at = std::sregex_iterator(help.begin(), help.end(), line);
         at != std::sregex_iterator(); ++at)
        names.push_back((*at)[1]);
    return names;
}

TEST_CASE("command line: every option of a number refuses what is none, by its name") {
    const Shell shell;
    const std::map<std::string, std::string> needed{
        {"solve", "small.json --vary cluster.nodes=2..4 --find step_time_s --pick cluster.nodes=2"},
        {"plot", "."},
        {"explore", "--no-browser"},
        {"run", "small.json --trace"},
        {"explain", "small.json"},
        {"check", "small.json"},
        {"list", ""}};
    std::size_t options = 0;
    for (const auto& [command, rest] : needed) {
        for (const std::string& option : options_of_numbers(shell.run(command + " --help").out)) {
            ++options;
            for (const char* value :
                 {"nan", "-nan", "inf", "-inf", "Infinity", "1e999", "", "1x"}) {
                CAPTURE(command);
                CAPTURE(option);
                CAPTURE(value);
                const Outcome outcome = shell.run(
                    fmt::format("{} {} '{}={}'", command, rest, option, value), "timeout 20");

                CHECK(outcome.code == 2);
                CHECK(outcome.out.empty());
                CHECK(outcome.err.find(option) != std::string::npos);
            }
        }
    }
    CHECK(options >= 8);
}

TEST_CASE("command line: whole numbers of a scenario may have a point or an exponent") {
    const Shell shell;
    const Outcome plain = shell.run("check small.json --set stop.iterations=30");
    CHECK(plain.code == 0);
    for (const char* number : {"30.0", "3e1", "300e-1"})
        CHECK(shell.run(fmt::format("check small.json --set stop.iterations={}", number)).out ==
              plain.out);
    for (const char* number : {"30.5", "nan", "inf", "1e999"})
        CHECK(shell.run(fmt::format("check small.json --set stop.iterations={}", number)).code ==
              2);
}

TEST_CASE("command line: check says what would run and writes nothing") {
    const Shell shell;

    const Outcome outcome = shell.run("check small.json");

    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "small.json: well-formed"));
    CHECK(contains(outcome.out, "a small study"));
    CHECK(contains(outcome.out, "points  3"));
    CHECK(contains(outcome.out, "cluster.nodes: 1, 2, 4"));
    CHECK(outcome.err.empty());
    CHECK(names_in(shell.folder.path()) == std::vector<std::string>{"small.json"});
}

TEST_CASE("command line: explain describes one point, for people and for programs") {
    const Shell shell;

    const Outcome page = shell.run("explain small.json --point 2");
    const Outcome json = shell.run("explain small.json --set cluster.nodes=4 --json");

    CHECK(page.code == 0);
    CHECK(page.err.empty());
    CHECK(contains(page.out, "cluster.nodes = 4"));
    for (const char* section :
         {"where a step's time goes", "links", "compared with the closed form", "what next"})
        CHECK(contains(page.out, section));
    CHECK(json.code == 0);
    CHECK(Json::parse(json.out).at("nodes") == 4);
    CHECK(names_in(shell.folder.path()) == std::vector<std::string>{"small.json"});
}

TEST_CASE("command line: explain of several points says how to choose one, and ends with 2") {
    const Shell shell;
    for (const char* arguments :
         {"explain small.json", "explain small.json --point 3", "explain small.json --point two"}) {
        CAPTURE(arguments);
        const Outcome outcome = shell.run(arguments);

        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(contains(outcome.err, "--point"));
    }
}

TEST_CASE("command line: a warning about DecentLaM's mixing appears once, in run and in check") {
    const Shell shell;
    (void)shell.folder.write("directed.json", R"({
      "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
      "workload": {"gradient": "1MB", "step_time": "10ms"},
      "algorithm": {"kind": "decentlam", "mixing": {"kind": "exponential"}},
      "stop": {"iterations": 3},
      "sweep": {"seed": [1, 2]}
    })");

    const Outcome checked = shell.run("check directed.json");
    const Outcome ran = shell.run("run directed.json");

    CHECK(checked.code == 0);
    CHECK(contains(checked.out, "\nwarning: decentlam on \"exponential\" of 4 workers: "));
    CHECK(ran.code == 0);
    CHECK(ran.err.starts_with("paceline: warning: decentlam on \"exponential\" of 4 workers: "));
    CHECK(std::ranges::count(ran.err, '\n') == 1);
}

TEST_CASE("command line: with --strict a warning is an error, before anything runs") {
    const Shell shell;
    (void)shell.folder.write("warned.json", R"({
      "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
      "workload": {"gradient": "1MB", "step_time": "10ms"},
      "algorithm": {"kind": "gradient-dropping"}, "stop": {"iterations": 3}})");
    const std::string solve =
        "solve warned.json --vary cluster.fabric.link.bandwidth=1Gbps..20Gbps --find speedup "
        "--equals 3.9 --grid 3";

    for (const std::string& command :
         {std::string("check warned.json"), std::string("run warned.json --out made"),
          std::string("explain warned.json"), solve + " --cache made/points"}) {
        CAPTURE(command);
        const Outcome strict = shell.run(command + " --strict");
        CHECK(strict.code == 2);
        CHECK(contains(strict.err, "warned.json: --strict makes its 1 warning an error"));
        CHECK_FALSE(fs::exists(shell.path("made")));
        CHECK(contains(strict.out + strict.err, "[unfinished-warm-up]"));
    }
    CHECK(shell.run("run warned.json --out made").code == 0);
    for (const char* command : {"check", "run", "explain"})
        CHECK(
            shell.run(std::string(command) + " warned.json --strict --set algorithm.dense_steps=0")
                .code == 0);
}

TEST_CASE("command line: check tells a fault with file, path and what would be right, and ends 2") {
    const Outcome outcome = Shell().run("check small.json --set cluster.nodse=3");

    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err ==
          "paceline: command line: --set cluster.nodse: \"nodse\" is not a key on this path; "
          "did you mean \"nodes\"? known: nodes, devices, devices_per_node, nics, bus, fabric, "
          "transport, library, stragglers, speeds, compute_jitter, classes, sites, failures, "
          "placement, "
          "background, access, testbed\n");
}

TEST_CASE("command line: a missing scenario is reported by name") {
    const Outcome outcome = Shell().run("run nowhere.json");

    CHECK(outcome.code == 2);
    CHECK(outcome.err == "paceline: nowhere.json: cannot be read: No such file or directory\n");
}

TEST_CASE("command line: a folder is no scenario") {
    const Shell shell;
    fs::create_directory(shell.path("folder.json"));

    const Outcome outcome = shell.run("run folder.json");

    CHECK(outcome.code == 2);
    CHECK(outcome.err == "paceline: folder.json: is a directory; name a file\n");
    CHECK(!fs::exists(shell.path("results")));
}

TEST_CASE("command line: results go to results/<scenario> below the current folder") {
    const Shell shell;

    const Outcome outcome = shell.run("run small.json");

    CHECK(outcome.code == 0);
    CHECK(names_in(shell.path("results")) == std::vector<std::string>{"small"});
    CHECK(names_in(shell.path("results/small")) == all_results);
}

TEST_CASE("command line: without a terminal there is the table and the folder, but no progress") {
    const Shell shell;
    const Outcome outcome = shell.run("run small.json");

    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with(content(shell.path("results/small/table.txt"))));
    CHECK(contains(outcome.out, "results in results/small"));
    CHECK(outcome.err.empty());
}

TEST_CASE("command line: --quiet keeps a pipe free of the table") {
    const Outcome outcome = Shell().run("run small.json --quiet");

    CHECK(outcome.code == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
}

TEST_CASE("command line: a terminal gets the table and where the results are") {
    const Outcome outcome = Shell().run_on_terminal({"run", "small.json"});

    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "speedup at nodes"));
    CHECK(contains(outcome.out, "results in results/small"));
}

TEST_CASE("command line: --quiet keeps a terminal free of table and progress") {
    const Shell shell;

    const Outcome outcome = shell.run_on_terminal({"run", "small.json", "--quiet"});

    CHECK(outcome.code == 0);
    CHECK(outcome.out.empty());
    CHECK(names_in(shell.path("results/small")) == all_results);
}

TEST_CASE("command line: an error has colour on a terminal, but not where NO_COLOR is set") {
    const Shell shell;
    ::setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("NO_COLOR");        // NOLINT(concurrency-mt-unsafe)
    const Outcome colored = shell.run_on_terminal({"check", "nowhere.json"});
    ::setenv("NO_COLOR", "1", 1);  // NOLINT(concurrency-mt-unsafe)
    const Outcome plain = shell.run_on_terminal({"check", "nowhere.json"});
    ::unsetenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)

    CHECK(contains(colored.out, "\x1b[31mpaceline:\x1b[0m nowhere.json: "));
    CHECK(plain.out.starts_with("paceline: nowhere.json: "));
}

TEST_CASE("command line: it runs from any folder, with all it needs built in") {
    const Shell shell;
    fs::create_directories(shell.path("elsewhere"));
    fs::copy_file(fs::path(PACELINE_SOURCE_DIR) / "scenarios" / "dgc-speedup.json",
                  shell.path("mine.json"));

    const Outcome outcome = shell.run("run ../mine.json", "cd elsewhere && exec");

    CHECK(outcome.code == 0);
    CHECK(names_in(shell.path("elsewhere/results/mine")) == all_results);
}

TEST_CASE("command line: --out names the folder of the results, made with those above it") {
    const Shell shell;

    const Outcome outcome = shell.run("run small.json --out 'a b/c'");

    CHECK(outcome.code == 0);
    CHECK(names_in(shell.path("a b/c")) == all_results);
    CHECK(!fs::exists(shell.path("results")));
}

TEST_CASE("command line: an output folder that cannot be is refused before anything runs") {
    const Shell shell;

    const Outcome file = shell.run("run small.json --out small.json");
    const Outcome proc = shell.run("run small.json --out /proc/paceline");

    CHECK(file.code == 2);
    CHECK(contains(file.err, "--out"));
    CHECK(content(shell.path("small.json")) == scenario);
    CHECK(proc.code == 2);
    CHECK(contains(proc.err, "/proc/paceline"));
}

TEST_CASE("command line: --set changes the study, as often as it is given") {
    const Shell shell;

    const Outcome outcome =
        shell.run("run small.json --out o --set cluster.nodes=8 --set stop.iterations=2");

    CHECK(outcome.code == 0);
    CHECK(contains(content(shell.path("o/results.csv")), "\n0,dense,8,finished,8,2,"));
    CHECK(!contains(content(shell.path("o/results.csv")), "\n1,"));
}

TEST_CASE("command line: whatever --jobs and however often, the results are the same bytes") {
    const Shell shell;
    for (const char* arguments : {"--out a --jobs 1", "--out b --jobs 1", "--out c --jobs 2",
                                  "--out d --jobs 3", "--out e"})
        CHECK(shell.run(fmt::format("run small.json {}", arguments)).code == 0);

    const std::string first = content(shell.path("a/results.csv"));

    CHECK(std::ranges::count(first, '\n') == 4);
    CHECK(content(shell.path("b/results.csv")) == first);
    CHECK(content(shell.path("c/results.csv")) == first);
    CHECK(content(shell.path("d/results.csv")) == first);
    CHECK(content(shell.path("e/results.csv")) == first);
    CHECK(content(shell.path("c/table.txt")) == content(shell.path("a/table.txt")));
}

TEST_CASE("command line: a point that fails is told, the results are whole, and the code is 1") {
    const Shell shell;

    const Outcome outcome = shell.run("run small.json --out o --set workload.step_time=50d");

    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "point 0: out-of-range: "));
    CHECK(names_in(shell.path("o")) == all_results);
    CHECK(std::ranges::count(content(shell.path("o/results.csv")), '\n') == 4);
    CHECK(Json::parse(content(shell.path("o/manifest.json"))).at("points").size() == 3);
}

TEST_CASE("command line: compare ends with 0 if results are the same, with 1 if they differ") {
    const Shell shell;
    CHECK(shell.run("run small.json --quiet --out a").code == 0);
    CHECK(shell.run("run small.json --quiet --out b").code == 0);
    CHECK(shell.run("run small.json --quiet --out c --set workload.gradient=2MB").code == 0);

    const Outcome same = shell.run("compare a b");
    CHECK(same.code == 0);
    CHECK(contains(same.out, "The same: 3 rows of "));
    const Outcome moved = shell.run("compare a c/results.csv");
    CHECK(moved.code == 1);
    CHECK(contains(moved.out, "workload.gradient: \"1MB\" -> \"2MB\" (3 points)"));
    CHECK(contains(moved.out, "bytes_sent_per_node_per_step, nodes 4"));
    const Json json = Json::parse(shell.run("compare a c --json").out);
    CHECK(json.at("same") == false);
    CHECK(json.at("old").at("version") == version);
    CHECK(json.at("old").at("build") == json.at("new").at("build"));
    for (const Json& move : json.at("moved"))
        if (move.at("column") == "bytes_sent_per_node_per_step") CHECK(move.at("relative") == 1);
}

TEST_CASE("command line: compare refuses what is no result, by its name") {
    const Shell shell;
    CHECK(shell.run("run small.json --quiet --out a").code == 0);
    (void)shell.folder.write("empty/other.csv", "x");

    for (const auto& [what, said] : std::map<std::string, std::string>{
             {"missing", "missing: no such file or folder"},
             {"empty", "empty: has no results.csv"},
             {"small.json", "small.json: is not a results.csv of paceline run"}}) {
        const Outcome outcome = shell.run("compare a " + what);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, said));
        CHECK(shell.run("compare " + what + " a").code == 2);
    }
    CHECK(shell.run("compare a").code == 2);
}

TEST_CASE("command line: every command has its section in the docs' list of commands") {
    const std::string page = content(fs::path(PACELINE_SOURCE_DIR) / "docs/README.md");
    const Outcome help = Shell().run("--help");
    const std::string names = help.out.substr(help.out.find("ubcommands:"));
    const std::regex line(R"(\n  ([a-z]+) )");
    std::size_t commands = 0;
    for (auto i = std::sregex_iterator(names.begin(), names.end(), line);
         i != std::sregex_iterator(); ++i) {
        CAPTURE((*i)[1].str());
        CHECK(contains(page, "$P " + (*i)[1].str()));
        ++commands;
    }
    CHECK(commands == 12);
}

TEST_CASE("command line: a refused scenario leaves old results as they were") {
    const Shell shell;
    (void)shell.folder.write("o/results.csv", "old");

    const Outcome outcome = shell.run("run small.json --out o --set cluster.nodes=0");

    CHECK(outcome.code == 2);
    CHECK(names_in(shell.path("o")) == std::vector<std::string>{"results.csv"});
    CHECK(content(shell.path("o/results.csv")) == "old");
}

TEST_CASE(
    "command line: a run interrupted before a point has finished leaves old results as they were") {
    const Shell shell;
    (void)shell.folder.write("o/results.csv", "old");

    const Outcome outcome = shell.run(
        "run small.json --out o --force --set cluster.nodes=64 --set stop.iterations=1000000000",
        "exec timeout --preserve-status -s INT 2");

    CHECK(outcome.code == 128 + SIGINT);
    std::vector<std::string> names = names_in(shell.path("o"));
    std::erase(names, ".lock");  // which a signal before the first point leaves behind
    std::erase(names, "points");
    CHECK(names == std::vector<std::string>{"results.csv"});
    CHECK(content(shell.path("o/results.csv")) == "old");
}

TEST_CASE("command line: when the disk is full the old results stay and the code is 1") {
    const Shell shell;
    CHECK(shell.run("run small.json --out o").code == 0);
    const std::string old = content(shell.path("o/results.csv"));

    const Outcome outcome =
        shell.run("run small.json --out o --resume --set stop.iterations=4", "ulimit -Sf 0; exec");

    CHECK(outcome.code == 1);
    CHECK(names_in(shell.path("o")) == all_results);
    CHECK(content(shell.path("o/results.csv")) == old);
}

TEST_CASE("command line: output that cannot be written is code 1 with a word on the other stream") {
    const Shell shell;
    for (const char* arguments :
         {"--help", "--version", "run --help", "list", "list algorithms --json", "check small.json",
          "explain small.json --point 1",
          "solve small.json --set cluster.nodes=2 --find step_time_s --equals 0.02 "
          "--vary cluster.fabric.link.bandwidth=100Mbps..10Gbps"}) {
        CAPTURE(arguments);
        const Outcome full = shell.run(arguments, "exec", ">/dev/full");
        CHECK(full.code == 1);
        CHECK(full.err == "paceline: standard output cannot be written: No space left on device\n");
        CHECK(shell.run(arguments, "exec", ">&-").code == 1);
    }
}

TEST_CASE("command line: a standard error that cannot be written changes no exit code but 0") {
    const Shell shell;
    for (const char* stream : {"2>&-", "2>/dev/full"}) {
        CAPTURE(stream);
        const Outcome outcome = shell.run("check nowhere.json", "exec", stream);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.out, "paceline: standard error cannot be written: "));
        CHECK(shell.run("check small.json", "exec", stream).code == 0);
        CHECK(shell.run("run small.json --log-json --out o", "exec", stream).code == 1);
        CHECK(names_in(shell.path("o")) == all_results);
        fs::remove_all(shell.path("o"));
    }
}

TEST_CASE("command line: results do not go to a closed standard stream") {
    const Shell shell;
    CHECK(shell.run("run small.json --out o --quiet", "exec", "0<&- 1>&- 2>&-").code == 0);
    CHECK(names_in(shell.path("o")) == all_results);
}

TEST_CASE("command line: results of another scenario are replaced only with --force or --resume") {
    const Shell shell;
    (void)shell.folder.write("other.json", scenario);
    (void)shell.folder.write("mine/table.txt", "a user's table");
    CHECK(shell.run("run small.json --out o").code == 0);
    const std::string old = content(shell.path("o/manifest.json"));

    const Outcome other = shell.run("run other.json --out o");
    CHECK(other.code == 2);
    CHECK(other.err ==
          "paceline: o holds results of another scenario, small.json; name another folder with "
          "--out, or replace them with --force\n");
    CHECK(content(shell.path("o/manifest.json")) == old);
    const Outcome mine = shell.run("run small.json --out mine");
    CHECK(mine.code == 2);
    CHECK(contains(mine.err, "mine has a table.txt that is not of paceline"));

    CHECK(shell.run("run small.json --out o --set stop.iterations=2").code == 0);
    CHECK(shell.run("run other.json --out o --force").code == 0);
    CHECK(shell.run("run small.json --out o --resume").code == 0);
    CHECK(shell.run("run small.json --out mine --force").code == 0);
}

TEST_CASE("command line: an empty --out is refused") {
    const Shell shell;
    for (const char* command :
         {"run small.json --out ''", "plot results --out ''", "solve small.json --cache ''"}) {
        CAPTURE(command);
        const Outcome outcome = shell.run(command);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, "is empty"));
    }
    CHECK(names_in(shell.folder.path()) == std::vector<std::string>{"small.json"});
}

TEST_CASE("command line: a signal ends a command that waits for its scenario") {
    const Shell shell;
    CHECK(::mkfifo(shell.path("fifo").c_str(), 0600) == 0);
    for (const char* command : {"run fifo", "check fifo", "explain fifo",
                                "solve fifo --vary seed=1..3 --find step_time_s --equals 1"})
        for (const auto& [name, signal] : {std::pair("INT", SIGINT), {"TERM", SIGTERM}}) {
            CAPTURE(command);
            const Outcome outcome = shell.run(
                command, fmt::format("exec timeout --preserve-status -s {} -k 2 0.2", name));
            CHECK(outcome.code == 128 + signal);
        }
}

TEST_CASE("command line: a scenario may come from a pipe") {
    const Shell shell;
    CHECK(shell.run("check /dev/stdin", "cat small.json | exec").code == 0);
}

TEST_CASE("command line: control characters of labels and titles are shown, not obeyed") {
    const Shell shell;
    const std::string hostile =
        R"(--set title='"a\u001b[31m\nb"' --set 'algorithm={"kind": "dense", "label": "=\u0007\u009b"}')";
    const Outcome checked = shell.run("check small.json " + hostile);
    CHECK(checked.code == 0);
    CHECK(contains(checked.out, R"(title   a\x1b[31m\nb)"));
    CHECK(contains(checked.out, R"(=\x07\u009b)"));
    CHECK(shell.run("run small.json --out o " + hostile).code == 0);
    const std::string table = content(shell.path("o/table.txt"));
    CHECK(table.starts_with("a\\x1b[31m\\nb\n"));
    CHECK(contains(table, R"(=\x07\u009b)"));
    CHECK(contains(content(shell.path("o/results.csv")), "\n0,\"'=\x07\xc2\x9b\",1,"));
    const Outcome file = shell.run("check 'no\x1b[31m\nfile'");
    CHECK(file.code == 2);
    CHECK(file.err == "paceline: no\\x1b[31m\\nfile: cannot be read: No such file or directory\n");
}

TEST_CASE("cli: run --links writes links.csv, and a run without it leaves none") {
    const Shell shell;
    const Outcome run = shell.run(
        "run small.json --out out --links --links-interval 5ms --trace "
        "--trace-points all");
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    const std::string csv = content(shell.path("out/links.csv"));
    CHECK(
        csv.starts_with("point,algorithm,nodes,link,from_s,to_s,bytes,utilization,"
                        "capacity_bps\n1,dense,2,node 0 up,0,0.005,0,0,1000000000\n"));
    CHECK(fs::exists(shell.path("out/traces/point-2.json")));
    CHECK_FALSE(fs::exists(shell.path("out/links")));

    CHECK(shell.run("run small.json --out out").code == 0);
    CHECK_FALSE(fs::exists(shell.path("out/links.csv")));
    const Outcome wrong = shell.run("run small.json --links --links-interval soon");
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("--links-interval") != std::string::npos);
    CHECK(shell.run("run small.json --links-interval 5ms").code == 2);
}

// The source is the last column, and wraps: a preset's row has its first words behind the figures.
TEST_CASE("cli: the rows of presets have a figure for each heading, and then their source") {
    for (const auto& [list, row] : std::vector<std::pair<const char*, std::vector<const char*>>>{
             {"libraries", {"gloo", "0ps", "-", "rendezvous-in-band", "ring", "gloo/allreduce.cc"}},
             {"libraries", {"open-mpi-tcp", "236us", "95.76Gbps", "rendezvous", "start-up:"}},
             {"transports", {"one-thread", "25Gbps", "iperf"}},
             {"links", {"nvlink-4", "3.6Tbps", "88.0%", "830ns", "H100,"}}}) {
        const std::string text = list_text(list);
        std::size_t at = text.find(fmt::format("  {} ", row.front()));
        REQUIRE(at != std::string::npos);
        for (const char* figure : row) {
            CAPTURE(figure);
            const std::size_t next = text.find(figure, at);
            REQUIRE(next != std::string::npos);
            CHECK(next - at < 100);
            at = next;
        }
    }
}

}  // namespace
}  // namespace paceline::cli_test
