// Tables of numbers: a CSV file with a header line that names its columns.
//
// Fields lie between commas; blanks around them and quotes around a whole field do not count. Every
// column but one is a feature, as it is written (see standardize); that one, by name, is the label
// (an integer from 0) or the target. Lines end in LF or CR LF; a byte-order mark is skipped. Plain
// or gzip. Errors name the line, the column and the byte.
//
// Rows for the test set are chosen at random, as tables are often sorted; training rows stay in the
// order of the file.
#pragma once

#include <filesystem>
#include <string>

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

constexpr int most_csv_classes = 65536;

struct CsvOptions {
    std::string column;                       // of the label or target
    Prediction predicts = Prediction::label;  // or number
    double test_share = 0.2;                  // of the rows, rounded; a row is left for training
};

/// Classes are 0 .. the largest label. Throws DataError. Requires a label or number to predict, and
/// test_share in [0, 1).
Dataset read_csv(const std::filesystem::path& path, const CsvOptions& options,
                 RandomStream& stream);

}  // namespace paceline
