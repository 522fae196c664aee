#include "app/study/ranks/hello.hpp"

#include <nlohmann/json.hpp>

#include "app/host/content_hash.hpp"
#include "app/study/point_key.hpp"

namespace paceline {

void sign(Hello& hello, const StudyRuns& runs) {
    std::string keys;
    for (std::size_t run = 0; run < runs.size(); ++run) keys += runs.key(run) + "\n";
    hello.program = program_name();
    hello.study = content_hash(keys);
}

std::string hello_text(const Hello& hello) {
    const Json json{{"host", hello.host},
                    {"loops", hello.loops},
                    {"error", hello.error},
                    {"program", hello.program},
                    {"study", hello.study}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Hello read_hello(const std::string& text) {
    const Json json = Json::parse(text);
    return {json.at("host"), json.at("loops"), json.at("error"), json.at("program"),
            json.at("study")};
}

}  // namespace paceline
