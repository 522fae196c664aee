#include "app/json/schema.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/scenario_schema_text.hpp"  // made by CMake
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Nodes = std::vector<const Json*>;

// Adds a schema and everything that it may refer to: references and alternatives.
// `schema_at("/definitions/link")` returns what is there.
template <class SchemaAt>
void expand(const SchemaAt& schema_at, const Json& node, Nodes& into) {
    if (const auto ref = node.find("$ref"); ref != node.end())  // "#/..." within this file
        expand(schema_at, schema_at(ref->template get<std::string>().substr(1)), into);
    for (const char* alternatives : {"oneOf", "anyOf", "allOf"})
        if (const auto list = node.find(alternatives); list != node.end())
            for (const Json& one : *list) expand(schema_at, one, into);
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

// Calls `see` with each schema of a key.
template <class See>
void for_each_below(const Nodes& nodes, const std::string& key, See see) {
    for (const Json* node : nodes) {
        if (const auto items = node->find("items"); items != node->end() && is_index(key))
            see(*items);
        const auto found = node->find("properties");
        if (found != node->end() && found->contains(key)) see(found->at(key));
    }
}

template <class SchemaAt>
Nodes descend(const SchemaAt& schema_at, const Nodes& nodes, const std::string& key) {
    Nodes below;
    for_each_below(nodes, key, [&](const Json& node) { expand(schema_at, node, below); });
    return below;
}

auto parts_of(const Json& schema) {
    return [&schema](const std::string& pointer) -> const Json& {
        return schema.at(Json::json_pointer(pointer));
    };
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
    [[nodiscard]] constexpr std::size_t at() const { return at_; }

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

struct Definition {
    std::string_view name;
    std::size_t begin = 0;  // of its schema in the text
    std::size_t end = 0;
    std::size_t first_key = 0;
    std::size_t keys = 0;
};

// Calls `see` with each definition, and `see_key` with each of its keys before. Returns where the
// object of all definitions begins and ends.
template <class See, class SeeKey>
constexpr std::pair<std::size_t, std::size_t> for_each_definition(See see, SeeKey see_key) {
    std::pair<std::size_t, std::size_t> all;
    KeyScanner scanner(scenario_schema_text);
    scanner.for_each_key([&](std::string_view part) {
        if (part != "definitions") return;
        all.first = scanner.at();
        scanner.for_each_key([&](std::string_view name) {
            Definition definition{name, scanner.at()};
            scanner.for_each_key([&](std::string_view keyword) {
                if (keyword != "properties") return;
                scanner.for_each_key([&](std::string_view key) {
                    ++definition.keys;
                    see_key(key);
                });
            });
            definition.end = scanner.at();
            see(definition);
        });
        all.second = scanner.at();
    });
    return all;
}

constexpr std::pair<std::size_t, std::size_t> number_of_definitions_and_keys = [] {
    std::pair<std::size_t, std::size_t> count;
    for_each_definition([&](const Definition& /*definition*/) { ++count.first; },
                        [&](std::string_view /*key*/) { ++count.second; });
    return count;
}();

template <std::size_t DefinitionsCount, std::size_t KeysCount>
struct Definitions {
    std::size_t begin = 0;  // of all in the text
    std::size_t end = 0;
    std::array<Definition, DefinitionsCount> all;
    std::array<std::string_view, KeysCount> keys;
};

constexpr auto definitions = [] {
    Definitions<number_of_definitions_and_keys.first, number_of_definitions_and_keys.second> made;
    std::size_t i = 0;
    std::size_t k = 0;
    std::tie(made.begin, made.end) = for_each_definition(
        [&](Definition definition) {
            definition.first_key = k - definition.keys;
            made.all[i++] = definition;
        },
        [&](std::string_view key) { made.keys[k++] = key; });
    return made;
}();

const Definition& definition_of(std::string_view name) {
    const std::span all(definitions.all);
    const auto found = std::ranges::find(all, name, &Definition::name);
    PACELINE_CHECK(found != all.end(), "the schema defines every object that is read");
    return *found;
}

Json parsed_part(std::string_view text) {
    return parse_json(text, "scenarios/scenario.schema.json");
}

// The schema, of which only what is asked for is parsed.
class PartsOfSchema {
  public:
    // Returns the schema without its definitions.
    const Json& root() {
        const std::string_view text = scenario_schema_text;
        return part("", [&] {
            return std::string(text.substr(0, definitions.begin)) + "{}" +
                   std::string(text.substr(definitions.end));
        });
    }
    const Json& definition(const std::string& name) {
        const Definition& place = definition_of(name);
        return part(name, [&] {
            return scenario_schema_text.substr(place.begin, place.end - place.begin);
        });
    }

  private:
    template <class Text>
    const Json& part(const std::string& name, const Text& text) {
        const auto found = parts_.find(name);
        return found != parts_.end() ? found->second
                                     : parts_.emplace(name, parsed_part(text())).first->second;
    }

    std::map<std::string, Json> parts_;
};

// Returns whether some scenario can have this path.
bool is_known_path(std::string_view path) {
    PartsOfSchema parts;
    const auto schema_at = [&](const std::string& pointer) -> const Json& {
        return parts.definition(pointer.substr(std::string_view("/definitions/").size()));
    };
    Nodes nodes;
    expand(schema_at, parts.root(), nodes);
    const std::vector<std::string> keys = split_path(path);
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) nodes = descend(schema_at, nodes, keys[i]);
    bool known = false;  // what the last key refers to does not matter, and is often large
    for_each_below(nodes, keys.back(), [&](const Json& /*node*/) { known = true; });
    return known;
}

}  // namespace

const Json& scenario_schema() {
    static const Json schema = parsed_part(scenario_schema_text);
    return schema;
}

Keys definition_keys(std::string_view name) {
    const Definition& definition = definition_of(name);
    PACELINE_CHECK(definition.keys > 0, "an object that is read has keys");
    return Keys(definitions.keys).subspan(definition.first_key, definition.keys);
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
    expand(parts_of(schema), schema, nodes);
    for (const std::string& key : split_path(path)) {
        Nodes below = descend(parts_of(schema), nodes, key);
        const std::vector<std::string_view> known = properties(nodes);
        if (below.empty() && known.empty() && is_list(nodes))
            return {fmt::format("\"{}\" is not an index of a list; elements count from 0", key)};
        if (below.empty() && known.empty())
            return {fmt::format("nothing lies below this path at \"{}\"", key)};
        if (below.empty()) return unknown(key, "a key on this path", known);
        nodes = std::move(below);
    }
    return {};
}

Fault path_fault(std::string_view path) {
    return is_known_path(path) ? Fault{} : path_fault(scenario_schema(), path);
}

std::string path_problem(const Json& schema, std::string_view path) {
    return path_fault(schema, path).problem;
}

std::vector<std::string> schema_keys(const Json& schema, std::string_view path) {
    Nodes nodes;
    expand(parts_of(schema), schema, nodes);
    if (!path.empty())
        for (const std::string& key : split_path(path))
            nodes = descend(parts_of(schema), nodes, key);
    const std::vector<std::string_view> names = properties(nodes);
    return {names.begin(), names.end()};
}

}  // namespace paceline
