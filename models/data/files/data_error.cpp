#include "models/data/files/data_error.hpp"

#include <fmt/format.h>

namespace paceline {

DataError::DataError(const std::string& file, std::uint64_t offset, std::string_view problem)
    : std::runtime_error(fmt::format("{}: byte {}: {}", file, offset, problem)),
      file_(file),
      offset_(offset),
      problem_(problem) {}

}  // namespace paceline
