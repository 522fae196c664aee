// A user's mistake, reported before anything runs. The one-line message gives its location, what is
// wrong, and the fix.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paceline {

/// Returns the text with control characters spelled out ("\n"), cut to at most `most` characters.
std::string one_line(std::string_view text, std::size_t most);

/// What is wrong: in words, and for programs that offer a fix.
struct Fault {
    std::string problem;
    std::string suggestion{};  // the known name that was probably meant; empty: none
    std::string value{};       // what stands there, as JSON; empty: nothing does, or it is large
};

class ConfigError : public std::runtime_error {
  public:
    /// `file` is a file name or "command line". `path` leads to the error within it and may be
    /// empty.
    ConfigError(const std::string& file, std::string_view path, Fault fault);
    ConfigError(const std::string& file, std::string_view path, std::string_view problem)
        : ConfigError(file, path, Fault{std::string(problem)}) {}

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& problem() const { return fault_.problem; }
    [[nodiscard]] const Fault& fault() const { return fault_; }

  private:
    std::string file_;
    std::string path_;
    Fault fault_;
};

}  // namespace paceline
