// Lines of what tools print, and a record of what a reader leaves out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline {

/// Returns a text without blanks, tabs and carriage returns around it.
std::string_view without_blanks(std::string_view text);

struct LogLine {
    std::size_t number = 0;
    std::string_view text;
};

/// Returns the lines that are not empty, without blanks around them and without the prefix of a
/// launcher: "[1,0]<stdout>:" of mpirun, "0: " of srun --label.
std::vector<LogLine> lines_of_log(std::string_view text);

std::vector<std::string_view> words_of_line(std::string_view line);

/// Returns the number that a whole word is, if it is finite and greater than 0.
std::optional<double> positive_in(std::string_view word);

/// Returns the number that a whole word of digits is, if it fits.
std::optional<std::int64_t> whole_in(std::string_view word);

/// What a reader leaves out: reasons in the order of their first place, each with its places.
class LeftOut {
  public:
    void add(std::string_view reason, std::string place);
    /// Returns "line 3: why", or "lines 3, 4, 7 and 12 more: why" of several places.
    [[nodiscard]] std::vector<std::string> texts() const;

  private:
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons_{};
};

}  // namespace paceline
