#include "app/questions/plot.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"

#ifdef __APPLE__  // whose headers do not declare it
extern "C" char** environ;
#endif

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr const char* has_matplotlib =
    "import importlib.util as u, sys; sys.exit(0 if u.find_spec('matplotlib') else 3)";

enum class Python { draws, has_no_matplotlib, missing };

// Checks whether a Python has matplotlib, without loading it and without output on the terminal.
Python probe(std::string python) {
    std::string option = "-c";
    std::string program = has_matplotlib;
    std::array<char*, 4> arguments{python.data(), option.data(), program.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    ::posix_spawn_file_actions_init(&quiet);
    ::posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, python.c_str(), &quiet, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&quiet);
    if (error != 0) return Python::missing;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return Python::missing;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return Python::missing;
    return WEXITSTATUS(status) == 0 ? Python::draws : Python::has_no_matplotlib;
}

// Throws ConfigError if the file is no testbed with what its figure shows.
void require_testbed(const std::string& file) {
    const Json testbed = parse_json(read_text(file), file);
    for (const char* part : {"constants", "rows", "cluster"})
        if (!testbed.is_object() || !testbed.contains(part))
            throw ConfigError(file, "",
                              fmt::format("has no \"{}\"; a file to draw is a testbed of paceline "
                                          "calibrate, which has \"constants\", \"rows\" and "
                                          "\"cluster\"",
                                          part));
}

void add_option(std::vector<std::string>& command, const char* name, const std::string& value) {
    if (!value.empty()) command.push_back(fmt::format("{}={}", name, value));
}

}  // namespace

std::string plotting_python() {
    const char* named = std::getenv("PACELINE_PYTHON");  // NOLINT(concurrency-mt-unsafe)
    const bool is_named = named != nullptr && *named != '\0';
    const std::vector<std::string> candidates =
        is_named ? std::vector<std::string>{named}
                 : std::vector<std::string>{"python3", "/usr/bin/python3"};
    bool any = false;
    for (const std::string& python : candidates) {
        const Python found = probe(python);
        if (found == Python::draws) return python;
        any = any || found == Python::has_no_matplotlib;
    }
    const std::string who = is_named ? fmt::format("PACELINE_PYTHON ({})", named) : "python3";
    throw ConfigError("command line", "plot",
                      fmt::format("{} {}; figures need Python 3 with matplotlib: apt-get install "
                                  "python3-matplotlib, or set PACELINE_PYTHON to one that has it",
                                  who, any ? "has no matplotlib" : "is not there"));
}

void require_results(const fs::path& results) {
    std::error_code ignored;
    if (fs::is_regular_file(results, ignored)) return require_testbed(results.string());
    if (!fs::is_directory(results, ignored))
        throw ConfigError(results.string(), "",
                          "no such folder or file; name a folder that paceline run has written, or "
                          "a testbed of paceline calibrate");
    if (!fs::exists(results / "results.csv", ignored))
        throw ConfigError(results.string(), "",
                          "has no results.csv; name a folder that paceline run has written");
}

std::vector<std::string> plot_command(const std::string& python, const fs::path& scripts,
                                      const PlotRequest& request) {
    // Python runs __main__.py of the folder. -B keeps it from writing bytecode there.
    std::vector<std::string> command{python, "-B", scripts.string()};
    add_option(command, "--out", request.out);
    add_option(command, "--format", request.formats);
    add_option(command, "--x", request.x);
    add_option(command, "--y", request.y);
    add_option(command, "--value", request.value);
    for (const std::string& target : request.targets) add_option(command, "--target", target);
    add_option(command, "--band", request.band);
    add_option(command, "--scale", request.scale);
    add_option(command, "--width", request.width);
    for (const std::string& condition : request.where) add_option(command, "--where", condition);
    if (request.panels)
        for (const std::string& axis : *request.panels)
            command.push_back(fmt::format("--panels={}", axis));
    if (request.title) command.push_back(fmt::format("--title={}", *request.title));
    if (!request.ratio.empty()) {
        command.emplace_back("--ratio");
        command.insert(command.end(), request.ratio.begin(), request.ratio.end());
    }
    command.emplace_back("--");
    command.push_back(request.folder);
    command.insert(command.end(), request.kinds.begin(), request.kinds.end());
    return command;
}

}  // namespace paceline
