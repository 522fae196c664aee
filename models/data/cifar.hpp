// CIFAR-10, binary version: small color images of ten kinds of things.
//
// A file is records of 3073 bytes: a label 0 .. 9, then 32 x 32 pixels of red, of green, of blue,
// each row by row. Plain or gzip, not the tar archive that they come in. Pixels become [0, 1] by
// division by 255.
//
// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009, and the data
// set's page.
#pragma once

#include <filesystem>
#include <vector>

#include "models/data/dataset.hpp"

namespace paceline {

/// Training files one after the other. Throws DataError. Requires a training file or more.
Dataset read_cifar10(const std::vector<std::filesystem::path>& train,
                     const std::filesystem::path& test);

}  // namespace paceline
