// An algorithm of the table with its required options alone, made from the schema, for tests that
// go over the whole table.
#pragma once

#include <string_view>

#include "app/json/json_file.hpp"

namespace paceline {

/// Returns the object of an algorithm, such as {"kind": "dsgd", "mixing": {"kind": "ring"}}.
Json plain_algorithm(std::string_view name);

}  // namespace paceline
