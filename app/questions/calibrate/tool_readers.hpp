// One reader for each tool of measured_collectives.hpp, whose function chooses among them. Each
// tells whether a text is of its tool, and reads it. All throw ConfigError, with file and line, if
// nothing in the text can be used.
#pragma once

#include <string>
#include <string_view>

#include "app/questions/calibrate/measured_collectives.hpp"

namespace paceline {

bool is_of_nccl_tests(std::string_view text);
MeasuredCollectives read_nccl_tests(const std::string& file, std::string_view text);

bool is_of_osu(std::string_view text);
MeasuredCollectives read_osu(const std::string& file, std::string_view text);

bool is_of_iperf3(std::string_view text);
MeasuredCollectives read_iperf3(const std::string& file, std::string_view text);

bool is_torch_trace(std::string_view text);
MeasuredCollectives read_torch_trace(const std::string& file, std::string_view text);

}  // namespace paceline
