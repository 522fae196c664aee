// paceline_fuzz: judges thousands of faulty inputs (tests/fuzz/mutations.hpp).
//
// Each input has a number, which is its seed and determines its kind. Processes take the numbers in
// turn. When a process dies or hangs, its input is kept and another process continues with the next
// one. So crashes, sanitizer reports and hangs are findings like any other. Each finding is kept in
// its own folder, with its scenario, its files and the fault; the exit code is then 1. --replay
// judges a scenario again, --write only writes an input.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/judge.hpp"
#include "tests/fuzz/judge_failures.hpp"
#include "tests/fuzz/judge_ways.hpp"
#include "tests/fuzz/left_files.hpp"
#include "tests/fuzz/mutations.hpp"

namespace {

using namespace paceline;
namespace fs = std::filesystem;

constexpr std::size_t most_workers = 64;
constexpr std::size_t kinds = 9;
constexpr std::uint64_t through_the_program = 97;  // every 97th input also runs as a process

// The kinds of any twenty consecutive inputs, as indices into mutation_kinds(). Failures and
// networks take far longer than the others, so they run on request.
constexpr std::array<std::size_t, 20> mix{1, 2, 1, 3, 1, 4, 1, 0, 1, 5,
                                          1, 2, 1, 3, 1, 6, 1, 2, 4, 0};

struct Options {
    std::uint64_t first = 1;
    std::uint64_t count = 10'000;
    std::string kind;  // empty: all of them
    int jobs = 2;
    unsigned seconds = 30;  // per input
    std::string out = "build/fuzz";
    std::string replay;
    bool write = false;
};

// Memory shared by the processes.
struct Shared {
    std::atomic<std::uint64_t> next;
    std::array<std::atomic<std::uint64_t>, most_workers> current;
    std::array<std::array<std::atomic<std::uint64_t>, 3>, kinds> fates;
    std::atomic<std::uint64_t> as_process;
    std::atomic<std::uint64_t> findings;
};

std::string_view kind_of(const Options& options, std::uint64_t number) {
    if (!options.kind.empty()) return options.kind;
    return mutation_kinds()[mix[number % mix.size()]];
}

std::size_t index_of(std::string_view kind) {
    return static_cast<std::size_t>(std::ranges::find(mutation_kinds(), kind) -
                                    mutation_kinds().begin());
}

fs::path folder_of(const Options& options, std::size_t worker) {
    return fs::path(options.out) / fmt::format("worker-{}", worker);
}

// Keeps the current input of a worker's folder.
void keep(const Options& options, Shared& shared, std::size_t worker, std::uint64_t number,
          const std::string& fault) {
    const std::string name = fmt::format("{}-{}", kind_of(options, number), number);
    const fs::path kept = fs::path(options.out) / name;
    std::error_code error;
    fs::remove_all(kept, error);
    fs::rename(folder_of(options, worker), kept, error);
    std::ofstream(kept / "fault.txt") << fault << "\n";
    fmt::print("{}: {}\n", name, fault);
    std::fflush(stdout);
    ++shared.findings;
}

Verdict judge_as(std::string_view kind, const fs::path& file) {
    if (kind == "failures") return judge_failures(file);
    if (kind == "network") return judge_ways(file);
    return judge(file, {.twice = kind == "scenario"});
}

void judge_one(const Options& options, const Corpus& corpus, Shared& shared, std::size_t worker,
               std::uint64_t number) {
    const fs::path folder = folder_of(options, worker);
    fs::remove_all(folder);
    const std::string_view kind = kind_of(options, number);
    const fs::path file = corpus.write(kind, number, folder);
    const auto json = Json::parse(content_of(file), nullptr, false);
    if (!json.is_discarded() && makes_much_data(json)) {
        ++shared.fates[index_of(kind)][static_cast<std::size_t>(Fate::too_large)];
        return;
    }
    Verdict made = judge_as(kind, file);
    ++shared.fates[index_of(kind)][static_cast<std::size_t>(made.fate)];
    if (made.fault.empty() && made.fate != Fate::too_large && number % through_the_program == 0) {
        made.fault = fault_of_process(PACELINE_BINARY, file);
        ++shared.as_process;
    }
    if (!made.fault.empty())
        keep(options, shared, worker, number, fmt::format("{} ({})", made.fault, made.message));
}

[[noreturn]] void work(const Options& options, const Corpus& corpus, Shared& shared,
                       std::size_t worker) {
    while (true) {
        const std::uint64_t number = shared.next++;
        if (number >= options.first + options.count) break;
        shared.current[worker] = number;
        alarm(options.seconds);
        judge_one(options, corpus, shared, worker, number);
        alarm(0);
    }
    shared.current[worker] = 0;
    std::error_code ignored;
    fs::remove_all(folder_of(options, worker), ignored);
    std::exit(0);  // runs the sanitizer's leak check
}

pid_t start(const Options& options, const Corpus& corpus, Shared& shared, std::size_t worker) {
    const pid_t process = fork();
    if (process == 0) work(options, corpus, shared, worker);
    return process;
}

std::string end_of(int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "it takes too long";
    if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
    return fmt::format("ended with code {}", WEXITSTATUS(status));
}

void run_all(const Options& options, const Corpus& corpus, Shared& shared) {
    std::vector<pid_t> processes;
    for (std::size_t w = 0; w < static_cast<std::size_t>(options.jobs); ++w)
        processes.push_back(start(options, corpus, shared, w));
    std::size_t running = processes.size();
    while (running > 0) {
        int status = 0;
        const pid_t ended = wait(&status);
        const auto found = std::ranges::find(processes, ended);
        if (found == processes.end()) continue;
        const auto worker = static_cast<std::size_t>(found - processes.begin());
        const std::uint64_t number = shared.current[worker];
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            --running;
            continue;
        }
        if (number == 0) {
            fmt::print("at the end of a process: {}\n", end_of(status));
            ++shared.findings;
            --running;
            continue;
        }
        keep(options, shared, worker, number, end_of(status));
        *found = start(options, corpus, shared, worker);
    }
}

