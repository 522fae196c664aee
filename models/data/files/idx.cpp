#include "models/data/files/idx.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/data/files/classes.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

namespace {

constexpr std::uint32_t images_magic = 0x0803;  // bytes, three dimensions
constexpr std::uint32_t labels_magic = 0x0801;
constexpr std::size_t labels_begin = 8;

std::uint32_t read_number(const FileContent& content, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | content.bytes[at + i];
    return number;
}

/// Returns the dimensions in the header after checking that the file has exactly the size they
/// imply.
std::vector<std::uint32_t> read_header(const FileContent& content, std::uint32_t magic,
                                       std::string_view kind) {
    const std::size_t length = content.bytes.size();
    const std::size_t header = 4 + 4 * std::size_t{magic & 0xff};
    if (length < header)
        throw DataError(
            content.name, length,
            fmt::format("an IDX file of {} begins with {} bytes of header", kind, header));
    if (const std::uint32_t found = read_number(content, 0); found != magic)
        throw DataError(content.name, 0,
                        fmt::format("the file begins with {:08x}; an IDX file of {} with {:08x}",
                                    found, kind, magic));
    std::vector<std::uint32_t> dimensions;
    std::uint64_t expected = 1;
    for (std::size_t at = 4; at < header; at += 4) {
        dimensions.push_back(read_number(content, at));
        const std::uint64_t dimension = dimensions.back();
        if (dimension == 0 || dimension > most_content / expected)
            throw DataError(content.name, at,
                            fmt::format("dimension {} is {}; it is 1 or more, and the product of "
                                        "all at most {}",
                                        dimensions.size(), dimension, most_content));
        expected *= dimension;
    }
    if (length - header != expected)
        throw DataError(content.name, std::min<std::uint64_t>(length, header + expected),
                        fmt::format("the header says {} bytes of {}; {} follow it", expected, kind,
                                    length - header));
    return dimensions;
}

struct Images {
    std::string file;
    Eigen::MatrixXf inputs;
    ImageShape shape;
};

// Takes the content, so that it is freed when the pixels are numbers.
Images read_images(FileContent content) {
    const auto dimensions = read_header(content, images_magic, "images");
    const auto count = static_cast<Eigen::Index>(dimensions[0]);
    const auto height = static_cast<int>(dimensions[1]);
    const auto width = static_cast<int>(dimensions[2]);
    using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic>;
    const Eigen::Map<const Bytes> pixels(content.bytes.data() + 16, Eigen::Index{height} * width,
                                         count);
    return {.file = std::move(content.name),
            .inputs = pixels.cast<float>() / 255.0f,
            .shape = {.channels = 1, .height = height, .width = width}};
}

/// Requires as many labels as images.
std::vector<unsigned char> read_labels(const FileContent& content, Eigen::Index images) {
    const auto dimensions = read_header(content, labels_magic, "labels");
    if (dimensions[0] != images)
        throw DataError(
            content.name, 4,
            fmt::format("the file says {} labels; its images are {}", dimensions[0], images));
    return {content.bytes.begin() + labels_begin, content.bytes.end()};
}

/// Requires labels of the classes.
Eigen::VectorXi numbered(const std::string& file, const std::vector<unsigned char>& labels,
                         const Classes<unsigned char>& classes) {
    Eigen::VectorXi numbers(static_cast<Eigen::Index>(labels.size()));
    for (std::size_t j = 0; j < labels.size(); ++j) {
        const std::optional<int> number = classes.of(labels[j]);
        if (!number)
            throw DataError(file, labels_begin + j,
                            fmt::format("label {} does not occur in training, which has {}",
                                        labels[j], fmt::join(classes.labels(), ", ")));
        numbers[static_cast<Eigen::Index>(j)] = *number;
    }
    return numbers;
}

}  // namespace

Dataset read_idx(IdxFiles files) {
    Dataset data;
    Images train = read_images(std::move(files.train_images));
    Images test = read_images(std::move(files.test_images));
    data.image = train.shape;
    if (test.shape.height != data.image.height || test.shape.width != data.image.width)
        throw DataError(
            test.file, test.shape.height != data.image.height ? 8 : 12,
            fmt::format("images of {} by {}; those of training are {} by {}", test.shape.height,
                        test.shape.width, data.image.height, data.image.width));
    data.train.inputs = std::move(train.inputs);
    data.test.inputs = std::move(test.inputs);
    const auto train_labels = read_labels(files.train_labels, data.train.count());
    const auto test_labels = read_labels(files.test_labels, data.test.count());
    const Classes<unsigned char> classes(train_labels);
    data.classes = classes.count();
    data.train.labels = numbered(files.train_labels.name, train_labels, classes);
    data.test.labels = numbered(files.test_labels.name, test_labels, classes);
    return data;
}

}  // namespace paceline
