#include "tests/app/scenario/refused_scenarios.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_file.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct RefusalTable {
    std::string name;
    fs::path file;
    Json json;
};

std::vector<RefusalTable> refusal_tables(const fs::path& root) {
    std::vector<RefusalTable> tables;
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "tests" / "refusals")) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        tables.push_back({entry.path().stem().string(), entry.path(), Json::parse(in)});
    }
    std::ranges::sort(tables, {}, &RefusalTable::name);
    return tables;
}

void check_keys(const Json& object, std::span<const std::string_view> known) {
    for (const auto& [key, value] : object.items())
        if (std::ranges::find(known, key) == known.end())
            throw std::runtime_error(fmt::format("\"{}\" is not a key here", key));
}

std::string bytes_of_hex(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

std::string text_of_pieces(const Json& pieces) {
    if (pieces.is_string()) return pieces.get<std::string>();
    std::string text;
    if (pieces.is_array()) {
        for (const Json& piece : pieces) text += text_of_pieces(piece);
    } else if (pieces.contains("repeat")) {
        for (int i = pieces.at("times"); i > 0; --i) text += pieces.at("repeat").get<std::string>();
    } else if (pieces.contains("hex")) {
        text = bytes_of_hex(pieces.at("hex").get<std::string>());
    } else {
        const int from = pieces.at("from");
        const int to = pieces.at("to");
        for (int i = from; i <= to; ++i) text += fmt::format("{}{}", i == from ? "" : ", ", i);
    }
    return text;
}

std::string with_replaced(std::string text, const std::string& piece, const std::string& by) {
    const std::size_t at = text.find(piece);
    if (at == std::string::npos || text.find(piece, at + 1) != std::string::npos)
        throw std::runtime_error(fmt::format("\"{}\" does not occur once in the text", piece));
    return text.replace(at, piece.size(), by);
}

std::string text_of_case(const Json& table, const Json& one) {
    constexpr std::array<std::string_view, 4> ways{"change", "scenario", "text", "replace"};
    if (std::ranges::count_if(ways, [&](std::string_view way) { return one.contains(way); }) != 1)
        throw std::runtime_error(R"(give one of "change", "scenario", "text" and "replace")");
    if (one.contains("scenario")) return one.at("scenario").dump();
    if (one.contains("text")) return text_of_pieces(one.at("text"));
    if (one.contains("replace"))
        return with_replaced(text_of_pieces(table.at("base_text")), one.at("replace"),
                             text_of_pieces(one.at("by")));
    Json scenario = one.contains("on") ? table.at("bases").at(one.at("on").get<std::string>())
                                       : table.at("base");
    scenario.merge_patch(one.at("change"));
    return scenario.dump();
}

RefusedScenario read_refused(const RefusalTable& table, const Json& one) {
    constexpr std::array<std::string_view, 11> keys{
        "name", "on", "change", "scenario", "text",           "replace",
        "by",   "at", "in",     "says",     "valid_by_schema"};
    check_keys(one, keys);
    const std::string name = one.at("name");
    return {.table = table.name,
            .name = name,
            .file = fmt::format("{}#{}", table.file.string(), name),
            .text = text_of_case(table.json, one),
            .at = one.at("at"),
            .in = one.value("in", ""),
            .says = one.at("says"),
            .valid_by_schema = one.value("valid_by_schema", false)};
}

}  // namespace

std::vector<RefusedScenario> refused_scenarios(const fs::path& root) {
    constexpr std::array<std::string_view, 4> keys{"base", "bases", "base_text", "cases"};
    std::vector<RefusedScenario> refused;
    std::set<std::string> names;
    for (const RefusalTable& table : refusal_tables(root)) {
        check_keys(table.json, keys);
        for (const Json& one : table.json.at("cases")) {
            try {
                refused.push_back(read_refused(table, one));
                if (!names.insert(refused.back().name).second)
                    throw std::runtime_error("another case has this name");
            } catch (const std::exception& error) {
                throw std::runtime_error(fmt::format("{}: {}: {}", table.file.string(),
                                                     one.value("name", "?"), error.what()));
            }
        }
    }
    std::ranges::sort(refused, {}, [](const auto& one) { return one.name + ".json"; });
    return refused;
}

std::vector<BaseScenario> bases_of_refused_scenarios(const fs::path& root) {
    std::vector<BaseScenario> bases;
    for (const RefusalTable& table : refusal_tables(root)) {
        const std::string file = table.file.string();
        if (table.json.contains("base"))
            bases.push_back({file + "#base", table.json.at("base").dump()});
        if (table.json.contains("base_text"))
            bases.push_back({file + "#base_text", text_of_pieces(table.json.at("base_text"))});
        if (table.json.contains("bases"))
            for (const auto& [name, base] : table.json.at("bases").items())
                bases.push_back({fmt::format("{}#{}", file, name), base.dump()});
    }
    return bases;
}

}  // namespace paceline
