#include "app/scenario/workload/data.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/study/study_file.hpp"
#include "models/data/artificial_language.hpp"
#include "models/data/digits.hpp"
#include "models/data/files/cifar.hpp"
#include "models/data/files/csv.hpp"
#include "models/data/files/idx.hpp"
#include "models/data/files/text.hpp"
#include "models/data/gaussian_mixture.hpp"
#include "models/data/linear_regression.hpp"
#include "models/data/standardize.hpp"
#include "models/data/teacher_network.hpp"
#include "tests/app/studies/training_study.hpp"
#include "tests/models/data/data_files.hpp"

namespace paceline::data_test {
namespace {

const TrainingStudy study;

DataChoice data(const std::string& json,
                const std::string& model = R"({"kind": "mlp", "hidden": []})",
                const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings{"workload.data=" + json, "workload.model=" + model};
    settings.insert(settings.end(), more.begin(), more.end());
    return study.scenario(settings).training.value().data;
}

bool same(const Samples& a, const Samples& b) {
    const auto alike = [](const auto& x, const auto& y) {
        return x.rows() == y.rows() && x.cols() == y.cols() && x == y;
    };
    return alike(a.inputs, b.inputs) && alike(a.tokens, b.tokens) && alike(a.labels, b.labels) &&
           alike(a.targets, b.targets);
}

void check_is(const DataChoice& choice, const Dataset& expected) {
    CHECK(choice.shape == shape_of(*choice.set()));
    CHECK(same(choice.set()->train, expected.train));
    CHECK(same(choice.set()->test, expected.test));
    CHECK(choice.set()->predicts == expected.predicts);
    CHECK(choice.set()->classes == expected.classes);
    CHECK(choice.set()->image.channels == expected.image.channels);
    CHECK(choice.set()->image.height == expected.image.height);
}

constexpr const char* lstm = R"({"kind": "lstm", "hidden": 4})";
constexpr const char* linear = R"({"kind": "linear-regression"})";

TEST_CASE(
    "data: every option of a Gaussian mixture is read, the seed is its own or the scenario's") {
    check_is(data(R"({"kind": "gaussian-mixture", "components": 12, "dimension": 5, "classes": 4,
                     "scale": 0.5, "train": 70, "test": 30, "seed": 9})"),
             gaussian_mixture({12, 5, 4, 0.5, 70, 30}, RandomStreams(9)));
    check_is(data(R"({"kind": "gaussian-mixture"})"), gaussian_mixture({}, RandomStreams(1)));
    check_is(
        data(R"({"kind": "gaussian-mixture"})", R"({"kind": "mlp", "hidden": []})", {"seed=5"}),
        gaussian_mixture({}, RandomStreams(5)));
}

TEST_CASE("data: every option of a teacher network is read") {
    check_is(data(R"({"kind": "teacher-network", "dimension": 6, "hidden": 3, "classes": 4,
                     "gain": 2, "label_noise": 0.25, "train": 70, "test": 30})"),
             teacher_network({6, 3, 4, 2, 0.25, 70, 30}, RandomStreams(1)));
    check_is(data(R"({"kind": "teacher-network", "seed": 3})"),
             teacher_network({}, RandomStreams(3)));
}

TEST_CASE("data: linear regression is made for the workers, a block each") {
    const DataChoice choice =
        data(R"({"kind": "linear-regression", "rows": 11, "test_rows": 6, "dimension": 3,
                 "noise": 0.5, "spread": 2})",
             linear);

    check_is(choice, linear_regression({4, 11, 6, 3, 0.5, 2}, RandomStreams(1)));
    CHECK(choice.deal(4, RandomStreams(1)) == partition_contiguous(44, 4));
    check_is(data(R"({"kind": "linear-regression"})", linear, {"cluster.nodes=7"}),
             linear_regression({.nodes = 7}, RandomStreams(1)));
}

TEST_CASE("data: every option of digits is read, and images are standardized") {
    DigitsOptions options{.channels = 3, .size = 10, .noise = 0.3, .train = 20, .test = 10};
    for (double* one :
         {&options.shift, &options.rotation, &options.scale, &options.shear, &options.warp})
        *one *= 0.5;
    Dataset expected = digits(options, RandomStreams(4));
    standardize(expected);

    check_is(data(R"({"kind": "digits", "channels": 3, "size": 10, "distortion": 0.5, "noise": 0.3,
                      "train": 20, "test": 10, "seed": 4})"),
             expected);
}

TEST_CASE("data: every option of the artificial language is read") {
    ArtificialLanguageOptions options;
    options.vocabulary = 30;
    options.word_classes = 5;
    options.zipf = 0.5;
    options.sharpness = 2;
    options.memory = 0.25;
    options.steps = 7;
    options.train = 20;
    options.test = 10;

    check_is(data(R"({"kind": "artificial-language", "vocabulary": 30, "word_classes": 5,
                      "zipf": 0.5, "sharpness": 2, "memory": 0.25, "steps": 7, "train": 20,
                      "test": 10})",
                  lstm),
             artificial_text(options, RandomStreams(1)));
}

