#include "app/commands/teller.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/exit_codes.hpp"
#include "app/commands/out_of_memory.hpp"
#include "app/host/output.hpp"
#include "app/host/say.hpp"
#include "app/host/terminal.hpp"
#include "app/json/config_error.hpp"
#include "app/json/printable.hpp"
#include "app/study/study_progress.hpp"
#include "models/kernels/isa.hpp"

namespace paceline {

void Teller::warn(const std::string& text) const {
    tell("warning", text, "paceline: " + yellow(stderr, "warning:"));
}

void Teller::fail(const std::string& text) const {
    tell("error", text, red(stderr, "paceline:"));
}

void Teller::note(const std::string& text) const {
    tell("note", text, "paceline:");
}

void Teller::tell(const char* event, const std::string& text, const std::string& prefix) const {
    if (json_)
        log_json(event, {{"text", text}});
    else
        say_as_it_is(stderr, fmt::format("{} {}\n", prefix, printable(text)));
}

int told(const Teller& teller, const std::function<int()>& work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        for (const std::string& message : messages_of(error)) teller.fail(message);
        return wrong_input;
    } catch (const IsaError& error) {
        teller.fail(error.what());
        return wrong_input;
    } catch (const OutputError& error) {
        teller.fail(error.what());
    } catch (const std::bad_alloc&) {
        teller.fail(out_of_memory_text);
    } catch (const std::system_error& error) {
        teller.fail(
            fmt::format("the system refuses: {}; there may be too little memory or too "
                        "many threads (ulimit -v, ulimit -u)",
                        error.what()));
    } catch (const std::exception& error) {
        teller.fail(
            fmt::format("a fault of the program itself, please report it: {}", error.what()));
    }
    return point_failed;
}

}  // namespace paceline
