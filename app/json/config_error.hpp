// A user's mistake, reported before anything runs. The one-line message gives its location, what is
// wrong, and the fix.
//
// Readers throw at the first mistake. What is thrown for a study may carry the others, too
// (app/scenario/faults.hpp); whoever catches it and knows nothing of them reports the first.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Returns the text with control characters spelled out ("\n"), cut to at most `most` characters.
std::string one_line(std::string_view text, std::size_t most);

/// What is wrong: in words, and for programs that offer a fix.
struct Fault {
    std::string problem;
    std::string suggestion{};  // the known name or quantity that was meant; empty: not known
    std::string value{};       // what stands there, as JSON; empty: nothing does, or it is large
    std::string missing{};     // the key that the object there lacks; empty: it lacks none
    bool unknown_key = false;  // whether the last key of the path is at fault, and no value
};

class ConfigError : public std::runtime_error {
  public:
    /// `file` is a file name or "command line". `path` leads to the error within it and may be
    /// empty.
    ConfigError(const std::string& file, std::string_view path, Fault fault);
    ConfigError(const std::string& file, std::string_view path, std::string_view problem)
        : ConfigError(file, path, Fault{std::string(problem)}) {}
    /// The first of several mistakes, with the others.
    ConfigError(ConfigError first, std::vector<ConfigError> others);

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& problem() const { return fault_.problem; }
    [[nodiscard]] const Fault& fault() const { return fault_; }
    /// Returns the other mistakes of the same input, in the order in which they are read. They have
    /// no others.
    [[nodiscard]] const std::vector<ConfigError>& others() const { return others_; }

  private:
    std::string file_;
    std::string path_;
    Fault fault_;
    std::vector<ConfigError> others_{};
};

/// Returns the one-line messages of an error and of its others.
std::vector<std::string> messages_of(const ConfigError& error);

}  // namespace paceline
