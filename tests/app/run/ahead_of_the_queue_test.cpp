// Whole runs whose collectives run ahead of the event queue, on fabrics with routes of one hop.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/judge_ways.hpp"

namespace paceline::ahead_of_the_queue_test {
namespace {

using doctest::Approx;

struct Run {
    TemporaryFolder folder;
    std::string file;

    explicit Run(const std::string& scenario) : file(folder.write("scenario.json", scenario)) {}

    [[nodiscard]] double seconds(const std::vector<std::string>& settings = {}) const {
        return run_point(read_study(file, settings).points.front().scenario, nullptr).sim_time_s;
    }
    [[nodiscard]] std::string fault() const { return judge_ways(file).fault; }
};

std::string ring_of_8(const std::string& failures, const std::string& algorithm) {
    return R"({"cluster": {"nodes": 8, "fabric": {"kind": "ring",
                           "link": {"bandwidth": "1Gbps", "latency": "1ms"}})" +
           failures + R"(}, "workload": {"gradient": "1MB", "tensors": 4, "step_time": "5ms"},
               "algorithm": )" +
           algorithm + R"(, "stop": {"iterations": 12}, "seed": 1})";
}

TEST_CASE("ahead of the queue: a message over one hop of a ring pays for one") {
    // 1 ms of computing; in round 0 neighbors exchange 1 MB over one hop, 8 ms + 50 us, in round 1
    // nodes two hops apart: 8 ms + 100 us. With this seed, routes of two hops share no link.
    const Run run(R"({"cluster": {"nodes": 4, "fabric": {"kind": "ring",
                          "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
                      "workload": {"gradient": "1MB", "step_time": "1ms"},
                      "algorithm": {"kind": "dense", "all_reduce": "recursive-doubling"},
                      "stop": {"iterations": 1}, "seed": 5})");

    CHECK(run.seconds() == Approx(0.01715).epsilon(1e-12));
    CHECK(run.fault() == "");
}

TEST_CASE("ahead of the queue: a ring goes on at the same pace after longer routes were taken") {
    // The first three steps all-reduce 1 MB around the ring, in 14 rounds of
    // 1 ms + 125 kB / 1 Gbps. The others exchange signs by routes of several hops.
    const Run run(ring_of_8("", R"({"kind": "one-bit-adam", "freeze_step": 3,
                                    "aggregation": {"kind": "two-phase", "all_to_all": "rounds"}})"));

    CHECK(run.seconds({"stop.iterations=3"}) == Approx(3 * (0.005 + 14 * 0.002)));
    CHECK(run.seconds() == Approx(1.482292501056).epsilon(1e-12));
    CHECK(run.fault() == "");
}

TEST_CASE("ahead of the queue: after a node's return, a ring takes as long as before its death") {
    const Run run(ring_of_8(R"(, "failures": {"detection": "1ms", "schedule": [
                                   {"node": 2, "at": "30ms", "for": "15ms"}]})",
                            R"({"kind": "sgd"})"));
    // 5 ms + 2 (n-1) (L + S / (n B)), with 1 ms for each 125 kB
    constexpr double step = 0.005 + 14 * (0.001 + 0.001);

    CHECK(run.seconds() - run.seconds({"stop.iterations=11"}) == Approx(step));
    CHECK(run.seconds({"stop.iterations=40"}) == Approx(1.355714288).epsilon(1e-12));
    CHECK(run.fault() == "");
}

}  // namespace
}  // namespace paceline::ahead_of_the_queue_test
