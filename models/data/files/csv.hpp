// Tables of numbers: CSV with a header line that names its columns.
//
// Fields are separated by commas. Blanks around them and quotes around a whole field are ignored,
// and so are empty lines. Every column but one is a feature, taken unscaled (see standardize). The
// remaining column, chosen by name, is the label or the target. Labels are all whole numbers or all
// names, and classes are those that occur (classes.hpp), numbers by value and names by their bytes.
// Another column may name the group that a row belongs to, such as the person whose it is. It is no
// feature; its groups are numbered as classes are, but by the rows of the training part alone.
// Lines end in LF or CR LF. A byte-order mark is skipped. Errors name the line, the column and the
// byte.
//
// Test rows are chosen at random, because tables are often sorted. Training rows stay in the order
// of the file.
#pragma once

#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/files/file_content.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

constexpr int most_csv_classes = 65536;

struct CsvOptions {
    std::string column;                       // of the label or target
    Prediction predicts = Prediction::label;  // or number
    double test_share = 0.2;                  // of the rows, rounded; training keeps at least one
    std::string group{};                      // a column; empty: none
};

struct GroupedData {
    Dataset data;
    std::vector<int> groups;  // of the training rows; empty without a column
};

/// Throws DataError. Requires that `predicts` is label or number, and test_share in [0, 1).
GroupedData read_grouped_csv(FileContent content, const CsvOptions& options, RandomStream& stream);
Dataset read_csv(FileContent content, const CsvOptions& options, RandomStream& stream);

}  // namespace paceline
