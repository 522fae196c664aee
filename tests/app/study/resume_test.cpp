// Studies that are stopped, are killed or cannot write, and are then resumed: the program itself.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/json/json_file.hpp"
#include "app/study/point_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::resume_test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Runs the program on a study as a separate process, whose files can hold `most_bytes` each. Its
// standard error goes to a file.
class Run {
  public:
    Run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
        rlim_t most_bytes = RLIM_INFINITY)
        : err_((folder.path() / "err").string()) {
        std::vector<std::string> all{PACELINE_BINARY, "run"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& argument : all) argv.push_back(argument.data());
        argv.push_back(nullptr);
        process_ = ::fork();
        if (process_ == 0) {
            const int err = ::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
            ::dup2(err, STDERR_FILENO);
            const rlimit limit{most_bytes, RLIM_INFINITY};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            (void)std::signal(SIGXFSZ, SIG_IGN);
            if (::chdir(folder.path().c_str()) == 0) ::execv(argv[0], argv.data());
            ::_exit(127);
        }
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() {
        if (process_ > 0) (void)end_by(SIGKILL);
    }

    /// Returns the status with which it ended.
    int wait() {
        int status = 0;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        return status;
    }
    int end_by(int signal) {
        ::kill(process_, signal);
        return wait();
    }
    [[nodiscard]] std::string err() const { return content(err_); }

  private:
    std::string err_;
    pid_t process_ = -1;
};

std::string main_study() {
    return (fs::path(PACELINE_SOURCE_DIR) / "scenarios" / "dgc-speedup.json").string();
}

// All results except the manifest, by name.
std::map<std::string, std::string> results_in(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const char* name : {"results.csv", "table.txt", "timeline.csv", "summary.csv"})
        if (fs::exists(folder / name)) all[name] = content(folder / name);
    return all;
}

// How often each point is kept in whole; that of a journal which is being written may be cut.
std::map<std::string, int> kept_in(const fs::path& folder) {
    std::map<std::string, int> kept;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".points") continue;
        const std::string row = content(entry.path());
        for (const PointText& point : points_in(row)) {
            const std::string key(point.key);
            if (read_point(row.substr(point.offset, point.size), key)) ++kept[key];
        }
    }
    return kept;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// An uninterrupted run for comparison, and how long it took.
struct Whole {
    TemporaryFolder folder;
    std::map<std::string, std::string> results;
    double seconds = 0;

    explicit Whole(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--out", "whole"});
        const auto begin = Clock::now();
        Run run(folder, arguments);
        CHECK(run.wait() == 0);
        seconds = Seconds(Clock::now() - begin).count();
        results = results_in(folder.path() / "whole");
        CHECK(results.contains("results.csv"));
    }
};

TEST_CASE("resume: killed at twenty random moments, a study ends with the bytes of a whole one") {
    const std::vector<std::string> study{main_study(), "--set", "stop.iterations=4", "--jobs", "2",
                                         "--out",      "o",     "--resume"};
    const Whole whole({main_study(), "--set", "stop.iterations=4"});
    const TemporaryFolder folder;
    const fs::path points = folder.path() / "o" / "points";
    std::mt19937_64 random(7);
    std::size_t most_kept = 0;
    for (int killed = 0; killed < 20;) {
        const auto before = kept_in(points);
        most_kept = std::max(most_kept, before.size());
        Run run(folder, study);
        std::this_thread::sleep_for(
            Seconds(std::uniform_real_distribution(0.0, whole.seconds)(random)));
        const int status = run.end_by(SIGKILL);
        const auto after = kept_in(points);
        for (const auto& [key, times] : before) {
            CAPTURE(key);
            CHECK(after.at(key) == 1);  // not run again
        }
        if (WIFSIGNALED(status)) {
            ++killed;
            continue;
        }
        CHECK(results_in(folder.path() / "o") == whole.results);  // it had finished: start over
        fs::remove_all(folder.path() / "o");
    }
    CHECK(most_kept > 0);

    Run last(folder, study);

    CHECK(last.wait() == 0);
    CHECK(results_in(folder.path() / "o") == whole.results);
    CHECK(kept_in(points).size() == 84);
}

