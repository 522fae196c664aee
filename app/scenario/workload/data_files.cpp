#include "app/scenario/workload/data_files.hpp"

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/data/files/cifar.hpp"
#include "models/data/files/csv.hpp"
#include "models/data/files/data_error.hpp"
#include "models/data/files/file_content.hpp"
#include "models/data/files/idx.hpp"
#include "models/data/files/text.hpp"
#include "models/data/standardize.hpp"

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

// Loads files; kept by what reads them again.
class Loader {
  public:
    explicit Loader(const ObjectReader& read) : data_(read.place().outside().data) {}
    [[nodiscard]] FileContent operator()(const std::string& file) const {
        return inflated({file, data_(file)});
    }

  private:
    std::function<std::vector<unsigned char>(const std::string&)> data_;
};

// Returns the plan of what `from_files` reads, whose errors are errors of the scenario. It is read
// once now, and again if there is no room to keep it.
DataPlan plan_of(const Place& place, std::function<Dataset()> from_files) {
    const auto make = [from_files = std::move(from_files)] {
        try {
            return from_files();
        } catch (const DataError& error) {
            throw ConfigError(error.file(), fmt::format("byte {}", error.offset()),
                              error.problem());
        }
    };
    Dataset made = make();
    const DataShape shape = shape_of(made);
    const auto again = [make, shape, file = *place.file, path = place.path] {
        Dataset data = make();
        if (shape_of(data) != shape)
            throw ConfigError(file, path, "its files have changed since they were read");
        return data;
    };
    return {shape, again, std::move(made), false};
}

bool wants_standardized(const ObjectReader& read) {
    const auto p = read.optional("standardize");
    return !p || as_bool(*p);
}

Dataset standardized(Dataset data, bool wanted) {
    if (wanted) standardize(data);
    return data;
}

double read_test_share(const ObjectReader& read, double otherwise) {
    const auto p = read.optional("test_share");
    return p ? as_number_above(*p, 0, 0.9) : otherwise;
}

DataPlan plan_idx(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    std::array<std::string, 4> files;
    for (std::size_t i = 0; i < files.size(); ++i) files[i] = required_file(read, idx_file_keys[i]);
    return plan_of(read.place(), [load = Loader(read), files, wanted = wants_standardized(read)] {
        return standardized(read_idx({.train_images = load(files[0]),
                                      .train_labels = load(files[1]),
                                      .test_images = load(files[2]),
                                      .test_labels = load(files[3])}),
                            wanted);
    });
}

DataPlan plan_cifar(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    const Place train = read.required("train", "a list of batch files");
    if (!train.json->is_array() || train.json->empty()) train.refuse("is not a list of files");
    std::vector<std::string> files;
    for (std::size_t i = 0; i < train.json->size(); ++i) files.push_back(as_file(train.element(i)));
    const std::string test = required_file(read, "test");
    return plan_of(read.place(),
                   [load = Loader(read), files, test, wanted = wants_standardized(read)] {
                       std::vector<FileContent> batches;
                       for (const std::string& file : files) batches.push_back(load(file));
                       return standardized(read_cifar10(batches, load(test)), wanted);
                   });
}

DataPlan plan_text(const ObjectReader& read, int /*workers*/, const RandomStreams& /*streams*/) {
    TextOptions options;
    if (const auto p = read.optional("unit")) options.unit = as_choice(*p, "a unit of text", units);
    if (const auto p = read.optional("vocabulary"))
        options.vocabulary = static_cast<int>(as_integer(*p, 2, 1'000'000));
    if (const auto p = read.optional("steps"))
        options.steps = static_cast<int>(as_integer(*p, 1, 100'000));
    options.test_share = read_test_share(read, options.test_share);
    const std::string file = required_file(read, "file");
    return plan_of(read.place(), [load = Loader(read), file, options] {
        return read_text(load(file), options).data;
    });
}

DataPlan plan_csv(const ObjectReader& read, int /*workers*/, const RandomStreams& streams) {
    read.not_both("label", "target");
    CsvOptions options;
    options.predicts = read.has("target") ? Prediction::number : Prediction::label;
    options.column =
        as_string(read.has("target") ? *read.optional("target")
                                     : read.required("label",
                                                     "the column of classes; or "
                                                     "\"target\", a column of numbers"));
    options.test_share = read_test_share(read, options.test_share);
    if (const auto p = read.optional("partition"); p && p->json->is_object())
        if (const auto column = p->json->find("column");
            column != p->json->end() && column->is_string())
            options.group = column->get<std::string>();
    const std::string file = required_file(read, "file");
    const Loader load(read);
    DataPlan plan =
        plan_of(read.place(), [load, file, options, streams, wanted = wants_standardized(read)] {
            RandomStream stream = streams.stream("test rows");
            return standardized(read_csv(load(file), options, stream), wanted);
        });
    if (!options.group.empty()) {
        RandomStream stream = streams.stream("test rows");
        plan.groups = read_grouped_csv(load(file), options, stream).groups;
    }
    return plan;
}

constexpr auto file_kinds = std::to_array<DataEntry>({
    {"idx", "MNIST and its family, gzip or not", idx_keys, &plan_idx, false},
    {"cifar-10", "its binary version", cifar_keys, &plan_cifar, false},
    {"text", "words or characters of a plain file", text_keys, &plan_text, false},
    {"csv", "numbers in columns, a header line above", csv_keys, &plan_csv, false},
});

}  // namespace

std::span<const DataEntry> data_in_files() {
    return file_kinds;
}

}  // namespace paceline
