#include "app/questions/list_text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/sparse/sparse.hpp"
#include "app/json/printable.hpp"
#include "app/json/resources.hpp"
#include "app/questions/combinations.hpp"
#include "app/questions/list_tables.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/cluster/transports.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/models.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "models/precision.hpp"
#include "models/profile.hpp"

namespace paceline {

namespace {

constexpr std::size_t list_width = 120;

// Returns a line for an entry, and a line for its keys.
std::string entry_with_keys(std::string_view name, std::string_view summary, Keys keys) {
    return fmt::format("  {:<20} {}\n  {:<20} keys: {}\n", name, summary, "",
                       fmt::join(keys, ", "));
}

template <class Table>
std::string entries_with_keys(const Table& table) {
    std::string text;
    for (const auto& entry : table) text += entry_with_keys(entry.name, entry.summary, entry.keys);
    return text;
}

std::string list_algorithms() {
    std::string text;
    for (const AlgorithmFamily& family : algorithm_families()) {
        text += fmt::format("{}  [{}] {}\n", text.empty() ? "" : "\n", family.name, family.summary);
        for (const AlgorithmEntry& entry : family.algorithms)
            text += entry_with_keys(entry.name, entry.summary, algorithm_keys(entry));
    }
    text += "\n  names that stand for one of these with certain keys:\n";
    for (const AlgorithmAlias& alias : algorithm_aliases())
        if (!alias.summary.empty())
            text += fmt::format("  {:<20} {}\n  {:<20} {}\n", alias.name, alias.summary, "",
                                alias.stands_for);
    return text;
}

std::string list_fabrics() {
    return entries_with_keys(fabric_table());
}

std::string list_models() {
    return entries_with_keys(model_table());
}

std::string list_data() {
    return entries_with_keys(data_table()) +
           "  \"partition\": {\"kind\": iid, contiguous, label-sorted, partly-shuffled or "
           "dirichlet}\n";
}

std::string list_mixings() {
    std::string text;
    for (const MixingEntry& entry : mixing_table())
        text += fmt::format("  {:<22} {}\n", entry.name, entry.summary);
    return text +
           "  \"lazy\": true halves the way: (I + W) / 2; \"weights\": \"metropolis\" (default) or "
           "\"uniform\", 1 / (d+1)\n";
}

// Returns `head` followed by the text, in lines of at most `list_width` that all begin where `head`
// ends.
std::string wrapped(std::string head, std::string_view text) {
    const std::size_t indent = head.size();
    std::string lines;
    bool at_start = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (!at_start && head.size() + 1 + word.size() > list_width) {
            lines += head + '\n';
            head.assign(indent, ' ');
            at_start = true;
        }
        if (!at_start) head += ' ';
        head += word;
        at_start = false;
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return lines + head + '\n';
}

std::string list_profiles() {
    std::string text =
        fmt::format("  {:<14} {:>11} {:>9} {:>10} {:>11}   {:<15} {}\n", "name", "parameters",
                    "fp32 MiB", "MACs", "DGC bytes", "of a sample", "title");
    for (const std::string_view name : profile_names()) {
        const Profile profile = shipped_profile(name);
        const LayoutPtr layout = profile.layout();
        text += wrapped(
            fmt::format("  {:<14} {:>11} {:>9.2f} {:>10.4g} {:>11}   {:<15} ", name,
                        layout->entries(), static_cast<double>(layout->entries()) * 4 / (1 << 20),
                        profile.macs(), nominal_bytes(*layout, 0.001).count, profile.sample),
            profile.title);
    }
    return text +
           "  MACs: forward multiply-accumulates of a sample; DGC bytes: nominal, at density "
           "0.001\n";
}

std::string measured_on(std::string_view device, const std::vector<Profile>& profiles) {
    std::string text;
    for (const Profile& profile : profiles)
        for (const MeasuredThroughput& row : profile.throughput)
            if (row.device == device)
                text += wrapped(
                    fmt::format("    {:<14} {} {:<9} {:>9.6g} /s       ", profile.name,
                                name_of(row.precision),
                                row.batch ? fmt::format("batch {}", *row.batch) : "any batch",
                                row.samples_per_s),
                    row.source);
    return text;
}

// Returns a line for each precision. The first has the source.
std::string peaks_of(const Device& device) {
    std::string text;
    for (const Peak& peak : device.peaks) {
        const std::string line = fmt::format("    {:<14} {} {:<9} {:>9.4g} TFLOP/s", "peak",
                                             name_of(peak.precision), "", peak.flops * 1e-12);
        text += text.empty() ? wrapped(line + "  ", device.source) : line + '\n';
    }
    return text;
}

std::string accounts_of(const Device& device) {
    std::string text;
    if (device.memory)
        text += wrapped(fmt::format("    memory {:>28.4g} GB       ",
                                    static_cast<double>(device.memory->count) * 1e-9),
                        device.memory_source);
    if (device.watts) {
        text += wrapped(fmt::format("    power, at most {:>20.4g} W        ", device.watts->most),
                        device.watts->source);
        if (device.watts->idle)
            text += fmt::format("    power, idle {:>23.4g} W\n", *device.watts->idle);
    }
    if (device.price)
        text += wrapped(fmt::format("    list price {:>24.4g} {}/h    ", device.price->per_hour,
                                    device.price->currency),
                        fmt::format("{}: {}", device.price->date, device.price->source));
    return text;
}

std::string list_devices() {
    std::vector<Profile> profiles;
    for (const std::string_view name : profile_names()) profiles.push_back(shipped_profile(name));
    std::string text =
        "  peak operations per second by precision (dense; a multiply-accumulate is two), then the "
        "measured throughput in\n  samples per second, one device; \"any batch\": the source does "
        "not name one;\n  memory, power and list price of one device, if known\n";
    for (const Device& device : device_table()) {
        text += fmt::format("\n  {:<15} {}\n", device.name, device.title);
        text += peaks_of(device);
        text += accounts_of(device);
        text += measured_on(device.name, profiles);
    }
    return text;
}

std::string list_links() {
    std::string text =
        fmt::format("  {:<14} {:>11} {:>11} {:>8} {:>8} {:>11}   {}\n", "preset", "to the node",
                    "from it", "payload", "one way", "round trip", "source");
    for (const LinkPreset& preset : link_presets()) {
        const Bandwidth up = preset.bandwidth_up.value_or(preset.bandwidth);
        text += wrapped(
            fmt::format("  {:<14} {:>11} {:>11} {:>7.1f}% {:>8} {:>11}   ", preset.name,
                        to_string(preset.bandwidth), to_string(up), 100 * preset.efficiency,
                        to_string(preset.one_way_latency), to_string(2 * preset.one_way_latency)),
            preset.source);
    }
    return text;
}

std::string list_transports() {
    std::string text = fmt::format("  {:<20} {:>12}  {}\n", "preset of tcp", "of a flow", "source");
    for (const TransportPreset& preset : transport_presets())
        text += wrapped(fmt::format("  {:<20} {:>12}  ", preset.name, to_string(preset.flow_rate)),
                        preset.source);
    return text;
}

std::string list_libraries() {
    std::string text = fmt::format("  {:<14} {:>9} {:>11} {:<19} {:<28} {}\n", "preset", "start-up",
                                   "staging", "protocol", "all-reduce", "source");
    for (const LibraryPreset& preset : library_presets()) {
        const Library& library = preset.choice.library;
        text += wrapped(fmt::format("  {:<14} {:>9} {:>11} {:<19} {:<28} ", preset.name,
                                    to_string(library.start_up),
                                    library.staging ? to_string(*library.staging) : "-",
                                    name_of(library.protocol),
                                    name_of(preset.choice.all_reduce, Bytes{1 << 20})),
                        preset.source);
    }
    return text;
}

// Returns what messages of a codec do, and whether they are right on average.
std::string kind_of_messages(std::string_view codec) {
    static const std::string nowhere = "list";
    const Json name = codec;
    const Codec made = read_codec({&name, &nowhere, "codec"}, {});
    const auto* const compressor = std::get_if<Compressor>(&made.coder);
    if (compressor == nullptr || compressor->lossless) return "";
    return fmt::format("{}, {}; ",
                       compressor->combining == Combining::summable ? "summable" : "gathered",
                       compressor->unbiased ? "unbiased" : "biased");
}

std::string list_codecs() {
    std::string text = "  what is sent for a tensor of d entries: the \"codec\" of an algorithm\n";
    for (const CodecEntry& entry : codec_table())
        text += fmt::format("  {:<20} {}\n  {:<20} {}keys: {}\n", entry.name, entry.summary, "",
                            kind_of_messages(entry.name), fmt::join(codec_keys(entry.name), ", "));
    return text;
}

std::string list_aggregations() {
    std::string text =
        "  how the aggregate reaches all workers: the \"aggregation\" of an algorithm\n";
    for (const AggregationEntry& entry : aggregation_table())
        text += entry_with_keys(entry.name, entry.summary, aggregation_keys(entry.name));
    return text;
}

std::string list_schedules() {
    std::string text =
        "  in which pieces a vector is exchanged, and when: the \"schedule\" of an algorithm\n";
    for (const ScheduleEntry& entry : schedule_table())
        text += fmt::format("  {:<20} {}\n", entry.name, entry.summary);
    return text + fmt::format("  {:<20} keys: {}\n", "an object", fmt::join(schedule_keys(), ", "));
}

std::string list_collectives() {
    std::string text =
        "  n workers, p = 2^floor(log2 n), S bytes, B payload bandwidth, L one-way latency\n";
    for (const CollectiveEntry& entry : collective_table()) {
        std::string head = fmt::format("  {:<11} {:<19} ", entry.key, entry.name);
        text += wrapped(std::move(head), entry.closed_form);
    }
    return text +
           "  exact forms, with chunk sizes and groups of any size: docs/models/collectives.md\n";
}

std::string list_combinations() {
    return "  the tables of docs/combinations.md: paceline list combinations\n";
}

std::string list_schema() {
    return "  every key of a scenario, as a JSON schema: paceline list schema\n";
}

struct List {
    std::string_view name;
    std::string (*text)();
    std::string_view group{};  // the heading above the first list of a group
};

constexpr auto lists = std::to_array<List>(
    {{"algorithms", &list_algorithms, "\"algorithm\": how it trains, and what it sends"},
     {"codecs", &list_codecs},
     {"aggregations", &list_aggregations},
     {"schedules", &list_schedules},
     {"combinations", &list_combinations},
     {"mixings", &list_mixings},
     {"collectives", &list_collectives},
     {"fabrics", &list_fabrics, "\"cluster\": machines and their network"},
     {"links", &list_links},
     {"transports", &list_transports},
     {"libraries", &list_libraries},
     {"models", &list_models, "\"workload\": what is trained, and how long a gradient takes"},
     {"data", &list_data},
     {"profiles", &list_profiles},
     {"devices", &list_devices},
     {"schema", &list_schema, "the whole scenario"}});

constexpr auto names = [] {
    std::array<std::string_view, lists.size()> all{};
    std::ranges::transform(lists, all.begin(), &List::name);
    return all;
}();

}  // namespace

std::span<const std::string_view> list_names() {
    return names;
}

std::string list_text(std::string_view name) {
    if (name == "combinations") return combinations_text();
    if (name == "schema") return std::string(resource("scenarios/scenario.schema.json"));
    std::string text;
    for (const List& list : lists) {
        if (!name.empty() && list.name != name) continue;
        if (name.empty() && !list.group.empty())
            text += fmt::format("{}{}\n{:=<{}}\n", text.empty() ? "" : "\n", list.group, "",
                                list.group.size());
        text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", list.name, list.text());
    }
    return text;
}

}  // namespace paceline
