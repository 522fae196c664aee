// CIFAR-10, binary version: small color images of ten kinds of things.
//
// A file consists of records of 3073 bytes: a label 0 .. 9, then 32 x 32 pixels of red, of green
// and of blue, each row by row. The tar archive in which the files are distributed is not read.
// Pixels are divided by 255 to lie in [0, 1].
//
// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009, and the data
// set's page.
#pragma once

#include <span>

#include "models/data/dataset.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

/// Reads the training files in order. Throws DataError. Requires at least one training file.
Dataset read_cifar10(std::span<const FileContent> train, const FileContent& test);

}  // namespace paceline
