// Faulty inputs: scenarios and the files they name, changed at random.
//
//   scenario   a random valid scenario, unchanged
//   structure  a scenario with changed JSON: keys deleted, duplicated or moved, values of another
//              type, extreme numbers, odd texts, deep nesting, subtrees of another scenario
//   bytes      a scenario with changed text: bits flipped, pieces cut or spliced
//   data       a file of data, plain or gzip, changed likewise, and a scenario that trains on it
//   trace      a trace of a link or of absences, changed likewise
//   profile    a profile, changed likewise
//   mixing     a scenario with an explicit mixing whose edges were changed
//   failures   a random scenario whose nodes fail, unchanged (tests/fuzz/failing_scenario.hpp)
//   network    a random scenario of any fabric, unchanged (tests/fuzz/network_scenario.hpp)
//
// The scenarios to change are random ones, the shipped ones and those of tests/refusals, all
// shrunk. The same kind and seed always give the same files.
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
    /// Reads the scenarios of the source tree at `root`.
    explicit Corpus(const std::filesystem::path& root);

    [[nodiscard]] const std::vector<Json>& scenarios() const { return scenarios_; }

    /// Writes the input of this kind and seed into `folder`, which is created, and returns the file
    /// of its scenario. Requires a known kind.
    std::filesystem::path write(std::string_view kind, std::uint64_t seed,
                                const std::filesystem::path& folder) const;

  private:
    std::filesystem::path root_;
    std::vector<Json> scenarios_;
};

/// Whether reading the scenario would generate data for a long time: no fault, but not worth the
/// wait.
bool makes_much_data(const Json& scenario);

}  // namespace paceline
