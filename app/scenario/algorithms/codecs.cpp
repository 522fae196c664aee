#include "app/scenario/algorithms/codecs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/none.hpp"
#include "app/json/names.hpp"
#include "app/json/own_parts.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/aggregations/compressors.hpp"
#include "app/scenario/aggregations/measured_coding.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/own_codec.hpp"

namespace paceline {

namespace {

constexpr auto density_laws = std::to_array<Spelling<DensityLaw>>(
    {{"worst-case", DensityLaw::worst_case}, {"independent", DensityLaw::independent}});
constexpr auto encodings = std::to_array<Spelling<SparseFormat>>({{"run-length-16", {6, 4}},
                                                                  {"fp16-int32", {6, 2, true}},
                                                                  {"fp32-int32", {8, 4}},
                                                                  {"fp32-int64", {12, 4}}});
constexpr auto uncompresseds = std::to_array<Spelling<Uncompressed>>(
    {{"gathered", Uncompressed::in_messages}, {"all-reduced", Uncompressed::apart}});
constexpr auto decay_places = std::to_array<Spelling<DecayPlace>>(
    {{"compressed", DecayPlace::compressed}, {"outside", DecayPlace::outside}});
constexpr auto selections = std::to_array<Spelling<Selection>>(
    {{"free", Selection::free}, {"exact", Selection::exact}, {"sampled", Selection::sampled}});

double as_density(const Place& place) {
    return as_number_above(place, 0, 1);
}

WarmUp read_warm_up(const Place& place) {
    if (place.json->is_string()) {
        constexpr auto none = std::to_array<std::string_view>({"none"});
        as_name(place, "a warm-up; write \"none\" or an object", none);
        return {};
    }
    const ObjectReader read(place, definition_keys("warm_up"));
    read.not_both("steps_each", "epochs_each");
    WarmUp warm_up;
    const Place densities =
        read.required("densities", "those of the stages, such as [0.25, 0.0625]");
    if (!densities.json->is_array() || densities.json->empty())
        densities.refuse("is not a list with one density or more, such as [0.25, 0.0625]");
    for (std::size_t i = 0; i < densities.json->size(); ++i)
        warm_up.densities.push_back(as_density(
            {&(*densities.json)[i], densities.file, fmt::format("{}[{}]", densities.path, i)}));
    if (const auto p = read.optional("steps_each"))
        warm_up.steps_each = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("epochs_each"))
        warm_up.epochs_each = as_number_above(*p, 0, 1e6);
    return warm_up;
}

// Reads the features that a run that trains can switch off, and where weight decay is applied.
void read_dgc_rule(const ObjectReader& read, const Optimizer& optimizer, DgcOptions& options) {
    options.momentum = optimizer.momentum;
    options.nesterov = optimizer.nesterov;
    options.clip = optimizer.clip;
    options.weight_decay = optimizer.weight_decay;
    if (const auto p = read.optional("decay"))
        options.decay = as_choice(*p, "a place of weight decay", decay_places);
    if (const auto p = read.optional("accumulation")) options.accumulation = as_bool(*p);
    if (const auto p = read.optional("momentum_correction"))
        options.momentum_correction = as_bool(*p);
    if (const auto p = read.optional("masking")) options.masking = as_bool(*p);
}

constexpr CodecEntry no_codec{"none", "unchanged entries, in the wire format"};
constexpr auto own_codecs = std::to_array<CodecEntry>({
    {"power-sgd", "factors of low rank, two sums; its own error feedback"},
    {"dgc", "the largest accumulated entries; velocities and residuals stay with the worker"},
    {"one-bit", "signs and one scale per buffer, encoded by workers and owners (DeepSpeed)"},
});

std::vector<CodecEntry> join_codecs() {
    std::vector<CodecEntry> all{no_codec};
    for (const CompressorEntry& entry : compressor_table())
        all.push_back({entry.name, entry.summary});
    all.insert(all.end(), own_codecs.begin(), own_codecs.end());
    return all;
}

constexpr std::int64_t most_tensors = 1'000'000;

TensorChoice read_choice(const Place& place) {
    if (place.json->is_string()) return as_string(place);
    if (!whole_number(*place.json))
        place.refuse(
            "is not a tensor; write its name, or its position: 0 is the first, -1 the last");
    return as_integer(place, -most_tensors, most_tensors);
}

bool has(const Layout& layout, const TensorChoice& choice) {
    return !chosen_tensors(layout, choice).empty();
}

// Returns the names of tensors, and then those of their layers.
std::vector<std::string_view> names_of_parts(const std::vector<Tensor>& tensors) {
    std::vector<std::string_view> names = names_of(tensors);
    for (const Tensor& tensor : tensors) {
        const std::size_t dot = tensor.name.rfind('.');
        if (dot != std::string::npos) names.push_back(std::string_view(tensor.name).substr(0, dot));
    }
    return names;
}

[[noreturn]] void refuse_choice(const Place& place, const TensorChoice& choice,
                                const Layout& layout) {
    const std::vector<Tensor>& tensors = layout.tensors();
    if (const auto* const at = std::get_if<std::int64_t>(&choice))
        place.refuse(fmt::format(
            "{} is not the position of a tensor; the model has {}, from 0 to {}, or from -{} to -1",
            *at, tensors.size(), tensors.size() - 1, tensors.size()));
    const std::string_view name = std::get<std::string>(choice);
    const std::string_view meant = nearest(name.substr(0, 100), names_of_parts(tensors));
    place.refuse(fmt::format(
        "\"{}\" is not a tensor or layer of the model; {}it has {}, from \"{}\" to \"{}\"",
        name.substr(0, 100), meant.empty() ? "" : fmt::format("did you mean \"{}\"? ", meant),
        tensors.size(), tensors.front().name, tensors.back().name));
}

// Codecs that have no error feedback to choose, and why.
struct OwnMemory {
    std::string_view codec;
    std::string_view why;
};
constexpr auto own_memories = std::to_array<OwnMemory>({
    {"none", "values sent unchanged leave no error"},
    {"power-sgd", "it always adds what its factors leave out to the next gradient"},
    {"dgc", "what it does not send accumulates at the worker, see \"accumulation\""},
    {"one-bit", "its workers and owners always keep their errors"},
});

void check_memory_of_codec(const Place& place, std::string_view kind) {
    const std::span known(own_memories);
    const auto own = std::ranges::find(known, kind, &OwnMemory::codec);
    const auto key = place.json->find("error_feedback");
    if (own == known.end() || key == place.json->end()) return;
    place.child("error_feedback", *key)
        .refuse(fmt::format("is not for \"{}\": {}; leave it out", kind, own->why));
}

// Reads what is specific to a kind of codec.
Codec read_coder(const ObjectReader& read, std::string_view kind, const AlgorithmInput& in) {
    Codec codec;
    if (kind == "none") {
        codec.coder = make_none();
    } else if (kind == "power-sgd") {
        LowRankCodec low_rank;
        if (const auto p = read.optional("rank")) low_rank.rank = as_integer(*p, 1, 1'000'000);
        codec.coder = low_rank;
    } else if (kind == "dgc") {
        codec.coder = read_dgc_options(read, in.optimizer);
    } else if (kind == "one-bit") {
        OneBitCodec one_bit;
        if (const auto p = read.optional("fused")) one_bit.fused = as_bool(*p);
        codec.coder = one_bit;
    } else {
        const Compressor compressor = read_compressor_options(read, kind);
        codec.error_feedback = !compressor.unbiased && !compressor.majority && kind != "fp16";
        codec.coder = compressor;
        if (const auto p = read.optional("error_feedback")) codec.error_feedback = as_bool(*p);
        if (const auto p = read.optional("error_decay")) {
            codec.error_decay = as_number_up_to(*p, 1);
            if (!codec.error_feedback && codec.error_decay < 1)
                p->refuse("is for errors, which are not kept");
        }
    }
    return codec;
}

// Reads a codec that the caller brings.
Codec read_brought_codec(const OwnCodec& own, const Place& place) {
    std::vector<std::string_view> keys{"kind", "label", "error_feedback", "coding_step",
                                       "leave_out"};
    keys.insert(keys.end(), own.options.begin(), own.options.end());
    const ObjectReader read(place, keys);
    Codec codec;
    codec.coder = own.make(place);
    codec.error_feedback = true;
    if (const auto p = read.optional("error_feedback")) codec.error_feedback = as_bool(*p);
    codec.coding = read_coding(read);
    if (const auto p = read.optional("leave_out")) codec.leave_out = read_choices(*p);
    return codec;
}

}  // namespace

