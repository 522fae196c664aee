#include "tests/models/built_in_profile.hpp"

#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

namespace paceline {

Profile built_in_profile(const std::string& name) {
    std::ifstream file(std::string(PACELINE_SOURCE_DIR) + "/models/profiles/" + name + ".json");
    const auto json = nlohmann::json::parse(file);
    Profile profile;
    profile.name = name;
    for (const auto& layer : json.at("layers")) {
        ProfileLayer read{layer.at("name"), layer.at("macs"), {}};
        for (const auto& tensor : layer.at("tensors"))
            read.tensors.push_back({tensor.at("name"), tensor.at("shape")});
        profile.layers.push_back(std::move(read));
    }
    return profile;
}

}  // namespace paceline
