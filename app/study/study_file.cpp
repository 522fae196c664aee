#include "app/study/study_file.hpp"

#include "app/host/files.hpp"

namespace paceline {

ScenarioText open_scenario(const std::string& file) {
    return {file, read_text(file), files_of_this_machine()};
}

Study read_study(const std::string& file, const Settings& settings, const Picks& picks,
                 const SeePoint& see) {
    return read_study(open_scenario(file), settings, picks, see);
}

}  // namespace paceline
