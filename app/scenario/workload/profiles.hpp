// Profiles of published networks, built in or from a user's file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/json_file.hpp"
#include "app/json/object_reader.hpp"
#include "models/profile.hpp"
#include "models/tensor_times.hpp"

namespace paceline {

/// A profile with what every point derives from it.
struct ChargedNet {
    explicit ChargedNet(Profile of);

    Profile profile;
    LayoutPtr layout;
    std::shared_ptr<const std::vector<double>> tensor_macs;
    std::shared_ptr<const TensorTimes> tensor_times;  // as measured; null: not measured
};

using ChargedNetPtr = std::shared_ptr<const ChargedNet>;

/// Returns the names of the built-in profiles, in alphabetical order.
std::vector<std::string_view> profile_names();
/// Returns a built-in profile. Requires that the name is one of these.
Profile shipped_profile(std::string_view name);

/// Returns the profile that `place` names: a built-in one, a file that ends in ".json", relative
/// to the scenario's folder, or the sizes of a transformer (models/decoder.hpp). Throws ConfigError
/// with the path in the scenario, or in the profile's own file. Each is read once for all points of
/// a study.
ChargedNetPtr load_profile(const Place& place);

/// Reads a profile from its JSON. Throws ConfigError.
Profile read_profile(const Json& json, const std::string& file);

}  // namespace paceline