void report(const Shared& shared, double seconds) {
    std::array<std::uint64_t, 3> all{};
    fmt::print("{:10} {:>8} {:>8} {:>8}\n", "kind", "refused", "ran", "too big");
    for (std::size_t k = 0; k < kinds; ++k) {
        fmt::print("{:10}", mutation_kinds()[k]);
        for (std::size_t f = 0; f < all.size(); ++f) {
            all[f] += shared.fates[k][f];
            fmt::print(" {:8}", shared.fates[k][f].load());
        }
        fmt::print("\n");
    }
    fmt::print(
        "{} inputs in {:.0f} s: {} refused, {} ran, {} read and too large to run; "
        "{} also as a process; {} findings\n",
        all[0] + all[1] + all[2], seconds, all[0], all[1], all[2], shared.as_process.load(),
        shared.findings.load());
}

int fuzz(const Options& options) {
    const Corpus corpus(PACELINE_SOURCE_DIR);
    if (options.write) {
        const fs::path folder =
            fs::path(options.out) /
            fmt::format("{}-{}", kind_of(options, options.first), options.first);
        fmt::print("{}\n",
                   corpus.write(kind_of(options, options.first), options.first, folder).string());
        return 0;
    }
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    Shared& shared = *new (memory) Shared{};
    shared.next = options.first;
    fs::create_directories(options.out);
    const auto begin = std::chrono::steady_clock::now();
    run_all(options, corpus, shared);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    report(shared, took.count());
    return shared.findings == 0 ? 0 : 1;
}

int replay(const Options& options) {
    const std::string kind = options.kind.empty() ? "scenario" : options.kind;
    const Verdict made = judge_as(kind, options.replay);
    constexpr std::array<const char*, 3> names{"refused", "ran", "too large to run"};
    fmt::print("{}: {}\n", names[static_cast<std::size_t>(made.fate)], made.message);
    if (!made.fault.empty()) fmt::print("fault: {}\n", made.fault);
    return made.fault.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App program{"judges inputs that are wrong in some way"};
    Options options;
    program.add_option("--seed-from", options.first, "number of the first input")
        ->check(CLI::PositiveNumber);
    program.add_option("--count", options.count, "how many inputs");
    const auto known = mutation_kinds();
    program.add_option("--kind", options.kind, "of that kind alone; also how --replay judges")
        ->check(CLI::IsMember(std::vector<std::string>(known.begin(), known.end())));
    program.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 64));
    program.add_option("--seconds", options.seconds, "an input may take");
    program.add_option("--out", options.out, "folder for what is found");
    program.add_option("--replay", options.replay, "judge this scenario");
    program.add_flag("--write", options.write, "write the first input and end");
    CLI11_PARSE(program, argc, argv);
    return options.replay.empty() ? fuzz(options) : replay(options);
}
