#include "app/questions/combinations.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/scenario/aggregations/exchange_rules.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/blocks.hpp"

namespace paceline {

namespace {

using Entries = std::vector<FeatureEntry>;

Entries entries_of(Features features) {
    Entries entries;
    std::ranges::copy_if(exchange_features(), std::back_inserter(entries),
                         [&](const FeatureEntry& entry) { return features.has(entry.feature); });
    return entries;
}

std::vector<std::string> kinds_of(Feature algorithm) {
    std::vector<std::string> kinds;
    for (const AlgorithmEntry& entry : algorithm_table())
        if (entry.exchanges == algorithm) kinds.push_back(fmt::format("`{}`", entry.name));
    return kinds;
}

std::string cell_name(const FeatureEntry& entry) {
    if (entry.choice != Choice::algorithm) return fmt::format("`{}`", entry.name);
    const std::vector<std::string> kinds = kinds_of(entry.feature);
    return kinds.empty() ? std::string(entry.name)
                         : fmt::format("{}: {}", entry.name, fmt::join(kinds, ", "));
}

// The reasons that have been given, in the order of their numbers.
class Reasons {
  public:
    std::string number_of(std::string_view reason) {
        auto found = std::ranges::find(reasons_, reason);
        if (found == reasons_.end()) found = reasons_.insert(found, reason);
        return fmt::format("[{}](#reasons)", found - reasons_.begin() + 1);
    }
    [[nodiscard]] std::string text() const {
        std::string lines;
        for (std::size_t i = 0; i < reasons_.size(); ++i)
            lines += fmt::format("{}. {}.\n", i + 1, sentence(reasons_[i]));
        return lines;
    }

  private:
    static std::string sentence(std::string_view reason) {
        std::string text(reason);
        if (text.front() >= 'a' && text.front() <= 'z')
            text.front() = static_cast<char>(text.front() - 'a' + 'A');
        return text;
    }