std::span<const CodecEntry> codec_table() {
    static const std::vector<CodecEntry> table = join_codecs();
    return table;
}

Keys codec_keys(std::string_view name) {
    return definition_keys(fmt::format("codec-{}", name));
}

std::vector<TensorChoice> read_choices(const Place& place) {
    if (!place.json->is_array())
        place.refuse("is not a list of tensors, by name or by position, such as [\"fc8\", -1]");
    std::vector<TensorChoice> choices;
    for (std::size_t i = 0; i < place.json->size(); ++i)
        choices.push_back(read_choice(place.element(i)));
    return choices;
}

Codec read_codec(const Place& place, const AlgorithmInput& in) {
    const std::vector<std::string_view> names = names_of(codec_table());
    if (place.json->is_string()) {
        const std::string_view name = codec_table()[as_name(place, "a codec", names)].name;
        const Json object{{"kind", std::string(name)}};
        return read_codec({&object, place.file, place.path}, in);
    }
    if (const auto own = own_part_of(place, &OwnParts::codec, "a codec"))
        return read_brought_codec(*own, place);
    const Place kind = kind_of(place, "a codec", names);
    const std::string_view name = codec_table()[as_name(kind, "a codec", names)].name;
    check_memory_of_codec(place, name);
    const ObjectReader read(place, codec_keys(name));
    Codec codec = read_coder(read, name, in);
    if (name != "none") {
        if (name != "dgc") codec.coding = read_coding(read);
        if (name != "one-bit")
            if (const auto p = read.optional("coding"))
                codec.coding.measured = read_measured_coding(*p, name, *place.json);
        if (const auto p = read.optional("leave_out")) codec.leave_out = read_choices(*p);
    }
    return codec;
}

