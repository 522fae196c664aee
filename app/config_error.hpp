// A user's mistake, told before anything runs: where it stands, what is wrong, what would be right;
// in one line.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paceline {

/// The text with control characters spelled out ("\n"), and no longer than `most` characters.
std::string one_line(std::string_view text, std::size_t most);

class ConfigError : public std::runtime_error {
  public:
    /// `file` is a file's name or "command line"; `path` leads to the fault within it and may be
    /// empty.
    ConfigError(const std::string& file, std::string_view path, std::string_view problem);

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    std::string file_;
    std::string path_;
    std::string problem_;
};

}  // namespace paceline
