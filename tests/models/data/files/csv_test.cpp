#include "models/data/files/csv.hpp"

#include <cmath>
#include <compare>
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::models_csv_test {
namespace {

RandomStream stream(std::uint64_t seed = 1) {
    return RandomStreams(seed).stream("csv");
}

Dataset read(std::string_view content, const CsvOptions& options) {
    RandomStream rows = stream();
    return read_csv(file_of(content), options, rows);
}

TEST_CASE("csv: every column but the label's is a feature, in order") {
    const std::string content =
        "\xEF\xBB\xBFwidth, \"petal, length\" ,kind,age\r\n"
        "1.5,-2e3,2,0\r\n"
        " 0.25 ,\t7, 0,1e-60\r\n"
        "3,4,1,\"5\"";

    const Dataset data = read(content, {.column = "kind", .test_share = 0});

    CHECK(data.predicts == Prediction::label);
    CHECK(data.classes == 3);
    CHECK(data.train.labels == Eigen::Vector3i(2, 0, 1));
    Eigen::MatrixXf expected(3, 3);
    expected << 1.5f, 0.25f, 3, -2000, 7, 4, 0, 0, 5;
    CHECK(data.train.inputs == expected);
    CHECK(data.test.count() == 0);
    const Dataset packed = read(gzip(content), {.column = "kind", .test_share = 0});
    CHECK(packed.train.inputs == data.train.inputs);
}

TEST_CASE("csv: the column of groups is no feature, and says whose the training rows are") {
    const std::string content = "x,user,y\n1,eve,0\n2,ann,1\n3,eve,0\n4,bob,1\n";
    RandomStream rows = stream();
    const GroupedData grouped =
        read_grouped_csv(file_of(content), {.column = "y", .test_share = 0, .group = "user"}, rows);

    CHECK(grouped.data.train.inputs == Eigen::RowVector4f(1, 2, 3, 4));
    CHECK(grouped.groups == std::vector<int>{2, 0, 2, 1});
    const Dataset without = read("x,y\n1,0\n2,1\n3,0\n4,1\n", {.column = "y", .test_share = 0});
    CHECK(without.train.inputs == grouped.data.train.inputs);
    CHECK(without.train.labels == grouped.data.train.labels);
}

// Each row has its group as its feature, so the oracle stands in the data.
TEST_CASE("csv, property: groups are those of the rows that are left for training") {
    std::mt19937 random(3);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
    for (int round = 0; round < 30; ++round) {
        std::string content = "x,user,y\n";
        for (int i = 0; i < 40; ++i) {
            const unsigned user = random() % 12;
            content += fmt::format("{},{},{}\n", user, user, i % 2);
        }
        RandomStream rows = stream(static_cast<std::uint64_t>(round));
        const GroupedData grouped = read_grouped_csv(
            file_of(content), {.column = "y", .test_share = 0.5, .group = "user"}, rows);
        std::set<float> users;
        for (Eigen::Index i = 0; i < grouped.data.train.count(); ++i)
            users.insert(grouped.data.train.inputs(0, i));
        for (Eigen::Index i = 0; i < grouped.data.train.count(); ++i) {
            const auto place = users.find(grouped.data.train.inputs(0, i));
            CHECK(grouped.groups[static_cast<std::size_t>(i)] ==
                  std::distance(users.begin(), place));
        }
    }
}

// Returns the classes of these labels, all of them training samples.
Dataset labelled(const std::vector<std::string>& labels) {
    std::string content = "x,y\n";
    for (const std::string& label : labels) content += fmt::format("1,{}\n", label);
    return read(content, {.column = "y", .test_share = 0});
}

TEST_CASE("csv: classes are the labels that occur, numbers by value and names by their letters") {
    struct Case {
        std::vector<std::string> labels;
        std::vector<int> classes;
    };
    const std::vector<Case> cases{
        {{"0", "255", "0"}, {0, 1, 0}},
        {{"-1", "1", "1"}, {0, 1, 1}},
        {{"10", "9", "100"}, {1, 0, 2}},
        {{"1.0", "1e1", "1", "\"10\""}, {0, 1, 0, 1}},
        {{"99999999999", "65536"}, {1, 0}},
        {{"red", "blue", "red"}, {1, 0, 1}},
        {{"\"not, red\"", "blue", " blue "}, {1, 0, 0}},
        {{"7"}, {0}},
    };
    for (const Case& one : cases) {
        CAPTURE(fmt::format("{}", fmt::join(one.labels, " ")));
        const Dataset data = labelled(one.labels);

        CHECK(std::vector<int>(data.train.labels.begin(), data.train.labels.end()) == one.classes);
        CHECK(data.classes == std::set<int>(one.classes.begin(), one.classes.end()).size());
    }
}

TEST_CASE("csv, property: classes number the labels without gaps and in order") {
    std::mt19937_64 random(5);
    for (int repetition = 0; repetition < 200; ++repetition) {
        std::vector<int> numbers(1 + random() % 30);
        for (int& number : numbers) number = static_cast<int>(random() % 40) - 20;
        std::vector<std::string> texts;
        for (const int number : numbers) texts.push_back(std::to_string(number));
        const Dataset data = labelled(texts);

        const Eigen::VectorXi& classes = data.train.labels;
        CHECK(data.classes == std::set<int>(numbers.begin(), numbers.end()).size());
        CHECK(classes.minCoeff() == 0);
        CHECK(classes.maxCoeff() == data.classes - 1);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                CHECK((numbers[i] <=> numbers[j]) == (classes[static_cast<Eigen::Index>(i)] <=>
                                                      classes[static_cast<Eigen::Index>(j)]));
    }
}

TEST_CASE("csv: empty lines are ignored wherever they are") {
    const Dataset plain = read("x,y\n1,0\n2,1\n", {.column = "y", .test_share = 0});
    for (const char* content : {"x,y\n1,0\n2,1\n\n", "x,y\r\n1,0\r\n2,1\r\n\r\n \t\r\n",
                                "\n\nx,y\n\n1,0\n  \n2,1", "\xEF\xBB\xBF\nx,y\n1,0\n2,1\n\n\n\n"}) {
        CAPTURE(content);
        const Dataset data = read(content, {.column = "y", .test_share = 0});
        CHECK(data.train.inputs == plain.train.inputs);
        CHECK(data.train.labels == plain.train.labels);
    }
}

TEST_CASE("csv: a target is a number") {
    const Dataset data = read("y,x\n0.5,1\n-3,2\n",
                              {.column = "y", .predicts = Prediction::number, .test_share = 0});
    CHECK(data.predicts == Prediction::number);
    CHECK(data.train.targets == Eigen::Vector2f(0.5f, -3));
    CHECK(data.train.labels.size() == 0);
    CHECK(data.train.inputs == Eigen::RowVector2f(1, 2));
}

TEST_CASE("csv: test rows are a random share, every row is in one part, in order") {
    std::string content = "row,label\n";
    for (int row = 0; row < 40; ++row) content += fmt::format("{},{}\n", row, row % 4);
    const CsvOptions options{.column = "label", .test_share = 0.25};

    Eigen::VectorXd tested = Eigen::VectorXd::Zero(40);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomStream rows = stream(seed);
        const Dataset data = read_csv(file_of(content), options, rows);
        REQUIRE(data.train.count() == 30);
        REQUIRE(data.test.count() == 10);
        std::set<float> all;
        for (const Samples& part : {data.train, data.test})
            for (Eigen::Index j = 0; j < part.count(); ++j) {
                all.insert(part.inputs(0, j));
                if (j > 0) CHECK(part.inputs(0, j - 1) < part.inputs(0, j));
                CHECK(part.labels[j] == static_cast<int>(part.inputs(0, j)) % 4);
            }
        CHECK(all.size() == 40);
        for (Eigen::Index j = 0; j < 10; ++j) tested[static_cast<int>(data.test.inputs(0, j))] += 1;
    }
    CHECK((tested.array() - 100).abs().maxCoeff() < 5 * std::sqrt(400 * 0.25 * 0.75));
}

TEST_CASE("csv: what is wrong with a file is said: line, column and byte") {
    const auto refused = [&](const std::string& content, Prediction predicts = Prediction::label) {
        return refusal([&] { read(content, {.column = "y", .predicts = predicts}); });
    };

    CHECK(refused("") == "byte 0: line 0: the file is empty; its first line names the columns");
    CHECK(refused("x,z\n1,2\n") == "byte 0: line 1: no column \"y\"; there are: x, z");
    CHECK(refused("y\n1\n") == "byte 0: line 1: one column only; features are others");
    CHECK(refused("x,y,x\n") == "byte 4: line 1, column \"x\": a second column of this name");
    CHECK(refused("x,,y\n") == "byte 2: line 1: a column without a name");
    CHECK(refused("x,\"y\n1,2\n") == "byte 2: line 1: a quote without its other end");
    CHECK(refused("x,y\n") == "byte 4: line 1: no line of numbers follows the header");
    CHECK(refused("x,y\n1,2\n3\n") == "byte 8: line 3: 1 fields; the header names 2");
    CHECK(refused("x,y\n1,2,3\n") == "byte 4: line 2: 3 fields; the header names 2");
    CHECK(refused("x,y\n\n1,2\n\n 3\n") == "byte 11: line 5: 1 fields; the header names 2");
    CHECK(refused("\n \n") ==
          "byte 3: line 2: the file is empty; its first line names the columns");
    CHECK(refused("\xFF\xFEx") == "byte 0: the file is UTF-16 or UTF-32; save it as UTF-8");
    CHECK(refused("x,y\n1,2\n q1,0\n") ==
          "byte 9: line 3, column \"x\": \"q1\" is not a number within +-3.4e+38");
    for (const char* number : {"", "nan", "inf", "1e39", "-1e400", "1 2", "0x10", "1;2"})
        CHECK(refused(fmt::format("x,y\n{},0\n", number)) ==
              fmt::format("byte 4: line 2, column \"x\": \"{}\" is not a number within +-3.4e+38",
                          number));
    CHECK(refused("x,y\n1,\n") ==
          "byte 6: line 2, column \"y\": \"\" is not a label; every row has one");
    CHECK(refused("x,y\n1,1.5\n") ==
          "byte 6: line 2, column \"y\": \"1.5\" is not a label; labels are whole numbers or "
          "names, and a number to predict is a \"target\"");
    for (const char* label : {"cat", "nan", "1e999", "0x1"})
        CHECK(refused(fmt::format("x,y\n1,1\n\n1,{}\n", label)) ==
              fmt::format("byte 11: line 4, column \"y\": \"{}\" is not a whole number, as the "
                          "labels above it are; labels are all whole numbers or all names",
                          label));
    for (const char* label : {"9007199254740992", "9007199254740993", "-9007199254740992"})
        CHECK(refused(fmt::format("x,y\n1,{}\n", label)) ==
              fmt::format("byte 6: line 2, column \"y\": \"{}\" is beyond the labels that can be "
                          "distinguished, which are within +-2^53",
                          label));
    CHECK(refused("x,y\n1,cat\n1,2\n") ==
          "byte 12: line 3, column \"y\": \"2\" is a number, and the labels above it are names; "
          "labels are all whole numbers or all names");
    std::string many = "x,y\n";
    for (int row = 0; row <= most_csv_classes; ++row) many += fmt::format("1,{}\n", row);
    CHECK(refused(many) ==
          "byte 6: line 2, column \"y\": a column of 65537 labels; there are at "
          "most 65536 classes");
    CHECK(refused("x,y\n1,1.5\n", Prediction::number) == "nothing");
}

TEST_CASE("csv, property: a table cut off anywhere or with a byte changed is read or refused") {
    const std::string whole = "\"x\",y\n1.25,0\n-3,1\n";
    const auto try_to_read = [&](const std::string& content) {
        static_cast<void>(refusal([&] { read(content, {.column = "y"}); }));
    };
    for (std::size_t length = 0; length < whole.size(); ++length)
        try_to_read(whole.substr(0, length));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const char byte : {'\0', '"', ',', '\n', '\r', '9', '\xff', ' '}) {
            std::string changed = whole;
            changed[at] = byte;
            try_to_read(changed);
        }
}

}  // namespace
}  // namespace paceline::models_csv_test
