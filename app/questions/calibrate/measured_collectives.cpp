#include "app/questions/calibrate/measured_collectives.hpp"
namespace paceline {
std::optional<MeasuredCollectives> read_measured_collectives(const std::string&, std::string_view) {
    return std::nullopt;
}
}  // namespace paceline
