// A key that identifies everything that determines the result of a run: its resolved scenario, the
// content of every file that it reads, and the program.
//
// Files: every string in the scenario that names a regular file relative to it, but for "$schema",
// which editors read; and a file of Python before the colon of "file.py:name". If a string names a
// file only by chance, the one effect is that the key changes with that file. The program: the hash
// that the linker has made of its executable (or of the shared library that this code is in, such
// as the Python module), or else a hash of its bytes, so that each build has its own keys. Other
// shared libraries are not included.
//
// If a data set changes after the scenario was read and before the key is made, the change goes
// unnoticed.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/json/json_file.hpp"

namespace paceline {

/// Returns a hash of this build.
const std::string& program_hash();

/// Identifies this build by its version and that hash.
const std::string& program_name();

class PointKeys {
  public:
    /// Makes keys for points of one scenario file. Strings name files relative to its folder.
    explicit PointKeys(const std::string& scenario_file);

    /// Returns 32 hex digits. `kind` distinguishes runs of different kinds with the same scenario.
    std::string key(const std::string& resolved, std::string_view kind = "point");

  private:
    void add_files(const Json& json, std::map<std::string, std::string>& found);
    const std::string& hash_of(const std::string& text);

    std::filesystem::path folder_;
    std::map<std::string, std::string> hashes_;  // of the file that a string names; empty: none
};

}  // namespace paceline
