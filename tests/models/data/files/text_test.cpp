#include "models/data/files/text.hpp"

#include <doctest/doctest.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::text_test {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("text: words are numbered by how often training has them, equals by appearance") {
    const FileContent file = file_of("b a\tc  a\r\n\n<unk> d a c");

    const Text text = read_text(file, {.vocabulary = 100, .steps = 9, .test_share = 0});

    CHECK(text.words == Strings{"<unk>", "a", "c", "<eos>", "b", "d"});
    CHECK(text.data.classes == 6);
    CHECK(text.data.predicts == Prediction::next_token);
    REQUIRE(text.data.train.count() == 1);
    Eigen::VectorXi expected(10);
    expected << 4, 1, 2, 1, 3, 3, 0, 5, 1, 2;
    CHECK(text.data.train.tokens.col(0) == expected);
    CHECK(text.data.test.count() == 0);
}

TEST_CASE("text: words beyond the vocabulary are <unk>, and so are those that training has not") {
    const FileContent file = file_of("a a a b b c a z z z a b");

    const Text text = read_text(file, {.vocabulary = 3, .steps = 2, .test_share = 5.0 / 12});

    CHECK(text.words == Strings{"<unk>", "a", "b"});
    Eigen::MatrixXi train(3, 3);
    train << 1, 1, 2, 1, 2, 0, 1, 2, 1;
    CHECK(text.data.train.tokens == train);
    Eigen::MatrixXi test(3, 2);
    test << 0, 0, 0, 1, 0, 2;
    CHECK(text.data.test.tokens == test);
}

TEST_CASE("text: characters are the bytes, blanks and line ends included") {
    const FileContent file = file_of("ab \na\xC3\xA9 a");

    const Text text = read_text(file, {.unit = TextUnit::characters, .steps = 7, .test_share = 0});

    CHECK(text.words == Strings{"<unk>", "a", " ", "b", "\n", "\xC3", "\xA9"});
    Eigen::VectorXi expected(8);
    expected << 1, 3, 2, 4, 1, 5, 6, 2;
    CHECK(text.data.train.tokens.col(0) == expected);
}

TEST_CASE("text: a gzip file gives what a plain one gives") {
    std::string content;
    for (const char c : some_bytes(2000, 1))
        content += (c % 5 == 0) ? ' ' : static_cast<char>('a' + (c & 3));
    const Text plain = read_text(file_of(content), {.vocabulary = 20, .steps = 3});
    const Text packed = read_text(file_of(gzip(content)), {.vocabulary = 20, .steps = 3});

    CHECK(plain.words == packed.words);
    CHECK(plain.words.size() == 20);
    CHECK(plain.data.train.tokens == packed.data.train.tokens);
    CHECK(plain.data.test.tokens == packed.data.test.tokens);
    CHECK(plain.data.test.tokens.maxCoeff() < 20);
}

TEST_CASE("text: what is wrong with a file is said, and at which byte") {
    const auto refused = [&](const std::string& content, double test_share) {
        const TextOptions options{.steps = 2, .test_share = test_share};
        return refusal([&] { read_text(file_of(content), options); });
    };

    CHECK(refused("", 0) == "byte 0: the training part of the text has 0 tokens; a sample has 3");
    CHECK(refused("a b", 0) ==
          "byte 3: the training part of the text has 2 tokens; a sample has 3");
    CHECK(refused("a b c", 0) == "nothing");
    CHECK(refused("a b c d", 0.25) ==
          "byte 7: the test part of the text has 1 tokens; a sample has 3");
    CHECK(refused(std::string("a b\0c d", 7), 0) ==
          "byte 3: a NUL byte, which text cannot contain");
    CHECK(refused(std::string("\xEF\xBB\xBFx b\0c d", 10), 0) ==
          "byte 6: a NUL byte, which text cannot contain");
    for (const char* mark : {"\xFF\xFE", "\xFE\xFF"})
        CHECK(refused(std::string(mark) + "a", 0) ==
              "byte 0: the file is UTF-16 or UTF-32; save it as UTF-8");
}

TEST_CASE("text, property: any bytes are read or refused") {
    for (std::uint32_t seed = 0; seed < 100; ++seed)
        for (const TextUnit unit : {TextUnit::words, TextUnit::characters}) {
            CAPTURE(seed);
            const FileContent file = file_of(some_bytes(seed, seed));
            const auto read = [&] {
                const Text text = read_text(file, {.unit = unit, .vocabulary = 9, .steps = 1});
                CHECK(text.data.train.tokens.minCoeff() >= 0);
                CHECK(text.data.train.tokens.maxCoeff() < text.data.classes);
            };
            static_cast<void>(refusal(read));
        }
}

}  // namespace
}  // namespace paceline::text_test
