#include "app/scenario/workload/profiles.hpp"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"
#include "app/scenario/workload/decoder_sizes.hpp"
#include "app/scenario/workload/devices.hpp"
#include "models/decoder.hpp"

namespace paceline {

namespace {

constexpr std::string_view folder = "models/profiles/";
constexpr std::string_view ending = ".json";

constexpr auto profile_keys =
    std::to_array<std::string_view>({"name", "title", "source", "sample", "tokens", "dataset",
                                     "layers", "batch", "transformer", "published", "throughput"});
constexpr auto dataset_keys = std::to_array<std::string_view>({"name", "samples", "source"});
constexpr auto layer_keys =
    std::to_array<std::string_view>({"name", "macs", "source", "tensors", "forward", "backward"});
constexpr auto tensor_keys = std::to_array<std::string_view>({"name", "shape"});
constexpr auto throughput_keys = std::to_array<std::string_view>(
    {"device", "gpus", "precision", "batch", "samples_per_s", "source"});

constexpr std::int64_t most_profile_entries = std::int64_t{1} << 50;

std::vector<Place> elements(const Place& place, bool may_be_empty) {
    if (!place.json->is_array()) place.refuse("is not a list; write [...]");
    if (place.json->empty() && !may_be_empty) place.refuse("is empty; give at least one element");
    std::vector<Place> all;
    for (std::size_t i = 0; i < place.json->size(); ++i) all.push_back(place.element(i));
    return all;
}

Tensor read_tensor(const Place& place) {
    const ObjectReader read(place, tensor_keys);
    Tensor tensor{as_string(read.required("name", "the tensor's name")), {}};
    const Place shape = read.required("shape", "the tensor's extents, such as [64, 3, 7, 7]");
    std::int64_t entries = 1;
    for (const Place& extent : elements(shape, false)) {
        tensor.shape.push_back(as_integer(extent, 1, most_profile_entries));
        if (__builtin_mul_overflow(entries, tensor.shape.back(), &entries) ||
            entries > most_profile_entries)
            shape.refuse(fmt::format("a tensor has at most {} entries", most_profile_entries));
    }
    return tensor;
}

// Reads what one gradient was measured to spend on a layer.
std::optional<LayerTimes> read_times(const ObjectReader& read) {
    if (!read.has("forward") && !read.has("backward")) return std::nullopt;
    return LayerTimes{
        as_duration(read.required("forward", "the layer has a measured \"backward\"; give both")),
        as_duration(read.required("backward", "the layer has a measured \"forward\"; give both"))};
}

ProfileLayer read_layer(const Place& place) {
    const ObjectReader read(place, layer_keys);
    ProfileLayer layer;
    layer.name = as_string(read.required("name", "the layer's name"));
    layer.macs = static_cast<double>(
        as_integer(read.required("macs", "forward multiply-accumulates per sample, 0 if none"), 0,
                   std::numeric_limits<std::int64_t>::max()));
    for (const Place& tensor : elements(read.required("tensors", "a list, may be empty"), true))
        layer.tensors.push_back(read_tensor(tensor));
    layer.times = read_times(read);
    return layer;
}

// Times are measured of all layers or of none, and take the clock further.
void check_times(const Place& layers, const Profile& profile) {
    const bool measured = profile.layers.front().times.has_value();
    Duration all{};
    for (std::size_t i = 0; i < profile.layers.size(); ++i) {
        const std::optional<LayerTimes>& times = profile.layers[i].times;
        if (times.has_value() != measured)
            layers.element(i).refuse(fmt::format(
                "has {} times, and layers[0] has {}; state \"forward\" and \"backward\" "
                "of every layer, or of none",
                measured ? "no" : "measured", measured ? "some" : "none"));
        if (times) all = sum(all, sum(times->forward, times->backward));
    }
    if (!measured) return;
    if (all == Duration::zero())
        layers.refuse(
            "take no time, forward and backward; state what was measured, or leave both out");
    if (all == Duration::max()) layers.refuse("take longer than the clock can represent, 106 days");
}

MeasuredThroughput read_throughput(const Place& place) {
    const ObjectReader read(place, throughput_keys);
    MeasuredThroughput row;
    row.device = as_string(read.required("device", "what it was measured on, such as \"p100\""));
    row.samples_per_s =
        as_number_above(read.required("samples_per_s", "training throughput"), 0, 1e12);
    row.source = as_string(read.required("source", "where the figure comes from"));
    if (const auto batch = read.optional("batch")) row.batch = as_integer(*batch, 1, 1'000'000'000);
    if (const auto precision = read.optional("precision")) row.precision = as_precision(*precision);
    return row;
}

constexpr auto sized_keys = std::to_array<std::string_view>({"transformer"});
constexpr std::string_view example_of_sizes =
    "such as {\"layers\": 24, \"width\": 1024, \"heads\": 16, \"vocabulary\": 50304, "
    "\"context\": 1024}";

// Reads what the net consists of: its layers, or the sizes that they follow from.
void read_net(const ObjectReader& read, Profile& profile) {
    read.not_both("layers", "transformer");
    if (const auto sizes = read.optional("transformer")) {
        Profile made = decoder_profile(read_decoder(*sizes));
        profile.layers = std::move(made.layers);
        if (profile.sample.empty()) profile.sample = std::move(made.sample);
        profile.tokens = made.tokens;
        profile.decoder = made.decoder;
        return;
    }
    std::int64_t entries = 0;
    const Place layers =
        read.required("layers", "a list in forward order; or give the sizes of a \"transformer\"");
    for (const Place& layer : elements(layers, false)) {
        profile.layers.push_back(read_layer(layer));
        for (const Tensor& tensor : profile.layers.back().tensors) {
            entries += tensor.entries();
            if (entries > most_profile_entries)
                layers.refuse(fmt::format("a net has at most {} parameters", most_profile_entries));
        }
    }
    if (entries == 0) layers.refuse("the net has no parameters; give a layer its tensors");
    check_times(layers, profile);
}

// Reads the samples of the gradient whose layers were measured.
void read_measured_batch(const ObjectReader& read, Profile& profile) {
    const auto batch = read.optional("batch");
    if (!batch) return;
    if (profile.layers.empty() || !profile.layers.front().times)
        batch->refuse(
            "is the one that the layers' times were measured with, and no layer has \"forward\" "
            "and \"backward\"; the batch of a scenario belongs in its workload");
    profile.batch = as_integer(*batch, 1, 1'000'000'000);
}

std::shared_ptr<const TensorTimes> shared_times(const Profile& profile) {
    auto times = profile.tensor_times();
    return times ? std::make_shared<const TensorTimes>(std::move(*times)) : nullptr;
}

// A net by its sizes.
ChargedNetPtr sized_net(const Place& place) {
    const ObjectReader read(place, sized_keys);
    const DecoderSizes sizes = read_decoder(read.required("transformer", example_of_sizes));
    return place.outside().cache->once<ChargedNet>(
        "sizes " + place.json->dump(), [&] { return ChargedNet(decoder_profile(sizes)); });
}

}  // namespace

ChargedNet::ChargedNet(Profile of)
    : profile(std::move(of)),
      layout(profile.layout()),
      tensor_macs(std::make_shared<const std::vector<double>>(profile.tensor_macs())),
      tensor_times(shared_times(profile)) {}

std::vector<std::string_view> profile_names() {
    std::vector<std::string_view> names;
    for (const EmbeddedFile& entry : resources()) {
        if (!entry.name.starts_with(folder)) continue;
        names.push_back(
            entry.name.substr(folder.size(), entry.name.size() - folder.size() - ending.size()));
    }
    return names;
}

Profile shipped_profile(std::string_view name) {
    const std::string file = fmt::format("{}{}{}", folder, name, ending);
    return read_profile(parse_json(resource(file), file), file);
}

Profile read_profile(const Json& json, const std::string& file) {
    const ObjectReader read({&json, &file, ""}, profile_keys);
    Profile profile;
    profile.name = as_string(read.required("name", "a short name"));
    profile.source = as_string(read.required("source", "where the architecture comes from"));
    if (const auto title = read.optional("title")) profile.title = as_string(*title);
    if (const auto sample = read.optional("sample")) profile.sample = as_string(*sample);
    if (const auto dataset = read.optional("dataset")) {
        const ObjectReader in(*dataset, dataset_keys);
        profile.dataset_samples =
            as_integer(in.required("samples", "training samples"), 1, std::int64_t{1} << 50);
    }
    read_net(read, profile);
    if (profile.sample == "token") profile.tokens = 1;
    if (const auto tokens = read.optional("tokens")) {
        if (profile.decoder) tokens->refuse("are the \"context\" of the transformer; leave it out");
        profile.tokens = as_integer(*tokens, 1, 1'000'000'000);
    }
    read_measured_batch(read, profile);
    if (const auto throughput = read.optional("throughput"))
        for (const Place& row : elements(*throughput, true))
            profile.throughput.push_back(read_throughput(row));
    return profile;
}

ChargedNetPtr load_profile(const Place& place) {
    if (place.json->is_object()) return sized_net(place);
    ContentCache& cache = *place.outside().cache;
    const std::string name = as_string(place);
    if (name.ends_with(ending)) {
        const std::string file = as_file(place);
        return cache.once<ChargedNet>("profile " + file, [&] {
            return ChargedNet(read_profile(parse_json(place.outside().text(file), file), file));
        });
    }
    const std::vector<std::string_view> known = profile_names();
    const std::size_t index =
        as_name(place, "a built-in profile, nor a file that ends in .json", known);
    return cache.once<ChargedNet>(fmt::format("built-in {}", known[index]),
                                  [&] { return ChargedNet(shipped_profile(known[index])); });
}

}  // namespace paceline
