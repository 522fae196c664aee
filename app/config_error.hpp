// A user's mistake, told before anything runs: where it stands, what is wrong, what would be right.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace paceline {

class ConfigError : public std::runtime_error {
  public:
    /// `file` is a file's name or "command line"; `path` leads to the fault within it and may be
    /// empty.
    ConfigError(std::string file, std::string path, std::string problem)
        : std::runtime_error(file + ": " + (path.empty() ? "" : path + ": ") + problem),
          file_(std::move(file)),
          path_(std::move(path)),
          problem_(std::move(problem)) {}

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    std::string file_;
    std::string path_;
    std::string problem_;
};

}  // namespace paceline
