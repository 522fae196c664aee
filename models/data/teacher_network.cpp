#include "models/data/teacher_network.hpp"

#include <cmath>
#include <string>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "models/data/normal.hpp"
#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

struct Teacher {
    Eigen::MatrixXf first;   // W
    Eigen::MatrixXf second;  // V
};

Teacher random_teacher(const TeacherNetworkOptions& options, RandomStream stream) {
    Teacher teacher{.first = Eigen::MatrixXf(options.hidden, options.dimension),
                    .second = Eigen::MatrixXf(options.classes, options.hidden)};
    fill_normal(teacher.first, stream);
    fill_normal(teacher.second, stream);
    teacher.first *= static_cast<float>(options.gain / std::sqrt(options.dimension));
    return teacher;
}

void add_label_noise(Eigen::VectorXi& labels, int classes, double share, RandomStream stream) {
    boost::random::uniform_01<double> uniform;
    boost::random::uniform_int_distribution<int> step(1, classes - 1);
    for (int& label : labels)
        if (uniform(stream) < share) label = (label + step(stream)) % classes;
}

Samples draw(int count, const Teacher& teacher, RandomStream stream) {
    Samples samples;
    samples.inputs.resize(teacher.first.cols(), count);
    fill_normal(samples.inputs, stream);
    samples.labels.resize(count);
    for (Eigen::Index j = 0; j < count; ++j) {
        Eigen::VectorXf hidden = product(teacher.first, samples.inputs.col(j));
        for (float& unit : hidden)
            unit = static_cast<float>(elementary::tanh(static_cast<double>(unit)));
        product(teacher.second, hidden).maxCoeff(&samples.labels[j]);
    }
    return samples;
}

}  // namespace

Dataset teacher_network(const TeacherNetworkOptions& options, const RandomStreams& streams) {
    PACELINE_CHECK(options.dimension >= 1 && options.hidden >= 1, "a teacher has layers");
    PACELINE_CHECK(options.classes >= 2, "a teacher tells two classes or more apart");
    PACELINE_CHECK(options.gain > 0, "a teacher's gain is positive");
    PACELINE_CHECK(options.label_noise >= 0 && options.label_noise <= 1, "a share is in [0, 1]");
    PACELINE_CHECK(options.train >= 1 && options.test >= 0, "there is a training sample or more");
    const Teacher teacher = random_teacher(options, streams.stream("teacher-network.teacher"));
    const auto draw_set = [&](int count, const std::string& name) {
        Samples samples = draw(count, teacher, streams.stream(name));
        add_label_noise(samples.labels, options.classes, options.label_noise,
                        streams.stream(name + ".noise"));
        return samples;
    };
    return {.train = draw_set(options.train, "teacher-network.train"),
            .test = draw_set(options.test, "teacher-network.test"),
            .predicts = Prediction::label,
            .classes = options.classes};
}

}  // namespace paceline
