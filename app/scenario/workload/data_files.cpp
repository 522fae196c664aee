#include "app/scenario/workload/data_files.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/data/cifar.hpp"
#include "models/data/csv.hpp"
#include "models/data/data_error.hpp"
#include "models/data/file_content.hpp"
#include "models/data/idx.hpp"
#include "models/data/standardize.hpp"
#include "models/data/text.hpp"

namespace paceline {

namespace {

constexpr auto idx_keys =
    std::to_array<std::string_view>({"kind", "partition", "train_images", "train_labels",
                                     "test_images", "test_labels", "standardize"});
constexpr auto idx_file_keys =
    std::to_array<std::string_view>({"train_images", "train_labels", "test_images", "test_labels"});
constexpr auto cifar_keys =
    std::to_array<std::string_view>({"kind", "partition", "train", "test", "standardize"});
constexpr auto text_keys = std::to_array<std::string_view>(
    {"kind", "partition", "file", "unit", "vocabulary", "steps", "test_share"});
constexpr auto csv_keys = std::to_array<std::string_view>(
    {"kind", "seed", "partition", "file", "label", "target", "test_share", "standardize"});
constexpr auto units = std::to_array<Spelling<TextUnit>>(
    {{"words", TextUnit::words}, {"characters", TextUnit::characters}});

std::string required_file(const ObjectReader& read, std::string_view key) {
    return as_file(read.required(key, "a file, relative to this one"));
}

FileContent content_of(const ObjectReader& read, const std::string& file) {
    return inflated({file, read.place().outside().data(file)});
}

// Returns what `from_files` reads, and reports its errors as errors of the scenario.
template <class Read>
Dataset read_or_refuse(Read from_files) {
    try {
        return from_files();
    } catch (const DataError& error) {
        throw ConfigError(error.file(), fmt::format("byte {}", error.offset()), error.problem());
    }
}

Dataset standardized(const ObjectReader& read, Dataset data) {
    const auto p = read.optional("standardize");
    if (!p || as_bool(*p)) standardize(data);
    return data;
}

double read_test_share(const ObjectReader& read, double otherwise) {
    const auto p = read.optional("test_share");
    return p ? as_number_above(*p, 0, 0.9) : otherwise;
}

Dataset make_idx(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    std::array<std::string, 4> files;
    for (std::size_t i = 0; i < files.size(); ++i) files[i] = required_file(read, idx_file_keys[i]);
    return standardized(read, read_or_refuse([&] {
                            return read_idx({.train_images = content_of(read, files[0]),
                                             .train_labels = content_of(read, files[1]),
                                             .test_images = content_of(read, files[2]),
                                             .test_labels = content_of(read, files[3])});
                        }));
}

Dataset make_cifar(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    const Place train = read.required("train", "a list of batch files");
    if (!train.json->is_array() || train.json->empty()) train.refuse("is not a list of files");
    std::vector<std::string> files;
    for (std::size_t i = 0; i < train.json->size(); ++i) files.push_back(as_file(train.element(i)));
    const std::string test = required_file(read, "test");
    return standardized(read, read_or_refuse([&] {
                            std::vector<FileContent> batches;
                            for (const std::string& file : files)
                                batches.push_back(content_of(read, file));
                            return read_cifar10(batches, content_of(read, test));
                        }));
}

Dataset make_text(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    TextOptions options;
    if (const auto p = read.optional("unit")) options.unit = as_choice(*p, "a unit of text", units);
    if (const auto p = read.optional("vocabulary"))
        options.vocabulary = static_cast<int>(as_integer(*p, 2, 1'000'000));
    if (const auto p = read.optional("steps"))
        options.steps = static_cast<int>(as_integer(*p, 1, 100'000));
    options.test_share = read_test_share(read, options.test_share);
    const std::string file = required_file(read, "file");
    return read_or_refuse([&] { return read_text(content_of(read, file), options).data; });
}

Dataset make_csv(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    read.not_both("label", "target");
    CsvOptions options;
    options.predicts = read.has("target") ? Prediction::number : Prediction::label;
    options.column =
        as_string(read.has("target") ? *read.optional("target")
                                     : read.required("label",
                                                     "the column of classes; or "
                                                     "\"target\", a column of numbers"));
    options.test_share = read_test_share(read, options.test_share);
    const std::string file = required_file(read, "file");
    RandomStream stream = streams.stream("test rows");
    return standardized(
        read, read_or_refuse([&] { return read_csv(content_of(read, file), options, stream); }));
}

constexpr auto file_kinds = std::to_array<DataEntry>({
    {"idx", "MNIST and its family, gzip or not", idx_keys, &make_idx, false},
    {"cifar-10", "its binary version", cifar_keys, &make_cifar, false},
    {"text", "words or characters of a plain file", text_keys, &make_text, false},
    {"csv", "numbers in columns, a header line above", csv_keys, &make_csv, false},
});

}  // namespace

std::span<const DataEntry> data_in_files() {
    return file_kinds;
}

}  // namespace paceline
