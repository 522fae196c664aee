// What tools print, against the tables that a test has made or that are in samples/: outputs as
// they are published, with other numbers and names.
#include "app/questions/calibrate/measured_collectives.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "tests/models/data/data_files.hpp"

namespace paceline::measured_collectives_test {
namespace {

using doctest::Approx;

std::string sample(const std::string& name) {
    std::ifstream file(
        std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/app/questions/calibrate/samples" / name,
        std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

MeasuredCollectives read(const std::string& text) {
    const auto measured = read_measured_collectives("log", text);
    REQUIRE(measured.has_value());
    return *measured;
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(read_measured_collectives("log", text));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "not refused";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

// A row without its seconds: "all-gather 4096 B, 4 ranks on 2, log, line 7".
std::string named(const MeasuredCollective& row) {
    return fmt::format("{} {} B, {} ranks on {}, {}", row.operation, row.bytes,
                       row.ranks.value_or(0), row.machines.value_or(0), row.where);
}

bool says(const MeasuredCollectives& measured, std::string_view part) {
    for (const std::string& line : measured.left_out)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

struct Program {
    std::string name;
    std::string operation;
    std::string redop;
    bool rooted;
    bool in_place;
    bool old_redop;  // whether it had the column before 2022
};

const auto programs = std::to_array<Program>({
    {"all_reduce_perf", "all-reduce", "sum", false, true, true},
    {"reduce_scatter_perf", "reduce-scatter", "sum", false, true, true},
    {"all_gather_perf", "all-gather", "none", false, true, false},
    {"alltoall_perf", "all-to-all", "none", false, false, true},
    {"broadcast_perf", "broadcast", "none", true, true, false},
    {"reduce_perf", "reduce", "sum", true, true, true},
    {"sendrecv_perf", "send", "sum", false, false, false},
});

double factor_of(const Program& program, int n) {
    if (program.operation == "all-reduce") return 2.0 * (n - 1) / n;
    if (program.rooted || program.operation == "send") return 1;
    return 1.0 * (n - 1) / n;
}

struct Printed {
    std::string text;
    std::vector<std::int64_t> bytes;
    std::vector<double> seconds;  // as printed
    int ranks = 0;
    int machines = 0;
};

// Prints a table as nccl-tests do: of 2021 (`old`) or of today.
Printed print(std::mt19937& random, const Program& program, bool old, bool says_program) {
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    Printed printed;
    printed.machines = draw(2, 4);
    const int per_machine = draw(1, 4);
    printed.ranks = printed.machines * per_machine;
    if (says_program) printed.text += fmt::format("# Collective test starting: {}\n", program.name);
    printed.text +=
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 "
        "agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
    for (int rank = 0; rank < printed.ranks; ++rank)
        printed.text += fmt::format("#  Rank {:2} {}Pid {:6} on {:>10} device {:2} [0x1b] DEVICE\n",
                                    rank, old ? "" : "Group  0 ", 100 + rank,
                                    fmt::format("n{}", rank / per_machine), rank % per_machine);
    const bool has_redop = !old || program.old_redop;
    const bool has_root = !old || program.rooted;
    printed.text += fmt::format(
        "#   out-of-place    in-place\n#       size         count      type{}{}     time   "
        "algbw   busbw  {}     time   algbw   busbw  {}\n",
        has_redop ? "   redop" : "", has_root ? "    root" : "", old ? "error" : "#wrong",
        old ? "error" : "#wrong");
    for (int row = draw(1, 6); row > 0; --row) {
        const std::int64_t size = std::int64_t{draw(1 << 20, 1 << 30)} * 16;
        const std::string time = fmt::format("{:7.1f}", draw(20'000, 900'000) / 10.0);
        const double algbw = static_cast<double>(size) / std::strtod(time.c_str(), nullptr) / 1e3;
        const double busbw = algbw * factor_of(program, printed.ranks);
        const std::string redop = old && program.redop == "none" ? "" : program.redop;
        const std::string wrong = old ? "0e+00" : "0";
        printed.text += fmt::format("{:12}  {:12}  {:>8}", size, size / 4, "float");
        if (has_redop) printed.text += fmt::format("  {:>6}", redop);
        if (has_root) printed.text += fmt::format("  {:6}", program.rooted ? 0 : -1);
        printed.text += fmt::format("  {}  {:6.2f}  {:6.2f}  {:>5}", time, algbw, busbw, wrong);
        printed.text += fmt::format("  {}  {:6.2f}  {:6.2f}  {:>5}\n", time, algbw, busbw,
                                    program.in_place ? wrong : "N/A");
        printed.bytes.push_back(size);
        printed.seconds.push_back(std::strtod(time.c_str(), nullptr) * 1e-6);
    }
    printed.text += "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5 \n#\n";
    return printed;
}

void check_rows(const MeasuredCollectives& measured, const Program& program, const Printed& printed,
                std::size_t from = 0) {
    REQUIRE(measured.rows.size() >= from + printed.bytes.size());
    for (std::size_t i = 0; i < printed.bytes.size(); ++i) {
        const MeasuredCollective& row = measured.rows[from + i];
        CHECK(row.operation == program.operation);
        CHECK(row.bytes == printed.bytes[i]);
        CHECK(row.ranks == printed.ranks);
        CHECK(row.machines == printed.machines);
        CHECK(row.seconds == Approx(printed.seconds[i]).epsilon(1e-12));
    }
}

TEST_CASE("nccl-tests: a log of mpirun with warnings among its rows gives those that are whole") {
    const MeasuredCollectives measured = read(sample("all_reduce.log"));

    CHECK(measured.tool == "nccl-tests");
    REQUIRE(measured.rows.size() == 3);
    CHECK(named(measured.rows[0]) == "all-reduce 65536 B, 4 ranks on 2, log, line 17");
    CHECK(named(measured.rows[1]) == "all-reduce 262144 B, 4 ranks on 2, log, line 18");
    CHECK(named(measured.rows[2]) == "all-reduce 4194304 B, 4 ranks on 2, log, line 24");
    CHECK(measured.rows[0].seconds == Approx(61.42e-6).epsilon(1e-12));
    CHECK(measured.rows[2].seconds == Approx(1093.5e-6).epsilon(1e-12));
    CHECK(measured.left_out ==
          std::vector<std::string>{"line 16: size is 0, so nothing is sent",
                                   "line 21: the row is cut or mixed with another line",
                                   "line 23: #wrong is not 0: the operation gave wrong values"});
}

TEST_CASE("nccl-tests: the labels of srun and a command above the table are understood") {
    const MeasuredCollectives measured = read(
        "0: + ./all_gather_perf -b 8K\n0: #  Rank  0 Pid 7 on a device 0 [0x1b] X\n"
        "0: #  Rank  1 Pid 8 on b device 0 [0x1b] X\n"
        "0: # size count type time algbw busbw error time algbw busbw error\n"
        "0:   8192  1024  float  10.0  0.82  0.41  0e+00  11.0  0.74  0.37  0e+00\n"
        "# out-of-place in-place\n");

    REQUIRE(measured.rows.size() == 1);
    CHECK(named(measured.rows[0]) == "all-gather 8192 B, 2 ranks on 2, log, line 5");
    CHECK(measured.rows[0].seconds == Approx(10e-6));
    CHECK(measured.left_out.empty());
}

TEST_CASE(
    "nccl-tests, property: printed tables of seven programs are read back, one after another") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Program& first = programs[seed % programs.size()];
        const Program& second = programs[random() % programs.size()];
        const Printed one = print(random, first, false, true);
        const Printed two = print(random, second, random() % 2 == 0, false);
        const std::string command = fmt::format("+ srun ./build/{}_mpi -b 8\n", second.name);

        const MeasuredCollectives measured = read(one.text + command + two.text);

        CHECK(measured.rows.size() == one.bytes.size() + two.bytes.size());
        check_rows(measured, first, one);
        check_rows(measured, second, two, one.bytes.size());
    }
}

TEST_CASE("nccl-tests, property: columns and bandwidths tell the program where nothing names it") {
    for (unsigned seed = 0; seed < 140; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Program& program = programs[seed % programs.size()];
        const bool old = seed % 2 == 0;
        const Printed printed = print(random, program, old, false);
        CAPTURE(printed.text);

        // Before June 2020 blocks of two ranks gave all-gather and reduce-scatter this quotient.
        if (old && printed.ranks == 2 && factor_of(program, 2) == 1 && !program.rooted) {
            CHECK(refusal(printed.text).find("by its columns this may be") != std::string::npos);
            continue;
        }

        const MeasuredCollectives measured = read(printed.text);

        check_rows(measured, program, printed);
        CHECK(says(measured, "no program is named above the table"));
    }
}

TEST_CASE("nccl-tests: what is ambiguous, or no single collective, is refused with the fix") {
    std::mt19937 random(1);
    const Printed gather = print(random, programs[2], false, false);
    std::string unchecked = gather.text;
    while (unchecked.find("    0") != std::string::npos)
        unchecked = replaced(unchecked, "    0", "  N/A");
    const std::string log = sample("all_reduce.log");
    const std::string bare = replaced(log, "all_reduce_perf_mpi", "");

    CHECK(refusal(unchecked).find("may be all_gather_perf or alltoall_perf; write") !=
          std::string::npos);
    CHECK(read("# Collective test starting: alltoall_perf\n" + unchecked).rows[0].operation ==
          "all-to-all");
    CHECK(refusal(replaced(log, "all_reduce_perf", "gather_perf"))
              .find("line 3: is of gather_perf") != std::string::npos);
    CHECK(refusal(replaced(log, "Rank  3 Group  0", "Rank  3 Group  1"))
              .find("line 14: 2 groups measured at the same time") != std::string::npos);
    CHECK(refusal(replaced(log, "agg iters: 1", "agg iters: 8")).find("-m 8") != std::string::npos);
    CHECK(refusal(replaced(log, "    root     time", "    root  cputime")).find("without -C") !=
          std::string::npos);
    CHECK(refusal(replaced(log, "Rank  3 Group", "Rank  2 Group")).find("MPI=1") !=
          std::string::npos);
    CHECK(refusal(replaced(log, "all_reduce_perf", "all_gather_perf"))
              .find("line 14: busbw / algbw is from 1.49 to 1.5, which all_gather_perf does not "
                    "print") != std::string::npos);
    CHECK(refusal(replaced(bare, "Rank  0", "Rank  x")).find("# Collective test starting:") !=
          std::string::npos);
    CHECK(refusal(log.substr(0, log.find("      65536"))).find("no row can be used; line 16") !=
          std::string::npos);
    CHECK(refusal("# Collective test starting: sendrecv_perf\n# Rank 0 Pid 7 on a device 0\n"
                  "# Rank 1 Pid 8 on a device 1\n"
                  "# size count type redop root time algbw busbw #wrong\n"
                  "8192 2048 float sum -1 10.0 0.82 0.82 0\n")
              .find("line 4: sendrecv_perf ran on one machine") != std::string::npos);
    CHECK(refusal(R"({"version": 3, "nccl_version": 22807, "results": [{"out_of_place": {}}]})")
              .find("-J") != std::string::npos);
    CHECK(refusal("#      bytes             N    type  algbw out-of-place in-place")
              .find("before 2019") != std::string::npos);
}

TEST_CASE("OSU: half round trips, one rate, blocks times ranks, and the last rank of a broadcast") {
    const MeasuredCollectives measured = read(sample("osu.txt"));

    CHECK(measured.tool == "OSU");
    REQUIRE(measured.rows.size() == 5);
    CHECK(named(measured.rows[0]) == "send 1024 B, 2 ranks on 0, log, line 7");
    CHECK(measured.rows[0].seconds == Approx(4.37e-6));
    CHECK(named(measured.rows[1]) == "send 1048576 B, 2 ranks on 0, log, line 8");
    CHECK(named(measured.rows[2]) == "send 268435456 B, 2 ranks on 0, log, line 14");
    CHECK(measured.rows[2].seconds == Approx(268435456 / 12e9));
    CHECK(named(measured.rows[3]) == "all-gather 65536 B, 16 ranks on 4, log, line 26");
    CHECK(measured.rows[3].seconds == Approx(51.5e-6));
    CHECK(named(measured.rows[4]) == "broadcast 4096 B, 16 ranks on 4, log, line 30");
    CHECK(measured.rows[4].seconds == Approx(13.75e-6));
    CHECK(says(measured, "line 5, line 12: taken as from one machine to another"));
    CHECK(says(measured, "line 6: size is 0"));
    CHECK(read("# machines: 1\n" + sample("osu.txt")).rows.size() == 2);
    CHECK(says(measured, "line 13, line 15: of osu_bw only the largest size is used"));
    CHECK(says(measured, "line 17: osu_bibw is left out"));
}

TEST_CASE("OSU, property: a printed table of any collective is read back") {
    const auto tests = std::to_array<std::pair<std::string, std::string>>(
        {{"Allreduce Latency Test", "all-reduce"},
         {"Reduce_scatter Latency Test", "reduce-scatter"},
         {"Reduce Latency Test", "reduce"},
         {"All-to-All Personalized Exchange Latency Test", "all-to-all"}});
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto& [title, operation] = tests[seed % tests.size()];
        const int ranks = 2 + static_cast<int>(random() % 30);
        std::string text =
            fmt::format("# ranks: {}\n# OSU MPI {} v7.{}\n# Size       Avg Latency(us)\n", ranks,
                        title, random() % 6);
        std::vector<std::pair<std::int64_t, double>> rows;
        for (std::int64_t size = 4; size < 1 << 20; size *= 8) {
            const std::string time =
                fmt::format("{:.2f}", 1 + static_cast<double>(random() % 100'000) / 7);
            text += fmt::format("{:<10}{:>20}\n", size, time);
            rows.emplace_back(operation == "all-to-all" ? size * ranks : size,
                              std::strtod(time.c_str(), nullptr) * 1e-6);
        }

        const MeasuredCollectives measured = read(text);

        REQUIRE(measured.rows.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(measured.rows[i].operation == operation);
            CHECK(measured.rows[i].bytes == rows[i].first);
            CHECK(measured.rows[i].ranks == ranks);
            CHECK(measured.rows[i].seconds == Approx(rows[i].second).epsilon(1e-12));
        }
    }
}

TEST_CASE("OSU: a block without ranks, two directions and other programs are refused") {
    const std::string gather =
        "# OSU MPI Allgather Latency Test v7.4\n# Size  Avg Latency(us)\n8 2.5\n";

    CHECK(refusal(gather).find("line 3: size is that of one rank's block") != std::string::npos);
    CHECK(refusal("# ranks: many\n" + gather).find("line 1: \"# ranks: many\" needs a number") !=
          std::string::npos);
    CHECK(refusal("# OSU MPI Bi-Directional Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)\n8 2\n")
              .find("line 1: osu_bibw is left out") != std::string::npos);
    CHECK(refusal("# OSU MPI Gather Latency Test v7.4\n# Size  Avg Latency(us)\n8 2\n")
              .find("\"Gather Latency Test\" is left out; paceline compares osu_latency") !=
          std::string::npos);
    CHECK(refusal("# OSU MPI Bandwidth Test v7.4\n# Size  Messages/s\n8 2\n")
              .find("line 2: the column after Size is not Bandwidth (MB/s)") != std::string::npos);
}

TEST_CASE("iperf3: one connection is a send of what arrived; other tests are refused by name") {
    const std::string json = sample("iperf3.json");
    const auto with = [&](const std::string& what, const std::string& by) {
        return refusal(replaced(json, what, by));
    };

    const MeasuredCollectives measured = read(json);

    CHECK(measured.tool == "iperf3");
    REQUIRE(measured.rows.size() == 1);
    CHECK(named(measured.rows[0]) == "send 11718754304 B, 2 ranks on 2, log, end.sum_received");
    CHECK(measured.rows[0].seconds == 10.040271);
    CHECK(read(replaced(json, "\"reverse\":\t0", "\"reverse\":\t1")).rows.size() == 1);
    CHECK(with("\"TCP\"", "\"UDP\"").find("start.test_start.protocol: is \"UDP\"") !=
          std::string::npos);
    CHECK(with("\"num_streams\":\t1", "\"num_streams\":\t8").find("num_streams: is 8") !=
          std::string::npos);
    CHECK(with("\"bidir\":\t0", "\"bidir\":\t1").find("both directions") != std::string::npos);
    CHECK(with("\"target_bitrate\":\t0", "\"target_bitrate\":\t1000")
              .find("target_bitrate: limits the rate") != std::string::npos);
    CHECK(with("192.0.2.12", "192.0.2.11").find("with itself") != std::string::npos);
    CHECK(with("11718754304", "0").find("has 0 bytes") != std::string::npos);
    CHECK(with("sum_received", "sum").find("the test did not end") != std::string::npos);
    CHECK(with("\"end\":\t{", "\"error\":\t\"unable to connect\",\n\"end\":\t{")
              .find("iperf3 failed: unable to connect") != std::string::npos);
    CHECK(refusal("{\"event\":\"start\",\"data\":{\"test_start\":{}}}\n").find("--json-stream") !=
          std::string::npos);
    CHECK(refusal("[ ID] Interval           Transfer     Bitrate\n").find("--json") !=
          std::string::npos);
}

TEST_CASE(
    "torch.profiler: the shortest of equal kernels, and those whose launch tells what they sent") {
    const MeasuredCollectives measured = read(sample("torch.json"));

    CHECK(measured.tool == "torch.profiler");
    REQUIRE(measured.rows.size() == 2);
    CHECK(named(measured.rows[0]) == "all-reduce 2000000 B, 8 ranks on 0, log, traceEvents[2]");
    CHECK(measured.rows[0].seconds == Approx(397e-6));
    CHECK(named(measured.rows[1]) == "all-gather 16000 B, 8 ranks on 0, log, traceEvents[5]");
    CHECK(measured.rows[1].seconds == Approx(33.25e-6));
    CHECK(says(
        measured,
        "shortest of 2 kernels of all-reduce with 2000000 bytes over 8 ranks, 397 to 412.5 us"));
    CHECK(says(measured, "traceEvents[6]: \"send\" is left out"));
    CHECK(says(measured, "traceEvents[7]: neither the NCCL kernel nor its launch records"));
}

TEST_CASE(
    "torch.profiler: a call of several kernels, an unknown dtype and damaged JSON are not taken") {
    const std::string trace = sample("torch.json");
    const std::string shared = replaced(trace, "\"External id\": 302", "\"External id\": 301");

    CHECK(says(read(shared),
               "traceEvents[1], traceEvents[2]: one call launched several NCCL kernels"));
    CHECK(says(read(replaced(trace, "_allgather_base", "all_to_allv")),
               "\"all_to_allv\" is left out: it is not an all-reduce"));
    CHECK(says(read(replaced(trace, "\"Float\"", "\"Quarter\"")),
               "the dtype \"Quarter\" is not known"));
    CHECK(refusal(trace.substr(0, 1500)).find("log: line 16: the JSON breaks off") !=
          std::string::npos);
    CHECK(refusal("{\"traceEvents\": []}").find("traceEvents: has no NCCL kernel; record with") !=
          std::string::npos);
    CHECK(read(trace.substr(trace.find('['), trace.rfind(']') - trace.find('[') + 1)).rows.size() ==
          2);
}

TEST_CASE("measured collectives: gzip is read, UTF-16 is refused, and other texts are nobody's") {
    CHECK(read(gzip(sample("osu.txt"))).rows.size() == 5);
    CHECK(read("\xef\xbb\xbf" + sample("iperf3.json")).rows.size() == 1);
    CHECK(refusal("\xff\xfe#").find("save it as UTF-8") != std::string::npos);
    CHECK(
        !read_measured_collectives("log", "step_time_s,workload.gradient\n0.5,1MB\n").has_value());
    CHECK(!read_measured_collectives("log", "").has_value());
    CHECK(!read_measured_collectives("log", "{\"cluster\": {}}").has_value());
}

TEST_CASE("measured collectives, fuzz: changed files give sane rows or a ConfigError") {
    for (const char* name : {"all_reduce.log", "osu.txt", "iperf3.json", "torch.json"}) {
        const std::string original = sample(name);
        for (unsigned seed = 0; seed < 150; ++seed) {
            CAPTURE(name);
            CAPTURE(seed);
            std::mt19937 random(seed);
            std::string text = original;
            for (unsigned changes = 1 + random() % 12; changes > 0; --changes) {
                const std::size_t at = random() % text.size();
                if (random() % 4 == 0)
                    text.erase(at, random() % 40);
                else if (random() % 4 == 0)
                    text.insert(at, text.substr(random() % text.size(), random() % 60));
                else
                    text[at] =
                        static_cast<char>(random() % 2 == 0 ? '0' + random() % 10 : random() % 256);
                if (text.empty()) text = " ";
            }
            try {
                const auto measured = read_measured_collectives(name, text);
                if (!measured) continue;
                CHECK(!measured->rows.empty());
                for (const MeasuredCollective& row : measured->rows) {
                    CHECK(row.bytes > 0);
                    CHECK(std::isfinite(row.seconds));
                    CHECK(row.seconds > 0);
                    CHECK(row.ranks.value_or(2) > 1);
                }
            } catch (const ConfigError& error) {
                CHECK(std::string(error.what()).find(name) == 0);
            }
        }
    }
}

}  // namespace
}  // namespace paceline::measured_collectives_test
