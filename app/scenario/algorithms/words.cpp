#include "app/scenario/algorithms/words.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

constexpr std::string_view in_buckets =
    R"({"kind": "sgd", "schedule": {"pieces": "25MiB", "begin": "beside-backward"}})";

// To add a name: a line here, and the name beside its kind in scenario.schema.json if people type
// it today.
constexpr auto aliases = std::to_array<AlgorithmAlias>({
    {"ddp", in_buckets, "DistributedDataParallel (PyTorch): buckets of 25 MiB during backward"},
    {"horovod", R"({"kind": "sgd", "schedule": {"pieces": "128MiB", "begin": "beside-backward"}})",
     "Horovod: tensors fused up to its threshold of 128 MiB, during backward"},
    {"fsdp", R"({"kind": "zero", "stage": 3})", "fully sharded data parallel (PyTorch)"},
    {"hsdp", R"({"kind": "zero", "stage": 3, "shards": "machine"})",
     "the same with shards inside a machine, replicas between machines"},
    {"zero-1", R"({"kind": "zero", "stage": 1})", "ZeRO, stage 1 (DeepSpeed)"},
    {"zero-2", R"({"kind": "zero", "stage": 2})", "ZeRO, stage 2 (DeepSpeed)"},
    {"zero-3", R"({"kind": "zero", "stage": 3})", "ZeRO, stage 3 (DeepSpeed)"},
    {"adamw", R"({"kind": "adam"})", "Adam, whose weight decay is AdamW's here"},
    {"dense-overlapped", in_buckets, ""},
    {"compressed-sgd", R"({"kind": "sgd"})", ""},  // and it needs a codec
    {"ps-sync",
     R"({"kind": "sgd", "aggregation": {"kind": "all-reduce", "plan": "parameter-server"}})", ""},
});

// What a kind uses by itself, as JSON, so that an old word can say a part of it.
struct Usual {
    std::string_view kind;
    std::string_view codec;
    std::string_view aggregation;
};
constexpr std::string_view by_all_gather = R"({"kind": "all-gather"})";
constexpr std::string_view by_merging = R"({"kind": "sparse-all-reduce"})";
constexpr std::string_view in_two_phases = R"({"kind": "two-phase"})";
constexpr std::string_view one_bit = R"({"kind": "one-bit"})";
constexpr auto usuals = std::to_array<Usual>({
    {"dgc", R"({"kind": "dgc"})", by_merging},
    {"gradient-dropping", "{}", by_merging},
    {"sign-sgd", R"({"kind": "sign", "majority": true})", by_all_gather},
    {"ef-sign-sgd", R"({"kind": "scaled-sign", "error_feedback": true})", by_all_gather},
    {"power-sgd", R"({"kind": "power-sgd"})", R"({"kind": "all-reduce"})"},
    {"one-bit-adam", one_bit, in_two_phases},
    {"one-bit-lamb", R"({"kind": "one-bit", "fused": true})", in_two_phases},
    {"zero-one-adam", one_bit, in_two_phases},
});
constexpr Usual of_other_kinds{"", "{}", R"({"kind": "all-reduce"})"};

const Usual& usual_of(std::string_view kind) {
    const std::span known(usuals);
    const auto found = std::ranges::find(known, kind, &Usual::kind);
    return found == known.end() ? of_other_kinds : *found;
}

// A word of an earlier scenario, and the word of today for it.
using Names = std::span<const std::string_view>;
struct OldWord {
    std::string_view word;
    std::string_view section;
    std::string_view key;  // within it; empty: the section as a whole
    Names of{};            // the names of algorithms that had it; empty: all but "collective"
};
constexpr auto dgc = std::to_array<std::string_view>({"dgc"});
constexpr auto power_sgd = std::to_array<std::string_view>({"power-sgd"});
constexpr auto in_pieces = std::to_array<std::string_view>({"dense-overlapped", "ddp", "horovod"});
constexpr auto compressing =
    std::to_array<std::string_view>({"compressed-sgd", "fedavg", "fedprox", "fedopt", "choco-sgd"});
constexpr Names with_feedback = Names(compressing).first(4);
constexpr auto fusing = std::to_array<std::string_view>({"one-bit-adam", "zero-one-adam"});
constexpr auto coding = std::to_array<std::string_view>(
    {"compressed-sgd", "fedavg", "fedprox", "fedopt", "choco-sgd", "sign-sgd", "ef-sign-sgd",
     "power-sgd", "one-bit-adam", "one-bit-lamb", "zero-one-adam"});
constexpr auto gathering = std::to_array<std::string_view>(
    {"compressed-sgd", "sign-sgd", "ef-sign-sgd", "dgc", "gradient-dropping"});

