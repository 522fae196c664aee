// A data file cannot be read. The error says which file, where in it, what is wrong, and the fix.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paceline {

class DataError : public std::runtime_error {
  public:
    /// `offset` is the byte of the error in the file, counted from 0. For a compressed file,
    /// offsets refer to the inflated content, and the file's name says so.
    DataError(const std::string& file, std::uint64_t offset, std::string_view problem);

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    std::string file_;
    std::uint64_t offset_;
    std::string problem_;
};

}  // namespace paceline
