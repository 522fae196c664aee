#include "app/study/ranks/greeting.hpp"

#include <nlohmann/json.hpp>

#include "app/host/content_hash.hpp"
#include "app/study/point_key.hpp"

namespace paceline {

void sign(Greeting& greeting, const StudyRuns& runs) {
    std::string keys;
    for (std::size_t run = 0; run < runs.size(); ++run) keys += runs.key(run) + "\n";
    greeting.program = program_name();
    greeting.study = content_hash(keys);
}

std::string greeting_text(const Greeting& greeting) {
    const Json json{{"host", greeting.host},
                    {"loops", greeting.loops},
                    {"error", greeting.error},
                    {"program", greeting.program},
                    {"study", greeting.study}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Greeting read_greeting(const std::string& text) {
    const Json json = Json::parse(text);
    return {json.at("host"), json.at("loops"), json.at("error"), json.at("program"),
            json.at("study")};
}

}  // namespace paceline
