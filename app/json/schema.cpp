#include "app/json/schema.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"
#include "app/json/scenario_schema_text.hpp"  // made by CMake
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Nodes = std::vector<const Json*>;

// Adds a schema and everything that it may refer to: references and alternatives.
void expand(const Json& schema, const Json& node, Nodes& into) {
    if (const auto ref = node.find("$ref"); ref != node.end()) {
        const auto pointer = ref->get<std::string>().substr(1);  // "#/..." within this file
        expand(schema, schema.at(Json::json_pointer(pointer)), into);
    }
    for (const char* alternatives : {"oneOf", "anyOf", "allOf"})
        if (const auto list = node.find(alternatives); list != node.end())
            for (const Json& one : *list) expand(schema, one, into);
    into.push_back(&node);
}

std::vector<std::string_view> properties(const Nodes& nodes) {
    std::vector<std::string_view> names;
    for (const Json* node : nodes) {
        const auto found = node->find("properties");
        if (found == node->end()) continue;
        for (const auto& [name, value] : found->items())
            if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    }
    return names;
}

bool is_index(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_list(const Nodes& nodes) {
    return std::ranges::any_of(nodes, [](const Json* node) { return node->contains("items"); });
}

Nodes descend(const Json& schema, const Nodes& nodes, const std::string& key) {
    Nodes below;
    for (const Json* node : nodes) {
        if (const auto items = node->find("items"); items != node->end() && is_index(key))
            expand(schema, *items, below);
        const auto found = node->find("properties");
        if (found == node->end() || !found->contains(key)) continue;
        expand(schema, found->at(key), below);
    }
    return below;
}

// Reads the keys alone. The compiler does so: every start needs them, and scanning the schema was a
// quarter of a small run's instructions. Requires valid JSON whose keys have no escapes.
class KeyScanner {
  public:
    constexpr explicit KeyScanner(std::string_view text) : text_(text) {}

    // Calls `see` with each key of the object that comes next. It may read the key's value.
    template <class See>
    constexpr void for_each_key(See see) {
        at_ = text_.find('{', at_) + 1;
        for (; text_[at_] != '}'; ++at_) {
            if (text_[at_] != '"') continue;
            const std::string_view key = string();
            const std::size_t value = at_ = text_.find(':', at_) + 1;
            see(key);
            if (at_ == value) skip_value();
            --at_;
        }
        ++at_;
    }

  private:
    // Returns the string that begins here, and goes on behind it.
    constexpr std::string_view string() {
        const std::size_t begin = ++at_;
        at_ = text_.find('"', at_);
        while (text_[at_ - 1] == '\\' && is_escaped(at_)) at_ = text_.find('"', at_ + 1);
        return text_.substr(begin, at_++ - begin);
    }
    [[nodiscard]] constexpr bool is_escaped(std::size_t at) const {
        const std::size_t before = text_.find_last_not_of('\\', at - 1);
        return (at - before) % 2 == 0;
    }
    // Goes on to the comma or brace behind the value.
    constexpr void skip_value() {
        for (int depth = 0;; ++at_) {
            const char c = text_[at_];
            if (depth == 0 && (c == ',' || c == '}')) return;
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            if (c != '"') continue;
            string();
            --at_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Calls `see` with each definition that has properties, and each of its keys.
template <class See>
constexpr void for_each_key_of_definitions(See see) {
    KeyScanner scanner(scenario_schema_text);
    scanner.for_each_key([&](std::string_view part) {
        if (part != "definitions") return;
        scanner.for_each_key([&](std::string_view definition) {
            scanner.for_each_key([&](std::string_view keyword) {
                if (keyword != "properties") return;
                scanner.for_each_key([&](std::string_view key) { see(definition, key); });
            });
        });
    });
}

struct Definition {
    std::string_view name;
    std::size_t first = 0;  // of its keys
    std::size_t count = 0;
};

template <std::size_t definitions_count, std::size_t keys_count>
struct KeysOfDefinitions {
    std::array<Definition, definitions_count> definitions;
    std::array<std::string_view, keys_count> keys;
};

constexpr std::pair<std::size_t, std::size_t> number_of_definitions_and_keys = [] {
    std::string_view last;
    std::pair<std::size_t, std::size_t> count;
    for_each_key_of_definitions([&](std::string_view definition, std::string_view /*key*/) {
        if (definition != last) ++count.first;
        ++count.second;
        last = definition;
    });
    return count;
}();

constexpr auto keys_of_definitions = [] {
    KeysOfDefinitions<number_of_definitions_and_keys.first, number_of_definitions_and_keys.second>
        all;
    std::size_t i = 0;
    std::size_t k = 0;
    for_each_key_of_definitions([&](std::string_view definition, std::string_view key) {
        if (k == 0 || all.definitions[i - 1].name != definition)
            all.definitions[i++] = {definition, k, 0};
        ++all.definitions[i - 1].count;
        all.keys[k++] = key;
    });
    return all;
}();

}  // namespace

const Json& scenario_schema() {
    static const Json schema =
        parse_json(resource("scenarios/scenario.schema.json"), "scenarios/scenario.schema.json");
    return schema;
}

Keys definition_keys(std::string_view name) {
    const auto& [definitions, keys] = keys_of_definitions;
    const auto found = std::ranges::find(definitions, name, &Definition::name);
    PACELINE_CHECK(found != definitions.end(), "the schema defines every object that is read");
    return Keys(keys).subspan(found->first, found->count);
}

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = path.find_first_of(".[", begin);
        std::string_view part = path.substr(begin, end - begin);
        if (part.ends_with(']')) part.remove_suffix(1);
        parts.emplace_back(part);
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

Fault path_fault(const Json& schema, std::string_view path) {
    Nodes nodes;
    expand(schema, schema, nodes);
    for (const std::string& key : split_path(path)) {
        Nodes below = descend(schema, nodes, key);
        const std::vector<std::string_view> known = properties(nodes);
        if (below.empty() && known.empty() && is_list(nodes))
            return {fmt::format("\"{}\" is no index of a list; elements count from 0", key)};
        if (below.empty() && known.empty())
            return {fmt::format("nothing lies below this path at \"{}\"", key)};
        if (below.empty()) return unknown(key, "a key on this path", known);
        nodes = std::move(below);
    }
    return {};
}

std::string path_problem(const Json& schema, std::string_view path) {
    return path_fault(schema, path).problem;
}

std::vector<std::string> schema_keys(const Json& schema, std::string_view path) {
    Nodes nodes;
    expand(schema, schema, nodes);
    if (!path.empty())
        for (const std::string& key : split_path(path)) nodes = descend(schema, nodes, key);
    const std::vector<std::string_view> names = properties(nodes);
    return {names.begin(), names.end()};
}

}  // namespace paceline
