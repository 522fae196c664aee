#include "app/scenario/algorithms/new_form.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/algorithms/compressors.hpp"
#include "app/scenario/algorithms/exchange_rules.hpp"

namespace paceline {

namespace {

constexpr auto old_gathers = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"all-gather-ring", "ring"}, {"all-gather-bruck", "bruck"}});

// An algorithm that is taken apart key by key, and what becomes of it.
struct Translation {
    Json from;
    Json codec;
    Json aggregation;
    Json schedule;

    // Removes a key and returns its value; nothing if there is none.
    std::optional<Json> take(std::string_view key) {
        const auto found = from.find(std::string(key));
        if (found == from.end()) return std::nullopt;
        Json value = *found;
        from.erase(found);
        return value;
    }
    void move_into_codec(std::initializer_list<std::string_view> keys) {
        for (const std::string_view key : keys)
            if (auto value = take(key)) codec[std::string(key)] = *std::move(value);
    }
};

Json all_reduce_said(Translation& at, const Json& otherwise = "ring") {
    return {{"kind", "all-reduce"}, {"plan", at.take("all_reduce").value_or(otherwise)}};
}

Json all_gather_by(const Json& exchange) {
    for (const auto& [old_name, name] : old_gathers)
        if (exchange == old_name) return {{"kind", "all-gather"}, {"how", std::string(name)}};
    return {{"kind", "all-gather"}, {"how", "ring"}};
}

Json all_gather_said(Translation& at) {
    return all_gather_by(at.take("exchange").value_or("all-gather-ring"));
}

Json sparse_aggregation(Translation& at) {
    const Json exchange = at.take("exchange").value_or("recursive-doubling");
    Json aggregation = exchange == "recursive-doubling" ? Json{{"kind", "sparse-all-reduce"}}
                                                        : all_gather_by(exchange);
    aggregation["plan"] = at.take("all_reduce").value_or("ring");
    return aggregation;
}

Compressor compressor_said(const Json& compressor) {
    static const std::string nowhere;
    return read_compressor({&compressor, &nowhere, {}});
}

void take_compressor(Translation& at) {
    at.codec = at.take("compressor").value();
    const Compressor compressor = compressor_said(at.codec);
    at.codec["error_feedback"] = at.take("error_feedback").value_or(!compressor.unbiased);
    at.move_into_codec({"coding_step"});
}

void translate_compressed(Translation& at) {
    take_compressor(at);
    Json compressor = at.codec;
    for (const char* key : {"error_feedback", "coding_step"}) compressor.erase(key);
    if (compressor_said(compressor).combining == Combining::gathered)
        at.aggregation = all_gather_said(at);
    else
        at.aggregation = {{"kind", "all-reduce"}, {"plan", at.take("exchange").value_or("ring")}};
}

void translate_momentum_sgd(Translation& at, std::string_view kind) {
    at.schedule = "whole";
    at.codec = "none";
    if (kind == "compressed-sgd")
        translate_compressed(at);
    else
        at.aggregation = all_reduce_said(at, kind == "ps-sync" ? "parameter-server" : "ring");
    if (kind == "dense-overlapped")
        at.schedule = {{"pieces", at.take("bucket").value_or("25MiB")},
                       {"begin", "beside-backward"}};
    at.from["kind"] = "sgd";
}

void translate_one_bit(Translation& at, std::string_view kind) {
    at.codec = {{"kind", "one-bit"}, {"fused", kind == "one-bit-lamb"}};
    at.move_into_codec({"fused", "coding_step"});
    at.aggregation = {{"kind", "two-phase"}, {"plan", at.take("all_reduce").value_or("ring")}};
    at.schedule = "whole";
}

// Methods whose codec is part of their step.
void translate_own_step(Translation& at, Feature algorithm) {
    at.schedule = "whole";
    switch (algorithm) {
        case Feature::low_rank_step:
            at.codec = {{"kind", "power-sgd"}};
            at.move_into_codec({"rank", "coding_step"});
            at.aggregation = all_reduce_said(at);
            return;
        case Feature::vote_step:
            at.codec = {{"kind", "sign"}, {"majority", true}};
            at.move_into_codec({"coding_step"});
            at.aggregation = all_gather_said(at);
            return;
        case Feature::scaled_sign_step:
            at.codec = {{"kind", "scaled-sign"}, {"error_feedback", true}};
            at.move_into_codec({"coding_step"});
            at.aggregation = all_gather_said(at);
            return;
        case Feature::dgc_step:
            at.codec = {{"kind", "dgc"}};
            at.move_into_codec({"density", "density_law", "encoding", "selection", "selection_step",
                                "selection_share", "uncompressed", "warm_up", "decay",
                                "accumulation", "momentum_correction", "masking"});
            at.aggregation = sparse_aggregation(at);
            return;
        case Feature::dropping_step:
            at.aggregation = sparse_aggregation(at);
            return;
        default:  // 1-bit SGD
            at.aggregation = "two-phase";
            return;
    }
}

