#include "models/data/files/cifar.hpp"

#include <array>

#include <doctest/doctest.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::cifar_test {
namespace {

std::string record(int label, std::uint32_t seed) {
    return std::string(1, static_cast<char>(label)) + some_bytes(3072, seed);
}

TEST_CASE(
    "cifar: records are a label and 3072 bytes over 255, training files one after the other") {
    const std::string first = record(9, 1) + record(0, 2);
    const std::string second = record(4, 3);

    const std::array train{file_of(first), file_of(gzip(second))};
    const Dataset data = read_cifar10(train, file_of(record(7, 4)));

    CHECK(data.train.labels == Eigen::Vector3i(9, 0, 4));
    CHECK(data.test.labels == Eigen::VectorXi::Constant(1, 7));
    CHECK(data.classes == 10);
    CHECK(data.image.channels == 3);
    CHECK(data.image.height == 32);
    const std::string all = first + second;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3072; ++i) {
            const auto byte =
                static_cast<unsigned char>(all[static_cast<std::size_t>(3073 * j + 1 + i)]);
            REQUIRE(data.train.inputs(i, j) == static_cast<float>(byte) / 255);
        }
}

TEST_CASE("cifar: what is wrong with a file is said, and at which byte") {
    const FileContent good = file_of(record(1, 1));
    const auto refused = [&](const std::string& content) {
        const std::array train{good, file_of(content)};
        return refusal([&] { read_cifar10(train, good); });
    };

    CHECK(refused("") == "byte 0: the file has 0 bytes; CIFAR-10 is records of 3073");
    CHECK(refused(record(1, 1) + "x") ==
          "byte 3073: the file has 3074 bytes; CIFAR-10 is records of 3073");
    CHECK(refused(record(1, 1) + record(10, 2)) == "byte 3073: label 10; CIFAR-10 has 0 to 9");
    CHECK(refused(record(255, 2)) == "byte 0: label 255; CIFAR-10 has 0 to 9");
    CHECK(refused(record(9, 2)) == "nothing");
}

}  // namespace
}  // namespace paceline::cifar_test
