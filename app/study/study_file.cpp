#include "app/study/study_file.hpp"

#include <utility>

#include "app/host/files.hpp"

namespace paceline {

ScenarioText open_scenario(const std::string& file, OwnParts own) {
    Sources sources = files_of_this_machine();
    sources.own = std::move(own);
    return {file, read_text(file), std::move(sources)};
}

Study read_study(const std::string& file, const Settings& settings, const Picks& picks,
                 const SeePoint& see) {
    return read_study(open_scenario(file), settings, picks, see);
}

}  // namespace paceline