TEST_CASE("resume: Ctrl-C leaves the rows of finished points, and the line it says goes on") {
    const Whole whole({main_study(), "--set", "stop.iterations=40"});
    const std::vector<std::string> all = lines_of(whole.results.at("results.csv"));
    for (const int signal : {SIGINT, SIGTERM}) {
        CAPTURE(signal);
        const TemporaryFolder folder;
        Run run(folder, {main_study(), "--set", "stop.iterations=40", "--jobs", "1", "--out", "o"});
        const fs::path points = folder.path() / "o" / "points";
        while (kept_in(points).size() < 5) std::this_thread::sleep_for(Seconds(0.001));
        const int status = run.end_by(signal);

        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 128 + signal);
        const std::vector<std::string> rows = lines_of(content(folder.path() / "o/results.csv"));
        CHECK(rows.size() >= 6);
        CHECK(rows.size() < all.size());
        CHECK(std::ranges::includes(std::set(all.begin(), all.end()),
                                    std::set(rows.begin(), rows.end())));
        CHECK(std::ranges::is_sorted(rows.begin() + 1, rows.end(), {},
                                     [](const std::string& row) { return std::stoi(row); }));
        const Json manifest = Json::parse(content(folder.path() / "o/manifest.json"));
        CHECK(manifest.at("complete") == false);
        CHECK(manifest.at("points").size() == rows.size() - 1);

        const std::string err = run.err();
        const std::size_t command = err.find("paceline run");
        REQUIRE(command != std::string::npos);
        const std::string line = fmt::format("cd '{}' && exec '{}'{}", folder.path().string(),
                                             PACELINE_BINARY, err.substr(command + 8));
        CHECK(std::system(line.c_str()) == 0);  // NOLINT(cert-env33-c)
        CHECK(results_in(folder.path() / "o") == whole.results);
    }
}

TEST_CASE("resume: a kept point that is cut, empty or of another content is run again") {
    const Whole whole({main_study(), "--set", "cluster.nodes=4"});
    const TemporaryFolder folder;
    const std::vector<std::string> study{main_study(), "--set", "cluster.nodes=4",
                                         "--out",      "o",     "--resume"};
    CHECK(Run(folder, study).wait() == 0);
    REQUIRE(kept_in(folder.path() / "o/points").size() == 12);
    const fs::path journal = fs::directory_iterator(folder.path() / "o/points")->path();
    const std::string all = content(journal);
    const std::vector<PointText> at = points_in(all);
    std::string changed =
        all.substr(at[0].offset, at[0].size / 2) + "\n" + all.substr(at[2].offset);
    changed.replace(changed.find(at[3].key), 32, at[4].key);  // the content of another point
    (void)folder.write("o/points/" + journal.filename().string(), changed);
    REQUIRE(kept_in(folder.path() / "o/points").size() == 9);

    CHECK(Run(folder, study).wait() == 0);

    CHECK(results_in(folder.path() / "o") == whole.results);
    CHECK(kept_in(folder.path() / "o/points").size() == 12);
}

TEST_CASE("resume: a full disk ends the study, and the message says how to go on") {
    const Whole whole({main_study(), "--set", "cluster.nodes=4"});
    const TemporaryFolder folder;
    std::vector<std::string> study{main_study(), "--set", "cluster.nodes=4", "--out", "o"};

    Run full(folder, study, 600);
    const int status = full.wait();

    CHECK(WEXITSTATUS(status) == 1);
    CHECK(full.err().find("File too large") != std::string::npos);
    CHECK(full.err().find("--resume") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "o/results.csv"));
    CHECK(fs::is_empty(folder.path() / "o/points"));

    study.emplace_back("--resume");
    CHECK(Run(folder, study).wait() == 0);
    CHECK(results_in(folder.path() / "o") == whole.results);
}

TEST_CASE("resume: with --log-json every line is an object, and the last says how it ended") {
    const TemporaryFolder folder;
    (void)folder.write("bad.json", "{}");
    Run run(folder, {main_study(), "--set", "cluster.nodes=4", "--out", "o", "--log-json"});
    CHECK(run.wait() == 0);
    const std::vector<std::string> lines = lines_of(run.err());
    REQUIRE(lines.size() == 14);
    std::set<int> points;
    for (const std::string& line : lines) {
        const Json json = Json::parse(line);
        if (json.at("event") == "point") points.insert(json.at("point").get<int>());
    }
    CHECK(points.size() == 12);
    CHECK(Json::parse(lines.front()).at("event") == "study");
    CHECK(Json::parse(lines.back()).at("complete") == true);

    Run bad(folder, {"bad.json", "--log-json"});
    const int status = bad.wait();
    CHECK(WEXITSTATUS(status) == 2);
    const std::vector<std::string> faults = lines_of(bad.err());
    CHECK(faults.size() == 4);  // all that a scenario needs
    for (const std::string& line : faults) CHECK(Json::parse(line).at("event") == "error");
}

}  // namespace
}  // namespace paceline::resume_test