TEST_CASE("data: a table of numbers is read from beside the scenario, by label or by target") {
    std::string table = "a,b,class,height\n";
    for (int i = 0; i < 40; ++i)
        table += std::to_string(i) + "," + std::to_string(i * i % 7) + "," + std::to_string(i % 3) +
                 "," + std::to_string(i) + ".5\n";
    static_cast<void>(study.folder.write("tables/some.csv", table));
    RandomStream by_label = RandomStreams(1).stream("test rows");
    RandomStream by_target = RandomStreams(8).stream("test rows");
    Dataset labels = read_csv(file_of(table), {"class", Prediction::label, 0.2}, by_label);
    standardize(labels);

    check_is(data(R"({"kind": "csv", "file": "tables/some.csv", "label": "class"})"), labels);
    check_is(data(R"({"kind": "csv", "file": "tables/some.csv", "target": "height", "seed": 8,
                      "test_share": 0.5, "standardize": false})",
                  linear),
             read_csv(file_of(table), {"height", Prediction::number, 0.5}, by_target));
}

TEST_CASE("data: images of IDX files are read, standardized or as they are") {
    const auto images = [](std::uint32_t count, std::uint32_t seed) {
        return big_endian(0x803) + big_endian(count) + big_endian(4) + big_endian(4) +
               some_bytes(std::size_t{16} * count, seed);
    };
    const auto labels = [](std::uint32_t count) {
        std::string bytes = big_endian(0x801) + big_endian(count);
        for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 3);
        return bytes;
    };
    const std::array<std::string, 4> files{images(9, 1), labels(9), images(5, 2), labels(5)};
    for (std::size_t i = 0; i < files.size(); ++i)
        static_cast<void>(study.folder.write(std::string(1, "abcd"[i]) + ".idx", files[i]));
    const std::string json = R"({"kind": "idx", "train_images": "a.idx", "train_labels": "b.idx",
                                 "test_images": "c.idx", "test_labels": "d.idx")";
    Dataset expected =
        read_idx({file_of(files[0]), file_of(files[1]), file_of(files[2]), file_of(files[3])});

    check_is(data(json + R"(, "standardize": false})"), expected);
    standardize(expected);
    check_is(data(json + "}"), expected);
}

TEST_CASE("data: CIFAR-10 is read from several files") {
    const auto record = [](char label, std::uint32_t seed) {
        return std::string(1, label) + some_bytes(3072, seed);
    };
    const std::string one = record(3, 1) + record(9, 2);
    const std::string two = record(0, 3) + record(1, 4);
    const std::string test = record(7, 5);
    for (const auto& [name, bytes] :
         {std::pair{"one.bin", one}, {"two.bin", two}, {"test.bin", test}})
        static_cast<void>(study.folder.write(name, bytes));
    const std::string json =
        R"({"kind": "cifar-10", "train": ["one.bin", "two.bin"], "test": "test.bin")";
    const std::array train{file_of(one), file_of(two)};
    Dataset expected = read_cifar10(train, file_of(test));

    check_is(data(json + R"(, "standardize": false})"), expected);
    standardize(expected);
    check_is(data(json + "}"), expected);
}

TEST_CASE("data: every option of a text is read") {
    std::string words;
    for (int i = 0; i < 300; ++i)
        words += "abcdefgh"[i * i % 8] + std::string(i % 5 == 0 ? "\n" : " ");
    static_cast<void>(study.folder.write("some.txt", words));

    check_is(data(R"({"kind": "text", "file": "some.txt"})", lstm),
             read_text(file_of(words), {}).data);
    check_is(data(R"({"kind": "text", "file": "some.txt", "unit": "characters", "vocabulary": 5,
                      "steps": 4, "test_share": 0.25})",
                  lstm),
             read_text(file_of(words), {TextUnit::characters, 5, 4, 0.25}).data);
}

TEST_CASE("data: each partition deals the training samples by its own rule") {
    const auto dealt = [](const std::string& partition) {
        return data(R"({"kind": "gaussian-mixture", "train": 90, "test": 5)" + partition + "}")
            .deal(4, RandomStreams(6));
    };
    const Eigen::VectorXi labels =
        gaussian_mixture({.train = 90, .test = 5}, RandomStreams(1)).train.labels;
    const auto stream = [] { return RandomStreams(6).stream("partition"); };
    RandomStream first = stream();
    RandomStream second = stream();
    RandomStream third = stream();

    CHECK(dealt("") == dealt(R"(, "partition": {"kind": "iid"})"));
    CHECK(dealt("") == partition_iid(90, 4, first));
    CHECK(dealt(R"(, "partition": {"kind": "contiguous"})") == partition_contiguous(90, 4));
    CHECK(dealt(R"(, "partition": {"kind": "label-sorted"})") == partition_label_sorted(labels, 4));
    CHECK(dealt(R"(, "partition": {"kind": "partly-shuffled", "share": 0.25})") ==
          partition_partly_shuffled(labels, 4, 0.25, second));
    CHECK(dealt(R"(, "partition": {"kind": "dirichlet", "alpha": 0.5})") ==
          partition_dirichlet(labels, 4, 0.5, third));
}

