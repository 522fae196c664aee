// The program itself under mpirun.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "app/json/json_file.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::mpi_test {
namespace {

namespace fs = std::filesystem;

// A study of dense SGD on a network, without training.
std::string timing(const std::string& sweep) {
    return fmt::format(R"({{
  "cluster": {{"nodes": 64, "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps"}}}}}},
  "workload": {{"gradient": "1MB", "step_time": "10ms"}},
  "algorithm": {{"kind": "dense"}},
  "stop": {{"iterations": 3}},
  "sweep": {}
}})",
                       sweep);
}

constexpr const char* nodes_and_seeds = R"({"cluster.nodes": [1, 2, 4, 8], "seed": [1, 2]})";
// The study starts with its long point; the other points are short.
constexpr const char* short_and_long = R"({"stop.iterations": [2, 3, 4, 200]})";
constexpr const char* short_and_endless = R"({"stop.iterations": [2, 1000000000]})";

constexpr std::string_view training = R"({
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
  "workload": {"model": {"kind": "mlp", "hidden": [8]},
               "data": {"kind": "gaussian-mixture", "train": 256, "test": 64},
               "batch": 8, "step_time": "1ms"},
  "algorithm": {"kind": "dense"},
  "measure": {"every": "2 iterations", "target_loss": 2.7, "baseline": true},
  "stop": {"iterations": 6},
  "sweep": {"optimizer.learning_rate": [0.1, 0.05], "seed": [1, 2]}
})";

struct Outcome {
    int code;
    std::string err;
};

struct Shell {
    TemporaryFolder folder;

    [[nodiscard]] fs::path path(const std::string& name) const { return folder.path() / name; }

    // Runs a script in the folder; `$mpirun` and `$paceline` are the commands a user would type.
    // Ranks write their process ids to rank.0, rank.1, ...
    [[nodiscard]] Outcome run(const std::string& script) const {
        const TemporaryFolder streams;
        const std::string file = streams.write(
            "script.sh",
            fmt::format(
                "cd '{}'\n"
                "mpirun='{} --allow-run-as-root --oversubscribe'\n"
                "paceline='{}'\n"
                "rank() {{ echo $$ > rank.$OMPI_COMM_WORLD_RANK; exec $paceline \"$@\"; }}\n"
                "export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader "
                "OMPI_MCA_pml=ob1 OMPI_MCA_plm=isolated OMPI_MCA_oob_tcp_if_include=lo "
                "paceline\n"
                "export -f rank\n"
                "{}\n",
                folder.path().string(), PACELINE_MPIEXEC, PACELINE_BINARY, script));
        const std::string err = (streams.path() / "err").string();
        const std::string command =
            fmt::format("bash '{}' >/dev/null 2>'{}' </dev/null", file, err);
        const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
        return {WEXITSTATUS(status), content(err)};
    }
};

std::size_t times(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++found;
    return found;
}

TEST_CASE("mpi: a study gives the same files on two and three ranks as in one process") {
    const Shell shell;
    (void)shell.folder.write("timing.json", timing(nodes_and_seeds));
    (void)shell.folder.write("training.json", training);

    const Outcome outcome = shell.run(R"(
        set -e
        $paceline run timing.json --out timing.1 --jobs 1
        $paceline run training.json --out training.1 --jobs 1
        $mpirun -np 2 $paceline run training.json --out training.2
        $mpirun -np 3 $paceline run timing.json --out timing.2 --jobs 1)");

    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    for (const char* file :
         {"timing.{}/results.csv", "timing.{}/summary.csv", "timing.{}/table.txt",
          "training.{}/results.csv", "training.{}/timeline.csv", "training.{}/summary.csv",
          "training.{}/table.txt"}) {
        CAPTURE(file);
        const std::string alone = content(shell.path(fmt::format(fmt::runtime(file), 1)));
        CHECK(alone.size() > 50);
        CHECK(content(shell.path(fmt::format(fmt::runtime(file), 2))) == alone);
    }
    for (const auto& row : rows_of(content(shell.path("training.2/results.csv"))))
        CHECK(!row.at("speedup_to_target").empty());
    const Json manifest = Json::parse(content(shell.path("timing.2/manifest.json")));
    CHECK(manifest.at("jobs") == 3);
}

