// IDX files: the images and labels of MNIST and its relatives (Fashion-MNIST, KMNIST, EMNIST).
//
//   images   00 00 08 03, count, height, width (big-endian uint32), then count*height*width bytes
//   labels   00 00 08 01, count, then count bytes
//
// A file must have exactly the size that its header implies, which is checked before anything of
// that size is allocated. Pixels are divided by 255 to lie in [0, 1].
//
// Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits", file formats.
#pragma once

#include "models/data/dataset.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

struct IdxFiles {
    FileContent train_images;
    FileContent train_labels;
    FileContent test_images;
    FileContent test_labels;
};

/// Classes are the labels that occur in training (classes.hpp); tests have no others. Throws
/// DataError.
Dataset read_idx(IdxFiles files);

}  // namespace paceline