// The oracle stands in the table: what a client has for x is its number.
TEST_CASE("data: a column of a table deals its rows to clients, and is no feature") {
    std::string table = "x,client,y\n";
    for (int i = 0; i < 60; ++i) table += fmt::format("{},c{},{}\n", i * 7 % 5, i * 7 % 5, i % 2);
    (void)study.folder.write("clients.csv", table);
    const auto by = [](const std::string& partition) {
        return data(R"({"kind": "csv", "file": "clients.csv", "label": "y", "standardize": false,
                        "partition": )" +
                    partition + "}");
    };
    const DataChoice choice = by(R"({"kind": "column", "column": "client"})");
    CHECK(choice.shape.features == 1);
    CHECK_FALSE(choice.shards_are_even);
    const Samples& train = choice.set()->train;
    const auto check = [&](int workers) {
        const Shards shards = choice.deal(workers, RandomStreams(6));
        std::size_t all = 0;
        for (int worker = 0; worker < workers; ++worker) {
            const std::vector<int>& shard = shards[static_cast<std::size_t>(worker)];
            CHECK_FALSE(shard.empty());
            all += shard.size();
            for (const int sample : shard)
                CHECK(static_cast<int>(train.inputs(0, sample)) % workers == worker);
        }
        CHECK(all == static_cast<std::size_t>(choice.shape.train));
    };
    check(5);
    check(3);
    check(1);
    // Another partition of the same file has the column as a feature, so it is other data
    CHECK_THROWS_AS((void)by(R"({"kind": "iid"})"), ConfigError);  // "c0" is no number
    CHECK_THROWS_AS((void)by(R"({"kind": "column", "column": "who"})"), ConfigError);
    CHECK_THROWS_AS((void)by(R"({"kind": "column", "column": "y"})"), ConfigError);
}

TEST_CASE("data: points of a study share what they say alike, however it is dealt") {
    const std::string file = study.folder.write("swept.json", [] {
        std::string json(small_training);
        json.insert(json.rfind('}'), R"(, "sweep": {"cluster.nodes": [2, 4],
            "workload.data.partition": [{"label": "a", "kind": "iid"},
                                        {"label": "b", "kind": "label-sorted"}], "seed": [1, 2]})");
        return json;
    }());
    const Study points = read_study(file, {});

    REQUIRE(points.points.size() == 8);
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const bool same_seed = i % 2 == j % 2;
            CHECK((points.points[i].scenario.training->data.set() ==
                   points.points[j].scenario.training->data.set()) == same_seed);
        }
}

TEST_CASE(
    "data: files are read with the scenario, and what is generated is not made before a run") {
    const auto is_made = [](const DataChoice& choice, const Sources& sources) {
        bool made = true;
        (void)sources.data_sets()->get(choice.identity, [&] {
            made = false;
            return Dataset{};
        });
        return made;
    };
    std::string json(small_training);
    json.insert(json.rfind('}'), R"(, "sweep": {"seed": [1, 2, 3]})");
    const std::string file = study.folder.write("lazy.json", json);
    (void)study.folder.write("lazy.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n9,1\n");
    for (const bool of_file : {false, true}) {
        std::vector<std::string> settings;
        if (of_file)
            settings = {R"(workload.data={"kind": "csv", "file": "lazy.csv", "label": "y"})"};
        const Study points = read_study(file, settings);
        for (const Point& point : points.points)
            CHECK(is_made(point.scenario.training->data, points.sources) == of_file);
    }
}

TEST_CASE("data: what is made for the workers is made anew for another number of them") {
    std::string json(small_training);
    json.insert(json.rfind('}'), R"(, "sweep": {"cluster.nodes": [2, 3]})");
    const Study points = read_study(study.folder.write("sizes.json", json),
                                    {R"(workload.data={"kind": "linear-regression", "rows": 9})",
                                     std::string("workload.model=") + linear});

    CHECK(points.points[0].scenario.training->data.set()->train.count() == 18);
    CHECK(points.points[1].scenario.training->data.set()->train.count() == 27);
}

TEST_CASE("data: what is read from files without drawing is read once for all seeds") {
    (void)study.folder.write("words.txt", [] {
        std::string words;
        for (int i = 0; i < 2000; ++i) words += "ab"[i % 2] + std::string(" ");
        return words;
    }());
    std::string json(small_training);
    json.insert(json.rfind('}'), R"(, "sweep": {"seed": [1, 2]})");
    const Study points = read_study(study.folder.write("seeds.json", json),
                                    {R"(workload.data={"kind": "text", "file": "words.txt"})",
                                     std::string("workload.model=") + lstm});

    CHECK(points.points[0].scenario.training->data.set() ==
          points.points[1].scenario.training->data.set());
}

}  // namespace
}  // namespace paceline::data_test
