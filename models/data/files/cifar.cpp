#include "models/data/files/cifar.hpp"

#include <fmt/format.h>

#include "models/data/files/data_error.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr std::size_t pixels = std::size_t{3} * 32 * 32;
constexpr std::size_t record = 1 + pixels;

/// Throws unless the file has one or more complete records with labels 0 to 9.
void check_records(const FileContent& content) {
    const std::size_t length = content.bytes.size();
    if (length == 0 || length % record != 0)
        throw DataError(
            content.name, length - length % record,
            fmt::format("the file has {} bytes; CIFAR-10 is records of {}", length, record));
    for (std::size_t at = 0; at < length; at += record)
        if (content.bytes[at] > 9)
            throw DataError(content.name, at,
                            fmt::format("label {}; CIFAR-10 has 0 to 9", content.bytes[at]));
}

Samples read_samples(std::span<const FileContent> files) {
    std::size_t count = 0;
    for (const FileContent& file : files) {
        check_records(file);
        count += file.bytes.size() / record;
    }
    Samples samples;
    samples.inputs.resize(static_cast<Eigen::Index>(pixels), static_cast<Eigen::Index>(count));
    samples.labels.resize(static_cast<Eigen::Index>(count));
    Eigen::Index j = 0;
    for (const FileContent& file : files)
        for (std::size_t at = 0; at < file.bytes.size(); at += record, ++j) {
            using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, 1>;
            const Eigen::Map<const Bytes> image(file.bytes.data() + at + 1,
                                                static_cast<Eigen::Index>(pixels));
            samples.labels[j] = file.bytes[at];
            samples.inputs.col(j) = image.cast<float>() / 255.0f;
        }
    return samples;
}

}  // namespace

Dataset read_cifar10(std::span<const FileContent> train, const FileContent& test) {
    PACELINE_CHECK(!train.empty(), "there is a file of training samples");
    return {.train = read_samples(train),
            .test = read_samples({&test, 1}),
            .predicts = Prediction::label,
            .classes = 10,
            .image = {.channels = 3, .height = 32, .width = 32}};
}

}  // namespace paceline
