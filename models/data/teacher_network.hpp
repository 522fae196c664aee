// Labels from a teacher: a random two-layer net decides the class of each random point.
//
//   input   x ~ N(0, I_d)
//   label   argmax_c (V tanh(W x))_c      W ~ gain N(0, I) / sqrt(d),  V ~ N(0, I)
//
// A share `label_noise` of the labels, in the training and in the test set alike, is replaced by
// one of the other classes, uniformly. The best accuracy is therefore 1 - label_noise. The teacher
// is odd in x, so no class is favored on average, but class sizes are only roughly equal. A student
// of the teacher's width can represent it. The class borders become more nonlinear as `gain` grows.
#pragma once

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct TeacherNetworkOptions {
    int dimension = 32;
    int hidden = 16;
    int classes = 10;
    double gain = 3;
    double label_noise = 0;
    int train = 16384;
    int test = 4096;
};

/// Label noise changes neither the inputs nor the remaining labels. Requires dimension, hidden >=
/// 1, classes >= 2, gain > 0, label_noise in [0, 1], train >= 1 and test >= 0.
Dataset teacher_network(const TeacherNetworkOptions& options, const RandomStreams& streams);

}  // namespace paceline
