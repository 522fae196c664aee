// Reads figures from tables of docs/.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace paceline {

// Returns the numbers of a row "| name
// 1.23
// ... |" of a page.
inline std::vector<double> row_of(const std::string& page, const std::string& name) {
    const std::size_t at = page.find("| " + name + " |");
    REQUIRE(at != std::string::npos);
    std::istringstream cells(
        page.substr(at + name.size() + 4, page.find('\n', at) - at - name.size() - 4));
    std::vector<double> numbers;
    for (std::string cell; std::getline(cells, cell, '|');) numbers.push_back(std::stod(cell));
    return numbers;
}

}  // namespace paceline
