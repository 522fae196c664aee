// `paceline plot` as a user runs it: what it finds, what it refuses, and what it passes to the
// scripts.
#include "app/questions/plot.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "app/host/files.hpp"
#include "app/host/program_file.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::plot_test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

constexpr std::string_view results =
    "point,algorithm,nodes,outcome,step_time_s,model_step_time_s,speedup,efficiency\n"
    "0,dense,1,finished,1,1,1,1\n"
    "1,dense,2,finished,1.25,1.25,1.6,0.8\n";

// A folder with results, in which the program runs.
struct Shell {
    TemporaryFolder folder;

    [[nodiscard]] Outcome run(const std::string& arguments, const std::string& before = "") const {
        const TemporaryFolder streams;
        const std::string out = (streams.path() / "out").string();
        const std::string err = (streams.path() / "err").string();
        const std::string command =
            fmt::format("cd '{}' && {} '{}' plot {} >'{}' 2>'{}' </dev/null",
                        folder.path().string(), before, PACELINE_BINARY, arguments, out, err);
        const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
        return {WEXITSTATUS(status), read_text(out), read_text(err)};
    }

    // A fake Python interpreter that runs `script`.
    [[nodiscard]] std::string python(const std::string& script) const {
        const std::string file = folder.write("python", "#!/bin/sh\n" + script + "\n");
        fs::permissions(file, fs::perms::owner_all);
        return "PACELINE_PYTHON='" + file + "'";
    }
};

bool one_line(const std::string& text) {
    return std::ranges::count(text, '\n') == 1 && text.ends_with('\n');
}

TEST_CASE("plot: a folder without results is refused before anything is run") {
    const Shell shell;
    const Outcome nothing = shell.run("nothing", shell.python("touch ran"));
    CHECK(nothing.code == 2);
    CHECK(nothing.err ==
          "paceline: nothing: no such folder or file; name a folder that paceline run has "
          "written, or a testbed of paceline calibrate\n");
    const Outcome empty = shell.run(".", shell.python("touch ran"));
    CHECK(empty.code == 2);
    CHECK(empty.err ==
          "paceline: .: has no results.csv; name a folder that paceline run has written\n");
    CHECK_FALSE(fs::exists(shell.folder.path() / "ran"));
}

TEST_CASE("plot: a file is drawn if it is a testbed, and refused in one line otherwise") {
    const Shell shell;
    (void)shell.folder.write("points.json", "[1]");
    (void)shell.folder.write("half.json", R"({"constants": [], "cluster": {}})");
    (void)shell.folder.write("broken.json", "{");
    const std::string python = shell.python("for a; do echo \"<$a>\"; done; touch ran");
    const std::string wanted =
        "; a file to draw is a testbed of paceline calibrate, which has \"constants\", "
        "\"rows\" and \"cluster\"\n";
    CHECK(shell.run("points.json", python).err ==
          "paceline: points.json: has no \"constants\"" + wanted);
    CHECK(shell.run("half.json", python).err == "paceline: half.json: has no \"rows\"" + wanted);
    CHECK(one_line(shell.run("broken.json", python).err));
    CHECK_FALSE(fs::exists(shell.folder.path() / "ran"));
    (void)shell.folder.write("mine.json", R"({"constants": [], "rows": [], "cluster": {}})");
    const Outcome drawn = shell.run("mine.json --format svg", python);
    CHECK(drawn.code == 0);
    CHECK(drawn.out.ends_with("<--format=svg>\n<-->\n<mine.json>\n"));
}

TEST_CASE("plot: a missing Python and a missing matplotlib are told, with what to install") {
    const Shell shell;
    (void)shell.folder.write("results.csv", results);
    const Outcome none = shell.run(".", "PACELINE_PYTHON=/no/such/python");
    CHECK(none.code == 2);
    CHECK(one_line(none.err));
    CHECK(none.err.find("PACELINE_PYTHON (/no/such/python) is not there; ") != std::string::npos);
    CHECK(none.err.find("apt-get install python3-matplotlib") != std::string::npos);
    const Outcome bare = shell.run(".", shell.python("exit 3"));
    CHECK(bare.code == 2);
    CHECK(one_line(bare.err));
    CHECK(bare.err.find(" has no matplotlib; ") != std::string::npos);
    CHECK(bare.err.find("apt-get install python3-matplotlib") != std::string::npos);
}