void check_left_out(const Place& algorithm, const Layout& layout, const Layout* stand_in) {
    const auto whole = [](const Place& object, std::string_view key) -> std::optional<Place> {
        if (!object.json->is_object() || !object.json->contains(key)) return std::nullopt;
        return object.child(key, object.json->at(key));
    };
    for (const std::string_view key : {"codec", "inner"}) {
        const std::optional<Place> object = whole(algorithm, key);
        const std::optional<Place> choices = object ? whole(*object, "leave_out") : std::nullopt;
        if (!choices) continue;
        for (std::size_t i = 0; i < choices->json->size(); ++i) {
            const Place place = choices->element(i);
            const TensorChoice choice = read_choice(place);
            if (has(layout, choice) || (stand_in != nullptr && has(*stand_in, choice))) continue;
            refuse_choice(place, choice, layout);
        }
    }
}

DgcOptions read_dgc_options(const ObjectReader& read, const Optimizer& optimizer) {
    DgcOptions options;
    read_sparse_messages(read, options.density, options.law, options.format, options.selection);
    if (const auto p = read.optional("selection_share")) {
        if (options.selection.method != Selection::sampled)
            p->refuse("goes with \"selection\": \"sampled\"");
        options.selection.share = as_number_above(*p, 0, 1);
    }
    if (const auto p = read.optional("uncompressed"))
        options.uncompressed = as_choice(*p, "a way for uncompressed tensors", uncompresseds);
    if (const auto p = read.optional("warm_up")) options.warm_up = read_warm_up(*p);
    read_dgc_rule(read, optimizer, options);
    return options;
}

void read_sparse_messages(const ObjectReader& read, double& density, DensityLaw& law,
                          SparseFormat& format, SelectionCost& selection) {
    if (const auto p = read.optional("density")) density = as_density(*p);
    if (const auto p = read.optional("density_law"))
        law = as_choice(*p, "a density law", density_laws);
    if (const auto p = read.optional("encoding")) format = as_choice(*p, "an encoding", encodings);
    read_selection(read, selection);
}

void read_selection(const ObjectReader& read, SelectionCost& selection) {
    if (const auto p = read.optional("selection"))
        selection.method = as_choice(*p, "a way to select", selections);
    if (const auto p = read.optional("selection_step")) selection.per_comparison = as_duration(*p);
}

}  // namespace paceline