TEST_CASE("mpi: a wrong scenario is reported once, nothing is written, and the code is 2") {
    const Shell shell;
    (void)shell.folder.write("timing.json", timing(nodes_and_seeds));

    const Outcome outcome =
        shell.run("$mpirun -np 3 $paceline run timing.json --set cluster.nodse=3");

    CHECK(outcome.code == 2);
    CHECK(times(outcome.err, "nodse\" is not a key on this path") == 1);
    CHECK(!fs::exists(shell.path("results")));
}

TEST_CASE("mpi: a rank that sees another file is named, and the code is 2") {
    const Shell shell;
    (void)shell.folder.write("0/timing.json", timing(nodes_and_seeds));
    (void)shell.folder.write("1/timing.json", "{}");

    const Outcome outcome =
        shell.run("$mpirun -np 2 bash -c 'cd $OMPI_COMM_WORLD_RANK; rank run timing.json'");

    CHECK(outcome.code == 2);
    CHECK(times(outcome.err, "paceline: rank 1 on ") == 1);
    CHECK(!fs::exists(shell.path("0/results")));
}

TEST_CASE("mpi: with --no-mpi a launcher's copies run each by itself") {
    const Shell shell;
    (void)shell.folder.write("timing.json", timing(R"({"cluster.nodes": [1, 2]})"));

    const Outcome outcome = shell.run(
        "$mpirun -np 2 bash -c 'rank run timing.json --no-mpi --out o$OMPI_COMM_WORLD_RANK'");

    CHECK(outcome.code == 0);
    CHECK(times(content(shell.path("o0/results.csv")), "\n") == 3);
    CHECK(content(shell.path("o1/results.csv")) == content(shell.path("o0/results.csv")));
}

TEST_CASE("mpi: points that fail are reported, the others have results, and the code is 1") {
    const Shell shell;
    (void)shell.folder.write("timing.json", timing(R"({"workload.step_time": ["10ms", "50d"]})"));

    const Outcome outcome = shell.run("$mpirun -np 2 $paceline run timing.json --out o");

    CHECK(outcome.code == 1);
    CHECK(times(outcome.err, "paceline: point 1: out-of-range: ") == 1);
    CHECK(times(content(shell.path("o/results.csv")), "\n") == 3);
    CHECK(times(content(shell.path("o/results.csv")), ",finished,") == 1);
}

TEST_CASE("mpi: --resume goes on where a job was killed with one of its ranks") {
    const Shell shell;
    (void)shell.folder.write("slow.json", timing(short_and_long));

    const Outcome killed = shell.run(R"(
        $mpirun -np 2 bash -c 'rank run slow.json --out o --jobs 1' &
        until ls o/points/*.points; do sleep 0.02; done
        kill -9 $(cat rank.1)
        wait $!)");
    const Outcome resumed =
        shell.run("$mpirun -np 2 $paceline run slow.json --out o --resume --log-json");
    const Outcome whole = shell.run("$paceline run slow.json --out whole");

    CHECK(killed.code != 0);
    CHECK(resumed.code == 0);
    CHECK(times(resumed.err, "\"kept\":0") == 0);
    CHECK(times(resumed.err, "\"event\":\"point\"") < 4);
    CHECK(whole.code == 0);
    CHECK(content(shell.path("o/results.csv")) == content(shell.path("whole/results.csv")));
    CHECK(content(shell.path("o/table.txt")) == content(shell.path("whole/table.txt")));
}

TEST_CASE("mpi: mpirun that is told to stop leaves the results that are there") {
    const Shell shell;
    (void)shell.folder.write("endless.json", timing(short_and_endless));

    // Open MPI 5 no longer passes on what ranks say once it has been told to stop, so they say it
    // to files.
    const Outcome stopped = shell.run(R"(
        $mpirun -np 2 bash -c 'rank run endless.json --out o 2>said.$OMPI_COMM_WORLD_RANK' &
        until ls o/points/*.points; do sleep 0.02; done
        kill -TERM $!
        wait $!)");
    const std::string said = content(shell.path("said.0")) + content(shell.path("said.1"));

    CHECK(stopped.code != 0);
    CHECK(times(said, "1 of 2 points are done, o/results.csv has them; to resume: ") == 1);
    const Json manifest = Json::parse(content(shell.path("o/manifest.json")));
    CHECK(manifest.at("points").size() == 1);
}

}  // namespace
}  // namespace paceline::mpi_test