TEST_CASE("plot: the script gets what was asked for, and its exit code is the program's") {
    const Shell shell;
    (void)shell.folder.write("results.csv", results);
    const std::string python =
        shell.python(R"(if [ "$1" = -c ]; then exit 0; fi; for a; do echo "<$a>"; done; exit 2)");
    const Outcome outcome = shell.run(
        ". speedup heatmap --out 'a b' --format svg,pdf --where nodes=2 --where x=y --panels nodes "
        "--ratio 'a b' c --x bandwidth --value speedup --width single --scale log --target 2 "
        "--target efficiency=0.9 --band ci --title ''",
        python);
    CHECK(outcome.code == 2);
    const std::string script = fmt::format("<{}/analysis/plots>", PACELINE_SOURCE_DIR);
    CHECK(outcome.out == "<-B>\n" + script + R"(
<--out=a b>
<--format=svg,pdf>
<--x=bandwidth>
<--value=speedup>
<--target=2>
<--target=efficiency=0.9>
<--band=ci>
<--scale=log>
<--width=single>
<--where=nodes=2>
<--where=x=y>
<--panels=nodes>
<--title=>
<--ratio>
<a b>
<c>
<-->
<.>
<speedup>
<heatmap>
)");
    CHECK(outcome.err.empty());
}

TEST_CASE("plot: what the command line does not know is refused by name") {
    const Shell shell;
    (void)shell.folder.write("results.csv", results);
    for (const auto& [arguments, told] :
         std::vector<std::pair<std::string, std::string>>{{"", "RESULTS is required"},
                                                          {". --scale cubic", "cubic not in {"},
                                                          {". --width wide", "wide not in {"},
                                                          {". --band iqr", "iqr not in {"},
                                                          {". --ratio a", "--ratio"},
                                                          {". --colour red", "--colour"}}) {
        CAPTURE(arguments);
        const Outcome outcome = shell.run(arguments);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find(told) != std::string::npos);
    }
}

TEST_CASE("plot: scripts are found beside an installed program first, else in the source tree") {
    const TemporaryFolder prefix;
    const fs::path program = prefix.path() / "bin" / "paceline";
    const fs::path source = fs::path(PACELINE_SOURCE_DIR) / "analysis" / "plots";
    CHECK(find_shipped(plot_scripts, program) == source);
    const fs::path installed = prefix.path() / "share" / "paceline" / "plots";
    fs::create_directories(installed);
    CHECK(find_shipped(plot_scripts, program) == source);
    (void)prefix.write("share/paceline/plots/__main__.py", "");
    CHECK(find_shipped(plot_scripts, program) == installed);
    CHECK_FALSE(find_shipped({"no such", "no such", "file"}, program));
}

TEST_CASE("plot: a study becomes figures, where matplotlib is installed") {
    const Shell shell;
    (void)shell.folder.write("results.csv", results);
    try {
        (void)plotting_python();
    } catch (const ConfigError& missing) {
        MESSAGE("left out: ", missing.what());
        return;
    }
    const Outcome drawn = shell.run(". speedup --out figures --format svg");
    CHECK(drawn.code == 0);
    CHECK(drawn.out == "figures/speedup.svg\n");
    CHECK(drawn.err.empty());
    CHECK(
        read_text((shell.folder.path() / "figures" / "speedup.svg").string()).starts_with("<?xml"));
    const Outcome unfit = shell.run(". convergence");
    CHECK(unfit.code == 2);
    CHECK(
        unfit.err ==
        "paceline: .: convergence cannot be drawn: there is no timeline.csv: nothing was trained; "
        "what fits this study: speedup\n");
}

}  // namespace
}  // namespace paceline::plot_test
