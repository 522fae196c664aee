// The program where there is no MPI, started by an MPI launcher: a copy without the plugin.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "app/study/ranks/communicator.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::join_job_test {
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
            const std::string& arguments = "run small.json") {
    (void)folder.write("small.json", scenario);
    fs::copy_file(PACELINE_BINARY, folder.path() / "paceline", fs::copy_options::skip_existing);
    const std::string err = (folder.path() / "err").string();
    const std::string command = fmt::format("cd '{}' && {} ./paceline {} >out 2>'{}' </dev/null",
                                            folder.path().string(), environment, arguments, err);
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
    return {WEXITSTATUS(status), content(err)};
}

TEST_CASE("no mpi: several copies that a launcher has started are refused, once, with code 2") {
    const TemporaryFolder first;
    const TemporaryFolder second;

    const Outcome rank_0 = run(first, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0");
    const Outcome rank_1 = run(second, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1");

    CHECK(rank_0.code == 2);
    CHECK(rank_0.err ==
          "paceline: MPI: mpirun has started several copies of paceline, which find no MPI "
          "(paceline_mpi.so was not found), and each would run the whole study; install the MPI "
          "that paceline was built with, or run it without a launcher and with --jobs\n");
    CHECK(!fs::exists(first.path() / "results"));
    CHECK(rank_1.err.empty());
    CHECK(!fs::exists(second.path() / "results"));
}

TEST_CASE("no mpi: a single copy runs, and several with --no-mpi") {
    const TemporaryFolder first;
    const TemporaryFolder second;

    CHECK(run(first, "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0").code == 0);
    CHECK(run(second, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1", "run small.json --no-mpi")
              .code == 0);
    CHECK(fs::exists(first.path() / "results" / "small" / "results.csv"));
    CHECK(fs::exists(second.path() / "results" / "small" / "results.csv"));
}

TEST_CASE("no mpi: a plugin that cannot be loaded is told by the loader's words") {
    const TemporaryFolder folder;
    (void)folder.write("paceline_mpi.so", "of another system");

    const Outcome job = run(folder, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0");
    const Outcome alone = run(folder, "", "--version");

    CHECK(job.code == 2);
    CHECK(job.err.find("paceline_mpi.so: file too short") != std::string::npos);
    CHECK(alone.code == 0);
    CHECK(content(folder.path() / "out").find("/paceline_mpi.so\n") != std::string::npos);
}

}  // namespace
}  // namespace paceline::join_job_test
