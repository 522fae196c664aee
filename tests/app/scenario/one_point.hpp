// A scenario as a text, read and run.
#pragma once

#include <string>

#include "app/json/json_file.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/scenario.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline {

inline Scenario read_one_point(const Json& text) {
    return read_scenario(text, "text.json", in_memory({}));
}

inline Metrics run_one_point(const Json& text) {
    return run_point(read_one_point(text), nullptr);
}

}  // namespace paceline
