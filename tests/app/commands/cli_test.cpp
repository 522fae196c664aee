// The program itself, run as a user would run it.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/host/version.hpp"
#include "app/json/json_file.hpp"
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

    // Splits `arguments` as a shell would.
    [[nodiscard]] Outcome run(const std::string& arguments,
                              const std::string& before = "exec") const {
        const TemporaryFolder streams;
        const std::string out = (streams.path() / "out").string();
        const std::string err = (streams.path() / "err").string();
        const std::string command =
            fmt::format("cd '{}' && {} '{}' {} >'{}' 2>'{}' </dev/null", folder.path().string(),
                        before, PACELINE_BINARY, arguments, out, err);
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

TEST_CASE("command line: --version tells the version and the instruction set") {
    const Outcome outcome = Shell().run("--version");

    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with(fmt::format("paceline {}\ninstruction set: ", version)));
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
        CHECK(contains(all.out, one.out));
    }
}

TEST_CASE("command line: lists show what scenarios can name") {
    const Shell shell;

    CHECK(contains(shell.run("list algorithms").out, "gradient-dropping"));
    CHECK(contains(shell.run("list fabrics").out, "star"));
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
    CHECK(contains(outcome.err, "did you mean \"links\"? known: algorithms, fabrics"));
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
         {"where a step goes", "links", "against the closed form", "what next"})
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

TEST_CASE("command line: check tells a fault with file, path and what would be right, and ends 2") {
    const Outcome outcome = Shell().run("check small.json --set cluster.nodse=3");

    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(
        outcome.err ==
        "paceline: command line: --set cluster.nodse: \"nodse\" is not a key on this path; "
        "did you mean \"nodes\"? known: nodes, devices, devices_per_node, bus, fabric, "
        "transport, stragglers, speeds, compute_jitter, failures, placement, background, access\n");
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

TEST_CASE("command line: without a terminal there is no table and no progress") {
    const Outcome outcome = Shell().run("run small.json");

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
    CHECK(contains(content(shell.path("o/results.csv")), "\n0,dense,8,finished,2,"));
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

    const Outcome outcome =
        shell.run("run small.json --out o --set cluster.nodes=64 --set stop.iterations=1000000000",
                  "exec timeout --preserve-status -s INT 0.5");

    CHECK(outcome.code == 128 + SIGINT);
    CHECK(names_in(shell.path("o")) == std::vector<std::string>{"points", "results.csv"});
    CHECK(content(shell.path("o/results.csv")) == "old");
}

TEST_CASE("command line: when the disk is full the old results stay and the code is 1") {
    const Shell shell;
    (void)shell.folder.write("o/results.csv", "old");
    fs::create_symlink("/dev/full", shell.path("o/results.csv.tmp"));

    const Outcome outcome = shell.run("run small.json --out o");

    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "No space left on device"));
    CHECK(names_in(shell.path("o")) == std::vector<std::string>{"points", "results.csv"});
    CHECK(content(shell.path("o/results.csv")) == "old");
}

}  // namespace
}  // namespace paceline::cli_test
