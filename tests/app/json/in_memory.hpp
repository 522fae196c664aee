// Texts in memory as the files that a scenario names.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "app/json/config_error.hpp"
#include "app/json/sources.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

/// Returns a source of these texts, by file name. How much memory there is, it does not know.
inline Sources in_memory(std::map<std::string, std::string> texts) {
    const auto data = [texts](const std::string& file) {
        const auto found = texts.find(file);
        if (found == texts.end()) throw DataError(file, 0, "there is no such text");
        return std::vector<unsigned char>(found->second.begin(), found->second.end());
    };
    const auto text = [texts = std::move(texts)](const std::string& file) {
        const auto found = texts.find(file);
        if (found == texts.end()) throw ConfigError(file, "", "there is no such text");
        return found->second;
    };
    return {.text = text, .data = data, .available_memory = [] { return AvailableMemory{}; }};
}

}  // namespace paceline