    std::vector<std::string_view> reasons_;
};

std::string table_of(const Entries& rows, const Entries& columns, Reasons& reasons) {
    std::string text = "| |";
    for (const FeatureEntry& column : columns) text += fmt::format(" {} |", cell_name(column));
    text += "\n|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
    for (const FeatureEntry& row : rows) {
        text += fmt::format("\n| {} |", cell_name(row));
        for (const FeatureEntry& column : columns) {
            const auto reason = reason_against(row.feature, column.feature);
            text += fmt::format(" {} |", reason ? reasons.number_of(*reason) : "yes");
        }
    }
    return text + "\n";
}

bool takes(const AlgorithmEntry& entry, std::string_view key) {
    const Keys keys = algorithm_keys(entry);
    return std::ranges::find(keys, key) != keys.end();
}

// What is sent: the codecs that go with an algorithm.
std::string codecs_of(const AlgorithmEntry& entry) {
    std::vector<std::string> with;
    std::vector<std::string> without;
    for (const FeatureEntry& codec : entries_of(features_of(Choice::codec)))
        (reason_against(entry.exchanges, codec.feature) ? without : with)
            .push_back(cell_name(codec));
    if (with.size() < without.size()) return fmt::format("{}", fmt::join(with, ", "));
    return fmt::format("any but {}", fmt::join(without, ", "));
}

std::string names_of_optimizers(std::span<const std::string_view> names) {
    std::vector<std::string> quoted;
    for (const std::string_view name : names) quoted.push_back(fmt::format("`{}`", name));
    return fmt::format("{}", fmt::join(quoted, ", "));
}

std::string inner_of(const AlgorithmEntry& entry) {
    if (takes(entry, "inner")) return names_of_optimizers(inner_optimizers);
    return takes(entry, "base") ? "any `base`" : "AdamW";
}

std::string outer_of(const AlgorithmEntry& entry) {
    if (takes(entry, "outer")) return names_of_optimizers(outer_optimizers);
    std::vector<std::string> own;
    for (const std::string_view key :
         {"alpha", "beta", "block_momentum", "outer_momentum", "pull", "anchor_momentum"})
        if (takes(entry, key)) own.push_back(fmt::format("`{}`", key));
    return own.empty() ? "none" : fmt::format("its own: {}", fmt::join(own, ", "));
}

// Their averages run beside the block that follows, without a key for it.
constexpr auto beside_blocks = std::to_array<std::string_view>({"overlap-local-sgd", "cocod-sgd"});

std::string when_of(const AlgorithmEntry& entry) {
    std::string when = takes(entry, "period") ? "every `period` steps" : "every step";
    if (takes(entry, "fragments")) when += ", in `fragments`";
    if (std::ranges::find(beside_blocks, entry.name) != beside_blocks.end())
        when += ", during the next block";
    if (takes(entry, "delay")) when += ", during `delay` steps";
    return when;
}

std::string table_of_five_choices() {
    std::string text =
        "| kind | inner optimizer (`inner`) | what is sent (`codec`) | to whom | outer optimizer "
        "(`outer`) | when |\n|---|---|---|---|---|---|";
    const auto families = algorithm_families();
    const auto local = std::ranges::find(families, "local", &AlgorithmFamily::name);
    for (const AlgorithmEntry& entry : local->algorithms)
        text += fmt::format(
            "\n| `{}` | {} | {} | {} | {} | {} |", entry.name, inner_of(entry), codecs_of(entry),
            reason_against(entry.exchanges, Feature::neighbors) ? "all, by an aggregation"
                                                                : "pairs or neighbors (`mixing`)",
            outer_of(entry), when_of(entry));
    return text + "\n";
}

struct Section {
    std::string_view title;
    Features rows;
    Features columns;
};

constexpr Features pieces_of_gradients(Feature::whole, Feature::tensors, Feature::buckets,
                                       Feature::merged);
constexpr Features begins_of_pieces(Feature::after_backward, Feature::in_phases,
                                    Feature::beside_backward, Feature::into_forward);
constexpr Features orders_of_pieces(Feature::fifo, Feature::priority);
constexpr Features ways_by_machine(Feature::flat, Feature::leaders, Feature::encoding_leaders,
                                   Feature::shards);

std::vector<Section> sections() {
    const Features algorithms = features_of(Choice::algorithm);
    const Features codecs = features_of(Choice::codec);
    const Features aggregations = features_of(Choice::aggregation);
    const Features schedules = features_of(Choice::schedule);
    return {
        {"Codecs and aggregations", codecs, aggregations},
        {"Algorithms and codecs", algorithms, codecs},
        {"Algorithms and aggregations", algorithms, aggregations},
        {"Algorithms and schedules", algorithms, schedules},
        {"Codecs and schedules", codecs, schedules},
        {"Aggregations and schedules", aggregations, schedules},
        {"Kinds of aggregations, and machines", aggregations.without(ways_by_machine),
         ways_by_machine},
        {"Schedules: pieces, order, and when they begin",
         pieces_of_gradients.with(orders_of_pieces), begins_of_pieces},
        {"Failures", codecs.with(aggregations).with(schedules), Features(Feature::survivors_go_on)},
    };
}

// What a combination is made of: one feature of each list; of partitions and streams, or none.
std::vector<Features> aggregations_in_full() {
    std::vector<Features> all;
    for (const FeatureEntry& kind :
         entries_of(features_of(Choice::aggregation).without(ways_by_machine)))
        for (const FeatureEntry& way : entries_of(ways_by_machine))
            all.emplace_back(kind.feature, way.feature);
    return all;
}

std::vector<Features> schedules_in_full() {
    std::vector<Features> all;
    for (const FeatureEntry& piece : entries_of(pieces_of_gradients))
        for (const FeatureEntry& time : entries_of(begins_of_pieces))
            for (const FeatureEntry& order : entries_of(orders_of_pieces))
                for (const bool cut : {false, true})
                    for (const bool streams : {false, true}) {
                        Features one(piece.feature, time.feature, order.feature);
                        if (cut) one = one.with(Features(Feature::partitions));
                        if (cut && time.feature == Feature::into_forward)
                            one = one.with(Features(Feature::partitions_into_forward));
                        if (streams) one = one.with(Features(Feature::several_streams));
                        all.push_back(one);
                    }
    return all;
}

Json pairs_of(const Entries& rows, const Entries& columns) {
    Json pairs = Json::array();
    for (const FeatureEntry& row : rows)
        for (const FeatureEntry& column : columns) {
            const auto reason = reason_against(row.feature, column.feature);
            pairs.push_back({{"one", row.name},
                             {"other", column.name},
                             {"runs", !reason},
                             {"reason", reason ? Json(*reason) : Json()}});
        }
    return pairs;
}

}  // namespace

CombinationCounts count_combinations() {
    CombinationCounts counts;
    const std::vector<Features> aggregations = aggregations_in_full();
    const std::vector<Features> schedules = schedules_in_full();
    for (const FeatureEntry& algorithm : entries_of(features_of(Choice::algorithm))) {
        const auto kinds = static_cast<std::int64_t>(kinds_of(algorithm.feature).size());
        for (const FeatureEntry& codec : entries_of(features_of(Choice::codec)))
            for (const Features aggregation : aggregations) {
                const Features so_far =
                    Features(algorithm.feature, codec.feature).with(aggregation);
                for (const Features schedule : schedules)
                    (conflict_among(so_far.with(schedule)) ? counts.refused : counts.run) += kinds;
            }
    }
    return counts;
}

Json combinations_as_json() {
    Json tables = Json::array();
    for (const Section& section : sections())
        tables.push_back(
            {{"title", section.title},
             {"pairs", pairs_of(entries_of(section.rows), entries_of(section.columns))}});
    return tables;
}

std::string combinations_text() {
    Reasons reasons;
    std::string text =
        fmt::format("## The outer step as five choices\n\n{}\n", table_of_five_choices());
    for (const Section& section : sections())
        text +=
            fmt::format("## {}\n\n{}\n", section.title,
                        table_of(entries_of(section.rows), entries_of(section.columns), reasons));
    const CombinationCounts counts = count_combinations();
    text += fmt::format("## Reasons\n\n{}\n", reasons.text());
    return text + fmt::format(
                      "Of {} combinations of a kind of algorithm, a codec, an aggregation and a "
                      "schedule, {} run and {} are refused.\n",
                      counts.run + counts.refused, counts.run, counts.refused);
}

}  // namespace paceline