// Methods that send models or changes of them to a server or to neighbors.
void translate_own_messages(Translation& at, Feature algorithm) {
    if (at.from.contains("compressor")) {
        const bool to_server = algorithm == Feature::server_rounds;
        take_compressor(at);
        if (!to_server) at.codec.erase("error_feedback");
    }
}

void translate(Translation& at) {
    const std::string kind = at.from.at("kind").get<std::string>();
    const Feature algorithm = feature_of_algorithm(kind);
    switch (algorithm) {
        case Feature::momentum_sgd:
            return translate_momentum_sgd(at, kind);
        case Feature::adam:
        case Feature::layerwise:
        case Feature::models:
            at.codec = "none";
            at.aggregation = all_reduce_said(at);
            at.schedule = "whole";
            return;
        case Feature::momenta:
            return translate_one_bit(at, kind);
        case Feature::neighbor_models:
            at.codec = "none";
            at.aggregation = "neighbors";
            at.schedule = "whole";
            return;
        case Feature::dgc_step:
        case Feature::dropping_step:
        case Feature::vote_step:
        case Feature::scaled_sign_step:
        case Feature::low_rank_step:
        case Feature::column_step:
            return translate_own_step(at, algorithm);
        default:
            return translate_own_messages(at, algorithm);
    }
}

constexpr auto all_replaced_words = std::to_array<ReplacedWord>({
    {"all_reduce", "transport"},
    {"exchange", "transport"},
    {"bucket", "schedule"},
    {"compressor", "codec"},
    {"error_feedback", "codec"},
    {"coding_step", "codec"},
    {"rank", "codec"},
    {"fused", "codec"},
    {"density", "codec"},
    {"density_law", "codec"},
    {"encoding", "codec"},
    {"selection", "codec"},
    {"selection_step", "codec"},
    {"selection_share", "codec"},
    {"uncompressed", "codec"},
    {"warm_up", "codec"},
    {"decay", "codec"},
    {"accumulation", "codec"},
    {"momentum_correction", "codec"},
    {"masking", "codec"},
});

Json in_new_words(const Json& algorithm) {
    Translation at{algorithm, {}, {}, {}};
    translate(at);
    Json whole = at.from;
    for (const auto& [key, value] :
         {std::pair{"codec", at.codec}, std::pair{"transport", at.aggregation},
          std::pair{"schedule", at.schedule}})
        if (!value.is_null() && !algorithm.contains(key)) whole[key] = value;
    return whole;
}

}  // namespace

Json new_form(const Json& algorithm) {
    // With new words, the rest is the scenario's own choice.
    const bool is_new =
        std::ranges::any_of(std::to_array({"codec", "transport", "schedule"}),
                            [&](const char* key) { return algorithm.contains(key); });
    return is_new || algorithm.at("kind") == "sgd" ? algorithm : in_new_words(algorithm);
}

void refuse_old_words(const Place& algorithm) {
    const Json& from = *algorithm.json;
    const Json to = in_new_words(from);
    for (const auto& [word, by] : all_replaced_words) {
        const auto found = from.find(std::string(word));
        if (found == from.end() || to.contains(std::string(word))) continue;
        Json shown = Json::object();
        for (const char* key : {"codec", "transport", "schedule"})
            if (to.contains(key) && !from.contains(key)) shown[key] = to.at(key);
        std::string words = shown.dump();
        words = words.substr(1, words.size() - 2);
        algorithm.child(word, *found)
            .refuse(words.empty() ? std::string("is a word of version 1; leave it out")
                                  : fmt::format("is a word of version 1; write {}", words));
    }
}

std::span<const ReplacedWord> replaced_words() {
    return all_replaced_words;
}

}  // namespace paceline
