// The program without its plugin for threads: a copy that stands alone.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::parallel_plugin_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view training = R"({
  "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
  "workload": {
    "model": {"kind": "mlp", "hidden": [8]},
    "data": {"kind": "digits", "train": 64, "test": 32},
    "batch": 8,
    "step_time": "1ms"
  },
  "optimizer": {"learning_rate": 0.05},
  "algorithm": {"kind": "dense"},
  "stop": {"iterations": 3}
})";

struct Outcome {
    int code;
    std::string err;
    std::string results;
};

Outcome run(const TemporaryFolder& folder, const std::string& program) {
    const std::string command =
        fmt::format("cd '{}' && '{}' run small.json --no-mpi --jobs 2 >out 2>err </dev/null",
                    folder.path().string(), program);
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
    return {WEXITSTATUS(status), content(folder.path() / "err"),
            content(folder.path() / "results/small/results.csv")};
}

TEST_CASE(
    "threads: without the plugin, a run trains on one thread to the same bytes, and says so") {
    const TemporaryFolder alone;
    const TemporaryFolder whole;
    fs::copy_file(PACELINE_BINARY, alone.path() / "paceline");
    for (const TemporaryFolder* folder : {&alone, &whole})
        (void)folder->write("small.json", training);

    const Outcome one_thread = run(alone, "./paceline");
    const Outcome threads = run(whole, PACELINE_BINARY);

    CHECK(one_thread.code == 0);
    CHECK(one_thread.err ==
          "paceline: warning: paceline_tbb.so was not found, so a run trains on one thread\n");
    CHECK(threads.code == 0);
    CHECK(threads.err.empty());
    CHECK(!threads.results.empty());
    CHECK(one_thread.results == threads.results);
}

}  // namespace
}  // namespace paceline::parallel_plugin_test
