#include "app/commands/command.hpp"

#include <algorithm>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "app/commands/console_log.hpp"
#include "app/host/output.hpp"
#include "app/questions/solve_points.hpp"
#include "app/study/study_file.hpp"

namespace paceline {

namespace {

std::string quoted(const std::string& text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
    std::string all = "'";
    for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

// Returns an option as it was given, such as " --set a=1 --set b=2".
std::string as_given(const CLI::Option& option) {
    std::string text;
    for (const std::string& value : option.results()) {
        if (option.get_positional())
            text += " " + quoted(value);
        else if (option.get_items_expected_max() == 0)  // a flag
            text += " " + option.get_name() + (value == "true" ? "" : "=" + quoted(value));
        else
            text += " " + option.get_name() + (value.starts_with('-') ? "=" : " ") + quoted(value);
    }
    return text;
}

}  // namespace

StudyOptions options_of_question(int jobs, Interruption& interruption) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    StudyOptions options;
    options.pool = {static_cast<std::size_t>(jobs > 0 ? jobs : cores),
                    static_cast<std::size_t>(cores)};
    options.stop = interruption.token();
    options.begins = [&interruption] { interruption.hold(); };
    return options;
}

int exit_code_of_question(const Interruption& interruption, std::string_view if_stopped,
                          const std::function<int()>& answer) {
    try {
        return answer();
    } catch (const OutputError& error) {
        ConsoleLog().fail(error.what());
        return wrong_input;
    } catch (const SearchStopped&) {
        ConsoleLog().note(std::string(if_stopped));
        return 128 + interruption.signal();
    }
}

std::string command_text(const CLI::App& parser) {
    std::string text = "paceline " + parser.get_name();
    for (const CLI::Option* option : parser.get_options())
        if (option->count() > 0) text += as_given(*option);
    return text;
}

CLI::Validator names_something() {
    return {[](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "",
            "names something"};
}

ScenarioText ScenarioArguments::open() const {
    return open_scenario(file, own);
}

void add_scenario_arguments(CLI::App& parser, ScenarioArguments& arguments) {
    parser.add_option("SCENARIO", arguments.file, "a JSON scenario")->required();
    parser.add_option("--set", arguments.settings, "path=value: change the scenario")
        ->allow_extra_args(false)
        ->take_all();
    parser
        .add_option("--pick", arguments.picks,
                    "axis=label: use only this value of a sweep's axis; may be repeated")
        ->allow_extra_args(false)
        ->take_all();
    parser.add_flag("--strict", arguments.strict, "treat warnings (docs/warnings.md) as errors");
}

void add_interval_option(CLI::App& parser, ScenarioArguments& arguments) {
    parser.add_flag_callback(
        "--interval", [&arguments] { arguments.settings.emplace_back("measure.interval=true"); },
        "print 90 % prediction intervals; the same as --set measure.interval=true");
}

}  // namespace paceline
