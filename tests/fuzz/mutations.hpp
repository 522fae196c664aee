// Inputs that are wrong in some way: scenarios and the files they name, changed at random.
//
//   scenario   a random valid scenario, as it is
//   structure  a scenario whose JSON was changed: keys deleted, doubled or moved, values of another
//              type, extreme numbers, odd texts, deep nesting, subtrees of another scenario
//   bytes      a scenario whose text was changed: bits flipped, cut, spliced
//   data       a file of data, plain or gzip, changed likewise, and a scenario that trains on it
//   trace      a trace of a link or of absences, likewise
//   profile    a profile, likewise
//   mixing     a scenario with an explicit mixing whose edges were changed
//
// Scenarios to change are the random ones, the shipped ones and those of tests/refusals, made small.
// The same kind and seed give the same files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/json_file.hpp"

namespace paceline {

std::span<const std::string_view> mutation_kinds();

/// Scenarios to change, each small enough to read in milliseconds.
class Corpus {
  public:
    /// Of the source tree at `root`.
    explicit Corpus(const std::filesystem::path& root);

    [[nodiscard]] const std::vector<Json>& scenarios() const { return scenarios_; }

    /// Writes the input of that kind and seed into the folder, which is made, and returns the file
    /// of its scenario. Requires a kind that is known.
    std::filesystem::path write(std::string_view kind, std::uint64_t seed,
                                const std::filesystem::path& folder) const;

  private:
    std::filesystem::path root_;
    std::vector<Json> scenarios_;
    std::vector<std::string> texts_;  // of files as they stand
};

/// Whether reading it would make data for long: no fault, and nothing to wait for.
bool makes_much_data(const Json& scenario);

}  // namespace paceline
