// `paceline compare` answers: in which rows and columns do two results of a scenario differ, by how
// much, and in which keys do their scenarios differ?
//
// Rows are matched by what identifies them, which is every column in front of `outcome` but the
// number of the point: the job, the values on the axes, the algorithm and the nodes. Rows that
// agree in all of that are matched in their order. A column that only one of the results has, such
// as an axis that came later, takes no part; two results are refused if their rows cannot be told
// apart without it.
//
// A value has moved if its text differs. Results are the same bytes from run to run, so there is no
// tolerance.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

/// A result: its tables and its manifest, as texts.
struct Result {
    std::string name;                       // as the user called it, for errors
    std::string results;                    // results.csv
    std::optional<std::string> manifest{};  // manifest.json
    std::optional<std::string> timeline{};  // timeline.csv
    std::optional<std::string> links{};     // links.csv
};

/// What a manifest says. Empty: not known.
struct Origin {
    std::string name;
    std::string scenario;
    std::string version;
    std::string build;
    bool complete = true;
};

/// A value of a row that moved.
struct Move {
    std::size_t old_point;
    std::size_t new_point;
    std::string row;  // "algorithm dgc, nodes 4": what distinguishes the row
    std::string column{};
    std::string before{};  // as in the tables; empty where there was no value
    std::string after{};
    std::optional<double> by{};        // after - before, where both are finite numbers
    std::optional<double> relative{};  // by / |before|, unless before is 0
};

/// A key of a scenario that differs, in this number of points that both have.
struct KeyChange {
    std::string path;
    std::string before;  // as JSON; empty: the key is not there
    std::string after;
    std::size_t points;
};

/// A table beside results.csv that differs.
struct TableChange {
    std::string file;
    std::size_t line;  // the first that differs
};

struct ResultComparison {
    Origin before;
    Origin after;
    std::size_t rows = 0;     // that both have
    std::size_t columns = 0;  // of values that both have
    std::vector<std::string> rows_only_before{};
    std::vector<std::string> rows_only_after{};
    std::vector<std::string> columns_only_before{};
    std::vector<std::string> columns_only_after{};
    std::vector<Move> moves{};  // by |relative|, the largest first; those without one come first
    std::vector<TableChange> tables{};
    std::vector<KeyChange> keys{};  // only where both have a manifest

    /// Returns whether both have the same rows, columns and values.
    [[nodiscard]] bool same() const;
};

/// Throws ConfigError if one of the two is no result, or if their rows cannot be matched.
ResultComparison compare(const Result& before, const Result& after);

}  // namespace paceline
