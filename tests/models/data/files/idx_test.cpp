#include "models/data/files/idx.hpp"

#include <doctest/doctest.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::idx_test {
namespace {

const std::string images_magic{"\0\0\x08\x03", 4};
const std::string labels_magic{"\0\0\x08\x01", 4};

std::string images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                   std::uint32_t seed) {
    return images_magic + big_endian(count) + big_endian(height) + big_endian(width) +
           some_bytes(std::size_t{count} * height * width, seed);
}

std::string labels(std::string_view all) {
    return labels_magic + big_endian(static_cast<std::uint32_t>(all.size())) + std::string(all);
}

/// Four files: 4 + 2 images of 3 by 2, with labels 0 to 2. A test changes one.
struct Files {
    std::string train_images = images(4, 3, 2, 1);
    std::string train_labels = labels({"\0\1\2\1", 4});
    std::string test_images = images(2, 3, 2, 2);
    std::string test_labels = labels({"\2\0", 2});

    [[nodiscard]] Dataset read() const {
        return read_idx({file_of(train_images), file_of(train_labels), file_of(test_images),
                         file_of(test_labels)});
    }
    [[nodiscard]] std::string refused() const {
        return refusal([&] { static_cast<void>(read()); });
    }
};

TEST_CASE("idx: pixels are bytes over 255, row by row, labels as they are") {
    Files files;
    files.train_images.replace(16 + 6, 6, std::string("\0\xff\x33\x66\x99\xcc", 6));

    const Dataset data = files.read();

    CHECK(data.image.channels == 1);
    CHECK(data.image.height == 3);
    CHECK(data.image.width == 2);
    CHECK(data.classes == 3);
    CHECK(data.train.count() == 4);
    CHECK(data.test.count() == 2);
    Eigen::VectorXf second(6);
    second << 0, 1, 0.2f, 0.4f, 0.6f, 0.8f;
    CHECK(data.train.inputs.col(1).isApprox(second, 1e-6f));
    CHECK(data.train.labels == Eigen::Vector4i(0, 1, 2, 1));
    CHECK(data.test.labels == Eigen::Vector2i(2, 0));
}

TEST_CASE("idx: classes are the labels that occur in training, by value") {
    Files files;
    files.train_labels = labels({"\xff\3\x7f\3", 4});
    files.test_labels = labels({"\3\xff", 2});

    const Dataset data = files.read();

    CHECK(data.classes == 3);
    CHECK(data.train.labels == Eigen::Vector4i(2, 0, 1, 0));
    CHECK(data.test.labels == Eigen::Vector2i(0, 2));
}

TEST_CASE("idx: gzip files give what plain ones give") {
    const Files plain;
    Files packed;
    for (std::string* file :
         {&packed.train_images, &packed.train_labels, &packed.test_images, &packed.test_labels})
        *file = gzip(*file);

    const Dataset a = plain.read();
    const Dataset b = packed.read();

    CHECK(a.train.inputs == b.train.inputs);
    CHECK(a.train.labels == b.train.labels);
    CHECK(a.test.inputs == b.test.inputs);
    CHECK(a.test.labels == b.test.labels);
}

TEST_CASE("idx: what is wrong with a file is said, and at which byte") {
    struct Case {
        std::string Files::* file;
        std::string content;
        std::string refusal;
    };
    const std::vector<Case> cases{
        {&Files::train_images, "", "byte 0: an IDX file of images begins with 16 bytes of header"},
        {&Files::train_images, labels_magic + big_endian(8) + std::string(8, 'x'),
         "byte 0: the file begins with 00000801; an IDX file of images with 00000803"},
        {&Files::train_images, images(0, 3, 2, 1),
         "byte 4: dimension 1 is 0; it is 1 or more, and the product of all at most 1073741824"},
        {&Files::train_images,
         images_magic + big_endian(1 << 16) + big_endian(1 << 14) + big_endian(2),
         "byte 12: dimension 3 is 2; it is 1 or more, and the product of all at most 1073741824"},
        {&Files::train_images,
         images_magic + big_endian(0xffffffff) + big_endian(0xffffffff) + big_endian(0xffffffff),
         "byte 4: dimension 1 is 4294967295; it is 1 or more, and the product of all at most "
         "1073741824"},
        {&Files::train_images, images(4, 3, 2, 1) + "x",
         "byte 40: the header says 24 bytes of images; 25 follow it"},
        {&Files::train_images, images(4, 3, 2, 1).substr(0, 39),
         "byte 39: the header says 24 bytes of images; 23 follow it"},
        {&Files::train_labels, labels("abc"), "byte 4: the file says 3 labels; its images are 4"},
        {&Files::test_images, images(2, 2, 3, 1),
         "byte 8: images of 2 by 3; those of training are 3 by 2"},
        {&Files::test_images, images(2, 3, 1, 1),
         "byte 12: images of 3 by 1; those of training are 3 by 2"},
        {&Files::test_labels, labels({"\0\3", 2}),
         "byte 9: label 3 does not occur in training, which has 0, 1, 2"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.refusal);
        Files files;
        files.*wrong.file = wrong.content;
        CHECK(files.refused() == wrong.refusal);
    }
}

TEST_CASE(
    "idx, property: a file cut off anywhere, or with any byte of its header changed, is refused") {
    for (const auto file :
         {&Files::train_images, &Files::train_labels, &Files::test_images, &Files::test_labels}) {
        const std::string whole = Files{}.*file;
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CAPTURE(length);
            Files files;
            (files.*file).resize(length);
            CHECK(files.refused() != "nothing");
        }
        const std::size_t header = whole[3] == 3 ? 16 : 8;
        for (std::size_t at = 0; at < header; ++at)
            for (const int value : {0, 1, 2, 7, 127, 128, 255}) {
                CAPTURE(at);
                CAPTURE(value);
                Files files;
                (files.*file)[at] = static_cast<char>(value);
                if (files.*file != whole) CHECK(files.refused() != "nothing");
            }
    }
}

}  // namespace
}  // namespace paceline::idx_test
