#include "app/json/json_paths.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/schema.hpp"

namespace paceline {

namespace {

bool is_list_index(std::string_view key) {
    return !key.empty() && key.size() < 10 &&
           std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the element of a list that a key names.
Json& element(Json& list, const std::string& key, std::string_view file, const std::string& shown) {
    if (!is_list_index(key))
        throw ConfigError(
            std::string(file), shown,
            fmt::format("leads into a list at \"{}\"; name an element by its index, counted from 0",
                        key));
    const std::size_t index = std::stoul(key);
    if (index >= list.size())
        throw ConfigError(
            std::string(file), shown,
            fmt::format("names element {} of a list that has {}; elements count from 0", index,
                        list.size()));
    return list[index];
}

}  // namespace

void put_at(Json& json, const std::string& path, const Json& value, std::string_view file,
            const std::string& shown) {
    Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (at->is_array()) {
            at = &element(*at, key, file, shown);
            continue;
        }
        if (at->is_null()) *at = Json::object();
        if (!at->is_object())
            throw ConfigError(
                std::string(file), shown,
                fmt::format("leads through a value that is not an object, above \"{}\"; make "
                            "that value an object",
                            key));
        at = &(*at)[key];
    }
    *at = value;
}

const Json* value_at(const Json& json, const std::string& path) {
    const Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (at->is_array() && is_list_index(key) && std::stoul(key) < at->size())
            at = &(*at)[std::stoul(key)];
        else if (at->is_object() && at->contains(key))
            at = &at->at(key);
        else
            return nullptr;
    }
    return at;
}

bool has_at(const Json& json, const std::string& path) {
    return value_at(json, path) != nullptr;
}

std::string barrier_to(const Json& json, const std::string& path) {
    const Json* at = &json;
    std::string passed;
    for (const std::string& key : split_path(path)) {
        if (at->is_array() && is_list_index(key) && std::stoul(key) < at->size())
            at = &(*at)[std::stoul(key)];
        else if (at->is_object() && at->contains(key))
            at = &at->at(key);
        else
            return at->is_structured() || at->is_null() ? std::string() : passed;
        passed += "." + key;
    }
    return {};
}

}  // namespace paceline