// A section as a whole stands before what goes into it.
constexpr auto words = std::to_array<OldWord>({
    {"transport", "aggregation", ""},
    {"compressor", "codec", "", compressing},
    {"exchange", "aggregation", "", gathering},
    {"all_reduce", "aggregation", "plan"},
    {"bucket", "schedule", "pieces", in_pieces},
    {"error_feedback", "codec", "error_feedback", with_feedback},
    {"coding_step", "codec", "coding_step", coding},
    {"rank", "codec", "rank", power_sgd},
    {"fused", "codec", "fused", fusing},
    {"density", "codec", "density", dgc},
    {"density_law", "codec", "density_law", dgc},
    {"encoding", "codec", "encoding", dgc},
    {"selection", "codec", "selection", dgc},
    {"selection_step", "codec", "selection_step", dgc},
    {"selection_share", "codec", "selection_share", dgc},
    {"uncompressed", "codec", "uncompressed", dgc},
    {"warm_up", "codec", "warm_up", dgc},
    {"decay", "codec", "decay", dgc},
    {"accumulation", "codec", "accumulation", dgc},
    {"momentum_correction", "codec", "momentum_correction", dgc},
    {"masking", "codec", "masking", dgc},
});

bool names(Names all, std::string_view name) {
    return std::ranges::find(all, name) != all.end();
}

bool is_of(const OldWord& word, std::string_view name) {
    if (word.of.empty()) return name != "collective";  // whose words are its own
    return names(word.of, name);
}

// The old "exchange": a way to gather, the merging of sparse messages, or, of messages that add up,
// an all-reduce.
Json aggregation_of(const Place& exchange, std::string_view name) {
    constexpr auto ways = std::to_array<std::string_view>(
        {"all-gather-ring", "all-gather-bruck", "recursive-doubling"});
    constexpr std::string_view gather = "all-gather-";
    const bool is_text = exchange.json->is_string();
    const std::string said = is_text ? exchange.json->get<std::string>() : "";
    if (name == "compressed-sgd" && !said.starts_with(gather))
        return {{"kind", "all-reduce"}, {"plan", *exchange.json}};
    const bool merges = usual_of(name).aggregation == by_merging;
    const std::string_view way =
        ways[as_name(exchange, "a way to exchange", std::span(ways).first(merges ? 3 : 2))];
    if (way == "recursive-doubling") return {{"kind", "sparse-all-reduce"}};
    return {{"kind", "all-gather"}, {"how", way.substr(gather.size())}};
}

// Earlier scenarios kept what any biased compressor leaves out.
Json codec_of(Json compressor, const Json& algorithm) {
    if (!compressor.is_object() || algorithm.contains("error_feedback")) return compressor;
    const bool keeps =
        compressor.value("kind", Json()) == "fp16" || compressor.value("majority", Json()) == true;
    if (keeps && names(with_feedback, algorithm.at("kind").get_ref<const std::string&>()))
        compressor["error_feedback"] = true;
    return compressor;
}

std::string path_of(const OldWord& word) {
    std::string path(word.section);
    if (!word.key.empty()) path += fmt::format(".{}", word.key);
    return path;
}

// Returns whether the scenario says a section as a whole, or the rest of what an old word says of
// it.
bool says_whole(const OldWord& word, const Json& algorithm) {
    return algorithm.contains(std::string(word.section)) ||
           (word.section == "aggregation" && word.word != "transport" &&
            algorithm.contains("transport"));
}

Json whole_of(const OldWord& word, const Json& value, const Place& place, std::string_view name) {
    if (word.word == "exchange") return aggregation_of(place.child(word.word, value), name);
    if (word.word == "compressor") return codec_of(value, *place.json);
    return value;
}

// Moves what an old word says to its place of today.
void move(const OldWord& word, const Place& place, Words& into) {
    const std::string section(word.section);
    const Json& value = place.json->at(std::string(word.word));
    if (says_whole(word, *place.json))
        place.child(word.word, value)
            .refuse(fmt::format(
                "is an earlier name of \"{}\", which is also given; leave one of the two out",
                word.section));
    into.from.emplace_back(path_of(word), std::string(word.word));
    if (word.word == "exchange")  // a text, in which nothing lies deeper
        for (const char* key : {"kind", "plan", "how"})
            into.from.emplace_back(fmt::format("aggregation.{}", key), std::string(word.word));
    Json& algorithm = *into.algorithm;
    if (word.key.empty()) {
        algorithm[section] = whole_of(word, value, place, into.typed);
        return;
    }
    if (!algorithm.contains(section)) {
        const Usual& usual = usual_of(into.typed);
        algorithm[section] =
            Json::parse(word.section == "aggregation" ? usual.aggregation : usual.codec);
        into.from.emplace_back(section, std::string(word.word));
    }
    Json& in = algorithm[section];
    if (in.is_object()) in[std::string(word.key)] = value;
}

