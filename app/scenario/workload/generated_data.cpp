#include "app/scenario/workload/generated_data.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/data/artificial_language.hpp"
#include "models/data/digits.hpp"
#include "models/data/gaussian_mixture.hpp"
#include "models/data/linear_regression.hpp"
#include "models/data/standardize.hpp"
#include "models/data/teacher_network.hpp"

namespace paceline {

namespace {

constexpr auto mixture_keys = std::to_array<std::string_view>(
    {"kind", "seed", "partition", "components", "dimension", "classes", "scale", "train", "test"});
constexpr auto teacher_keys =
    std::to_array<std::string_view>({"kind", "seed", "partition", "dimension", "hidden", "classes",
                                     "gain", "label_noise", "train", "test"});
constexpr auto regression_keys = std::to_array<std::string_view>(
    {"kind", "seed", "partition", "rows", "test_rows", "dimension", "noise", "spread"});
constexpr auto digits_keys = std::to_array<std::string_view>(
    {"kind", "seed", "partition", "channels", "size", "distortion", "noise", "train", "test"});
constexpr auto language_keys =
    std::to_array<std::string_view>({"kind", "seed", "partition", "vocabulary", "word_classes",
                                     "zipf", "sharpness", "memory", "steps", "train", "test"});

constexpr std::int64_t most_samples = 100'000'000;
constexpr std::int64_t most_features = 10'000'000;
constexpr std::int64_t most_numbers = std::int64_t{1} << 32;  // in a data set: 16 GiB

// Reads a whole number if the key is present.
void read_count(const ObjectReader& read, std::string_view key, std::int64_t most, int& count) {
    if (const auto p = read.optional(key)) count = static_cast<int>(as_integer(*p, 1, most));
}
void read_positive(const ObjectReader& read, std::string_view key, double& number) {
    if (const auto p = read.optional(key)) number = as_number_above(*p, 0, 1e6);
}
void read_nonnegative(const ObjectReader& read, std::string_view key, double& number) {
    if (const auto p = read.optional(key)) number = as_number_up_to(*p, 1e6);
}

void check_size(const ObjectReader& read, std::int64_t samples, std::int64_t features) {
    if (samples * features > most_numbers)
        read.place().refuse(fmt::format("{} samples of {} numbers are too many; {} fit", samples,
                                        features, most_numbers));
    const Bytes need = samples * features * Bytes{4};
    const AvailableMemory& memory = read.place().outside().memory();
    if (memory.is_below(need))
        read.place().refuse(fmt::format("{} samples of {} numbers need {}; give fewer", samples,
                                        features, beside_free(need, memory)));
}

// Fills in the size of a data set whose counts are known.
DataShape sized(DataShape shape) {
    shape.bytes = size_of_samples(shape.train + shape.test, shape.features, shape.steps);
    return shape;
}

// Checks the size of the matrix that generates the samples.
void check_source(const ObjectReader& read, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = 100'000'000;  // as many as a model that trains may have
    if (rows * columns > most)
        read.place().refuse(fmt::format("is made by {} x {} numbers, which are too many; {} fit",
                                        rows, columns, most));
}

DataPlan plan_mixture(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    GaussianMixtureOptions options;
    read_count(read, "components", 1'000'000, options.components);
    read_count(read, "dimension", most_features, options.dimension);
    read_count(read, "classes", 1'000'000, options.classes);
    read_nonnegative(read, "scale", options.scale);
    read_count(read, "train", most_samples, options.train);
    read_count(read, "test", most_samples, options.test);
    check_size(read, std::int64_t{options.train} + options.test, options.dimension);
    check_source(read, options.components, options.dimension);
    if (options.components < options.classes)
        read.place().refuse(fmt::format("has {} components for {} classes; give one for each",
                                        options.components, options.classes));
    return {sized({.train = options.train,
                   .test = options.test,
                   .features = options.dimension,
                   .classes = options.classes,
                   .one_class = options.classes == 1}),
            [options, streams] { return gaussian_mixture(options, streams); }};
}

DataPlan plan_teacher(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    TeacherNetworkOptions options;
    read_count(read, "dimension", most_features, options.dimension);
    read_count(read, "hidden", most_features, options.hidden);
    if (const auto p = read.optional("classes"))
        options.classes = static_cast<int>(as_integer(*p, 2, 1'000'000));
    read_positive(read, "gain", options.gain);
    if (const auto p = read.optional("label_noise")) options.label_noise = as_number_up_to(*p, 1);
    read_count(read, "train", most_samples, options.train);
    read_count(read, "test", most_samples, options.test);
    check_size(read, std::int64_t{options.train} + options.test, options.dimension);
    check_source(read, options.hidden, std::int64_t{options.dimension} + options.classes);
    return {sized({.train = options.train,
                   .test = options.test,
                   .features = options.dimension,
                   .classes = options.classes}),
            [options, streams] { return teacher_network(options, streams); }};
}

DataPlan plan_digits(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    DigitsOptions options;
    if (const auto p = read.optional("channels")) {
        options.channels = static_cast<int>(as_integer(*p, 1, 3));
        if (options.channels == 2) p->refuse("is 1 (gray) or 3 (colors)");
    }
    if (const auto p = read.optional("size"))
        options.size = static_cast<int>(as_integer(*p, 8, 1024));
    if (const auto p = read.optional("distortion")) {
        const double factor = as_number_up_to(*p, 4);
        options.shift *= factor;
        options.rotation *= factor;
        options.scale *= factor;
        options.shear *= factor;
        options.warp *= factor;
    }
    read_nonnegative(read, "noise", options.noise);
    read_count(read, "train", most_samples, options.train);
    read_count(read, "test", most_samples, options.test);
    const std::int64_t pixels = std::int64_t{options.channels} * options.size * options.size;
    check_size(read, std::int64_t{options.train} + options.test, pixels);
    return {sized({.train = options.train,
                   .test = options.test,
                   .features = pixels,
                   .classes = 10,
                   .image = {options.channels, options.size, options.size}}),
            [options, streams] {
                Dataset data = digits(options, streams);
                standardize(data);
                return data;
            }};
}

DataPlan plan_language(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    ArtificialLanguageOptions options;
    read_count(read, "vocabulary", 1'000'000, options.vocabulary);
    read_count(read, "word_classes", 1000, options.word_classes);
    constexpr double most_exponent = 20;  // frequencies and odds above it exceed a double's range
    if (const auto p = read.optional("zipf")) options.zipf = as_number_up_to(*p, most_exponent);
    if (const auto p = read.optional("sharpness"))
        options.sharpness = as_number_up_to(*p, most_exponent);
    if (const auto p = read.optional("memory")) options.memory = as_number_up_to(*p, 1);
    read_count(read, "steps", 100'000, options.steps);
    read_count(read, "train", most_samples, options.train);
    read_count(read, "test", most_samples, options.test);
    check_size(read, std::int64_t{options.train} + options.test, options.steps + 1);
    constexpr std::int64_t most_tokens = std::numeric_limits<int>::max() - 1;
    if (std::int64_t{std::max(options.train, options.test)} * options.steps > most_tokens)
        read.place().refuse(fmt::format("{} samples of {} tokens are too many; {} tokens fit",
                                        std::max(options.train, options.test), options.steps,
                                        most_tokens));
    if (options.vocabulary < options.word_classes)
        read.place().refuse(fmt::format("has {} words in {} classes; give each class one",
                                        options.vocabulary, options.word_classes));
    return {sized({.train = options.train,
                   .test = options.test,
                   .steps = options.steps,
                   .predicts = Prediction::next_token,
                   .classes = options.vocabulary}),
            [options, streams] { return artificial_text(options, streams); }};
}

DataPlan plan_regression(const ObjectReader& read, int workers, const RandomStreams& streams) {
    LinearRegressionOptions options;
    options.nodes = workers;
    read_count(read, "rows", most_samples, options.rows);
    read_count(read, "test_rows", most_samples, options.test_rows);
    read_count(read, "dimension", most_features, options.dimension);
    read_nonnegative(read, "noise", options.noise);
    read_nonnegative(read, "spread", options.spread);
    check_size(read, workers * (std::int64_t{options.rows} + options.test_rows), options.dimension);
    return {sized({.train = std::int64_t{workers} * options.rows,
                   .test = std::int64_t{workers} * options.test_rows,
                   .features = options.dimension,
                   .predicts = Prediction::number}),
            [options, streams] { return linear_regression(options, streams); }};
}

constexpr auto generated_kinds = std::to_array<DataEntry>({
    {"gaussian-mixture", "clouds of points, several to a class", mixture_keys, &plan_mixture,
     false},
    {"teacher-network", "points labelled by a random two-layer net", teacher_keys, &plan_teacher,
     false},
    {"linear-regression", "each worker with its own optimum, in blocks", regression_keys,
     &plan_regression, true},
    {"digits", "drawn digits, distorted: images", digits_keys, &plan_digits, false},
    {"artificial-language", "text of a seeded grammar with Zipf words", language_keys,
     &plan_language, false},
});

}  // namespace

std::span<const DataEntry> generated_data() {
    return generated_kinds;
}

}  // namespace paceline
