// Reads tables of numbers: a header line that names the columns, in any order, and rows of that
// many numbers.
//
//     time_s,up_mbps,down_mbps
//     0,6.3,21.3
//     12.5,0,0
//
// Numbers are at least 0. Blanks around them and empty lines are ignored. Lines end in LF or CR LF.
// A byte-order mark is skipped. The file may be plain or gzip. Errors name the file and the line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"

namespace paceline {

struct NumberColumn {
    std::string_view name;  // in the header
    std::string_view what;  // "a time in seconds"
    double most;
    bool may_be_never = false;  // the word "never" reads as infinity
};

struct NumberTable {
    struct Row {
        std::vector<double> numbers;  // in the order of the columns asked for
        std::size_t line;
    };

    std::string file;
    std::vector<Row> rows;  // one or more

    /// Throws ConfigError.
    [[noreturn]] void refuse(const Row& row, std::string_view problem) const;
};

/// Reads the table whose file `place` names. Throws ConfigError.
NumberTable read_number_table(const Place& place, std::span<const NumberColumn> columns);

/// Reads a table without a header, whose numbers stand in this order with blanks between them.
/// Throws ConfigError.
NumberTable read_bare_table(const Place& place, std::span<const NumberColumn> columns);

}  // namespace paceline
