#include "models/data/gaussian_mixture.hpp"

#include <boost/random/uniform_int_distribution.hpp>

#include "models/data/normal.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Samples draw(int count, const Eigen::MatrixXf& means, int classes, RandomStream stream) {
    boost::random::uniform_int_distribution<int> component(0, static_cast<int>(means.cols()) - 1);
    Samples samples;
    samples.inputs.resize(means.rows(), count);
    samples.labels.resize(count);
    for (int j = 0; j < count; ++j) {
        const int k = component(stream);
        fill_normal(samples.inputs.col(j), stream);
        samples.inputs.col(j) += means.col(k);
        samples.labels[j] = k % classes;
    }
    return samples;
}

}  // namespace

Eigen::MatrixXf gaussian_mixture_means(const GaussianMixtureOptions& options,
                                       const RandomStreams& streams) {
    PACELINE_CHECK(options.dimension >= 1, "an input has a feature or more");
    PACELINE_CHECK(options.classes >= 1, "there is a class or more");
    PACELINE_CHECK(options.components >= options.classes, "every class has a component");
    PACELINE_CHECK(options.scale >= 0, "means are spread by a scale that is not negative");
    Eigen::MatrixXf means(options.dimension, options.components);
    RandomStream stream = streams.stream("gaussian-mixture.means");
    fill_normal(means, stream);
    return static_cast<float>(options.scale) * means;
}

Dataset gaussian_mixture(const GaussianMixtureOptions& options, const RandomStreams& streams) {
    PACELINE_CHECK(options.train >= 1 && options.test >= 0, "there is a training sample or more");
    const Eigen::MatrixXf means = gaussian_mixture_means(options, streams);
    const auto draw_set = [&](int count, const char* name) {
        return draw(count, means, options.classes, streams.stream(name));
    };
    return {.train = draw_set(options.train, "gaussian-mixture.train"),
            .test = draw_set(options.test, "gaussian-mixture.test"),
            .predicts = Prediction::label,
            .classes = options.classes};
}

}  // namespace paceline
