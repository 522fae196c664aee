#include "app/commands/console_log.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/exit_codes.hpp"
#include "app/commands/out_of_memory.hpp"
#include "app/host/console.hpp"
#include "app/host/output.hpp"
#include "app/host/terminal.hpp"
#include "app/json/config_error.hpp"
#include "app/json/printable.hpp"
#include "app/study/study_progress.hpp"
#include "models/kernels/isa.hpp"

namespace paceline {

void ConsoleLog::warn(const std::string& text) const {
    write("warning", text, "paceline: " + yellow(stderr, "warning:"));
}

void ConsoleLog::fail(const std::string& text) const {
    write("error", text, red(stderr, "paceline:"));
}

void ConsoleLog::note(const std::string& text) const {
    write("note", text, "paceline:");
}

void ConsoleLog::write(const char* event, const std::string& text,
                       const std::string& prefix) const {
    if (json_)
        log_json(event, {{"text", text}});
    else
        print_raw(stderr, fmt::format("{} {}\n", prefix, printable(text)));
}

int exit_code_of(const ConsoleLog& log, const std::function<int()>& work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        for (const std::string& message : messages_of(error)) log.fail(message);
        return wrong_input;
    } catch (const IsaError& error) {
        log.fail(error.what());
        return wrong_input;
    } catch (const OutputError& error) {
        log.fail(error.what());
    } catch (const std::bad_alloc&) {
        log.fail(out_of_memory_text);
    } catch (const std::system_error& error) {
        log.fail(
            fmt::format("the system refused: {}; there may be too little memory or too many "
                        "threads (ulimit -v, ulimit -u)",
                        error.what()));
    } catch (const std::exception& error) {
        log.fail(fmt::format("internal error, please report it: {}", error.what()));
    }
    return point_failed;
}

}  // namespace paceline