// An object of a scenario that names no kind says some keys of what its algorithm uses by itself.
void add_usual(const char* section, std::string_view usual, const Json& own, Words& into) {
    const auto found = own.find(section);
    if (found == own.end() || !found->is_object() || found->contains("kind")) return;
    Json both = Json::parse(usual);
    both.update(*found);
    (*into.algorithm)[section] = both;
}

// Replaces a name by what it stands for.
void take_alias(std::string_view name, const Json& own, Words& into) {
    const std::span known(aliases);
    const auto alias = std::ranges::find(known, name, &AlgorithmAlias::name);
    if (alias == known.end()) return;
    const Json stands_for = Json::parse(alias->stands_for);
    for (const auto& [key, value] : stands_for.items()) {
        Json& here = (*into.algorithm)[key];
        if (key == "kind" || !own.contains(key)) {
            here = value;
            into.from.emplace_back(key, "kind");
        } else if (here.is_object() && value.is_object()) {
            Json both = value;
            both.update(here);  // the scenario's own keys stand
            here = both;
        }
    }
    if (!own.contains("label")) (*into.algorithm)["label"] = name;
}

// The name says that servers add up.
void check_servers_of(const Place& algorithm, const Words& today) {
    const auto said = algorithm.json->find("all_reduce");
    if (today.typed != "ps-sync" || said == algorithm.json->end()) return;
    const Json kind = said->is_object() ? said->value("kind", Json()) : *said;
    if (kind != "parameter-server")
        algorithm.child("all_reduce", *said)
            .refuse(
                "is for \"parameter-server\" alone, by name or as an object; for others use the "
                "kind \"dense\"");
}

bool begins_with(std::string_view path, std::string_view head) {
    return path.starts_with(head) &&
           (path.size() == head.size() || path[head.size()] == '.' || path[head.size()] == '[');
}

void replace_all(std::string& text, std::string_view by, std::string_view with) {
    for (std::size_t at = text.find(by); at != std::string::npos;
         at = text.find(by, at + with.size()))
        text.replace(at, by.size(), with);
}

}  // namespace

std::span<const AlgorithmAlias> algorithm_aliases() {
    return aliases;
}

ConfigError Words::in_users_words(const ConfigError& error, const std::string& path) const {
    std::string at = error.path();
    const std::string head = path + ".";
    if (at.starts_with(head)) {
        const std::string_view rest = std::string_view(at).substr(head.size());
        const std::pair<std::string, std::string>* best = nullptr;
        for (const auto& one : from)
            if (begins_with(rest, one.first) && (!best || one.first.size() > best->first.size()))
                best = &one;
        if (best) at = head + best->second + std::string(rest.substr(best->first.size()));
    }
    Fault fault = error.fault();
    const auto kind = algorithm->find("kind");
    if (kind != algorithm->end() && kind->is_string() && *kind != typed)
        replace_all(fault.problem,
                    fmt::format("the kind \"{}\"", kind->get_ref<const std::string&>()),
                    fmt::format("the kind \"{}\"", typed));
    return {error.file(), at, std::move(fault)};
}

std::string path_in_todays_words(const std::string& path) {
    constexpr std::string_view head = "algorithm.";
    if (!path.starts_with(head)) return path;
    const std::string_view rest = std::string_view(path).substr(head.size());
    for (const OldWord& word : words)
        if (begins_with(rest, word.word))
            return fmt::format("{}{}{}", head, path_of(word), rest.substr(word.word.size()));
    return path;
}

Words in_todays_words(const Place& algorithm) {
    Words today{std::make_shared<Json>(*algorithm.json), {}, {}};
    if (!algorithm.json->is_object()) return today;
    const auto kind = algorithm.json->find("kind");
    if (kind == algorithm.json->end() || !kind->is_string()) return today;
    today.typed = kind->get<std::string>();
    for (const OldWord& word : words)
        if (is_of(word, today.typed)) today.algorithm->erase(std::string(word.word));
    const Usual& usual = usual_of(today.typed);
    add_usual("codec", usual.codec, *algorithm.json, today);
    add_usual("aggregation", usual.aggregation, *algorithm.json, today);
    take_alias(today.typed, *algorithm.json, today);
    for (const OldWord& word : words)
        if (is_of(word, today.typed) && algorithm.json->contains(std::string(word.word)))
            move(word, algorithm, today);
    check_servers_of(algorithm, today);
    if (today.typed == "compressed-sgd" && !today.algorithm->contains("codec"))
        algorithm.refuse("\"codec\" is missing: what is sent, such as {\"kind\": \"qsgd\"}");
    return today;
}

}  // namespace paceline
