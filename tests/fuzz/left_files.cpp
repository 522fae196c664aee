#include "tests/fuzz/left_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace paceline {

namespace fs = std::filesystem;

namespace {

// Counts fields between commas; commas between quotes are part of a field.
std::ptrdiff_t fields_of(const std::string& csv, std::size_t& at) {
    std::ptrdiff_t fields = 1;
    for (bool quoted = false; at < csv.size(); ++at) {
        if (csv[at] == '"') quoted = !quoted;
        if (quoted) continue;
        if (csv[at] == ',') ++fields;
        if (csv[at] == '\n') break;
    }
    ++at;
    return fields;
}

std::string fault_of_csv(const std::string& csv) {
    if (!csv.ends_with('\n')) return "does not end in a line's end";
    std::size_t at = 0;
    const std::ptrdiff_t columns = fields_of(csv, at);
    while (at < csv.size())
        if (const std::ptrdiff_t fields = fields_of(csv, at); fields != columns)
            return fmt::format("has {} fields below {} columns", fields, columns);
    return {};
}

}  // namespace

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string fault_of_files(const fs::path& folder) {
    if (!fs::exists(folder)) return {};
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        const fs::path& file = entry.path();
        if (!entry.is_regular_file()) continue;
        if (file.extension() == ".tmp") return fmt::format("{} is left", file.string());
        const std::string content = content_of(file);
        if (file.extension() == ".json" && !nlohmann::json::accept(content))
            return fmt::format("{} is not JSON", file.string());
        if (file.extension() != ".csv") continue;
        if (const std::string fault = fault_of_csv(content); !fault.empty())
            return fmt::format("{} {}", file.string(), fault);
    }
    return {};
}

std::string fault_of_process(const std::string& program, const fs::path& scenario) {
    const fs::path folder = scenario.parent_path() / "results";
    const fs::path log = scenario.parent_path() / "log.txt";
    const std::string command =
        fmt::format("timeout 10 '{}' run '{}' --out '{}' --quiet --jobs 2 >/dev/null 2>'{}'",
                    program, scenario.string(), folder.string(), log.string());
    const int status = std::system(command.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    constexpr int out_of_time = 124;
    const std::string said = content_of(log);
    if (code > 2 && code != out_of_time)
        return fmt::format("the program ends with code {}: {}", code, said.substr(0, 300));
    if (said.find("internal error") != std::string::npos) return said.substr(0, 300);
    if ((code == 1 || code == 2) && said.empty())
        return fmt::format("the program ends with code {} and says nothing", code);
    if (std::string fault = fault_of_files(folder); !fault.empty()) return fault;
    const bool ran = code == 0 || code == 1;
    if (ran && said.find("paceline:") == std::string::npos && !fs::exists(folder / "manifest.json"))
        return "the program has run and left no manifest";
    return {};
}

}  // namespace paceline
