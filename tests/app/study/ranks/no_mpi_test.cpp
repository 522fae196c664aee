// The program built without MPI, started by an MPI launcher.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::no_mpi_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view scenario = R"({
  "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
  "workload": {"gradient": "1MB", "step_time": "10ms"},
  "algorithm": {"kind": "dense"},
  "stop": {"iterations": 3}
})";

struct Outcome {
    int code;
    std::string err;
};

Outcome run(const TemporaryFolder& folder, const std::string& environment,
            const std::string& options = "") {
    (void)folder.write("small.json", scenario);
    const std::string err = (folder.path() / "err").string();
    const std::string command =
        fmt::format("cd '{}' && {} '{}' run small.json {} 2>'{}' </dev/null",
                    folder.path().string(), environment, PACELINE_BINARY, options, err);
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
    return {WEXITSTATUS(status), content(err)};
}

TEST_CASE("no mpi: several copies that a launcher has started are refused, once, with code 2") {
    const TemporaryFolder first;
    const TemporaryFolder second;

    const Outcome rank_0 = run(first, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0");
    const Outcome rank_1 = run(second, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1");

    CHECK(rank_0.code == 2);
    CHECK(
        rank_0.err ==
        "paceline: MPI: mpirun has started several copies of a paceline that is built without MPI, "
        "and each would run the whole study; build it with PACELINE_MPI=ON, or run it without a "
        "launcher and with --jobs\n");
    CHECK(!fs::exists(first.path() / "results"));
    CHECK(rank_1.err.empty());
    CHECK(!fs::exists(second.path() / "results"));
}

TEST_CASE("no mpi: a single copy runs, and several with --no-mpi") {
    const TemporaryFolder first;
    const TemporaryFolder second;

    CHECK(run(first, "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0").code == 0);
    CHECK(run(second, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1", "--no-mpi").code == 0);
    CHECK(fs::exists(first.path() / "results" / "small" / "results.csv"));
    CHECK(fs::exists(second.path() / "results" / "small" / "results.csv"));
}

}  // namespace
}  // namespace paceline::no_mpi_test
