// What a folder for results already holds: whose results, and figures that were drawn from them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/host/folder_lock.hpp"

namespace paceline {

/// Returns why results of this scenario should not replace what is in the folder; empty if they
/// may. They may replace results of a scenario file of the same name, whatever has changed in it,
/// and results without a manifest (of a run that was killed). They should not replace results of
/// another scenario, nor files of these names that paceline has not written.
std::string what_else_is_in(const std::filesystem::path& folder, const std::string& scenario_file);

/// The folder for results of a run, made and locked for the time that this object lives.
class OwnFolder {
  public:
    /// Throws OutputError if the folder cannot be written, or another process writes there.
    /// `command` names this command to that process.
    OwnFolder(std::filesystem::path path, std::string_view command);

    /// Throws OutputError if the folder holds something else than results of this scenario.
    void refuse_another(const std::string& scenario_file) const;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Returns why the folder could not be locked; empty if it is.
    [[nodiscard]] const std::string& warning() const { return lock_.warning(); }

  private:
    std::filesystem::path path_;
    FolderLock lock_;
};

/// Returns a hash of the tables that figures are drawn from.
std::string hash_of_tables(const std::filesystem::path& folder);

/// Removes the figures that `paceline plot` has drawn into the folder, which figures.txt lists, and
/// returns their names.
std::vector<std::string> remove_figures(const std::filesystem::path& folder);

}  // namespace paceline
