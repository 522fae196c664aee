// What decides the result of a run, as one name: its resolved scenario, the content of every file
// that it reads, and the program.
//
// Files: every text in the scenario that names a regular file beside it. That some other text also
// does costs nothing but a new key when that file changes. The program: the bytes of its
// executable, so that each build has its own keys; its shared libraries are not looked at.
//
// A data set that changes between the reading of the scenario and the making of the key is not
// noticed.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/json_file.hpp"

namespace paceline {

/// Names this build: its version, and a hash of its executable.
const std::string& program_name();

class PointKeys {
  public:
    /// Of points of one scenario file; texts name files relative to its folder.
    explicit PointKeys(const std::string& scenario_file);

    /// 32 hex digits. `kind` tells runs of another kind with the same scenario apart.
    std::string key(const std::string& resolved, std::string_view kind = "point");

  private:
    void add_files(const Json& json, std::map<std::string, std::string>& found);
    const std::string& hash_of(const std::string& text);

    std::filesystem::path folder_;
    std::map<std::string, std::string> hashes_;  // of the file that a text names; empty: none
};

}  // namespace paceline
