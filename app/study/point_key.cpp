#include "app/study/point_key.hpp"

#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/content_hash.hpp"
#include "app/host/program_file.hpp"
#include "app/host/version.hpp"

namespace paceline {

namespace fs = std::filesystem;

const std::string& program_hash() {
    static const std::string hash = [] {
        const std::optional<std::string> id = build_id();
        return id ? *id : content_hash_of(program_file());
    }();
    return hash;
}

const std::string& program_name() {
    static const std::string name = fmt::format("{} {}", version, program_hash());
    return name;
}

PointKeys::PointKeys(const std::string& scenario_file)
    : folder_(fs::path(scenario_file).parent_path()) {}

const std::string& PointKeys::hash_of(const std::string& text) {
    const auto [known, is_new] = hashes_.try_emplace(text);
    std::error_code error;
    if (!is_new) return known->second;
    const std::size_t method = text.find(".py:");  // "file.py:name" (own_method.hpp)
    const fs::path file =
        folder_ / (method == std::string::npos ? text : text.substr(0, method + 3));
    if (fs::is_regular_file(file, error) && !error) known->second = content_hash_of(file);
    return known->second;
}

void PointKeys::add_files(const Json& json, std::map<std::string, std::string>& found) {
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        if (const std::string& hash = hash_of(text); !hash.empty()) found[text] = hash;
    }
    if (json.is_array())
        for (const Json& inner : json) add_files(inner, found);
    if (json.is_object())
        for (const auto& [key, inner] : json.items())
            if (key != "$schema") add_files(inner, found);
}

std::string PointKeys::key(const std::string& resolved, std::string_view kind) {
    std::map<std::string, std::string> files;
    add_files(Json::parse(resolved), files);
    std::string all = fmt::format("{}\n{}\n{}\n", kind, program_name(), resolved);
    for (const auto& [text, hash] : files) all += fmt::format("{} {}\n", hash, text);
    return content_hash(all);
}

}  // namespace paceline
