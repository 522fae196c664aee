// paceline diagnose: finds which single cause explains measured numbers, and what helps then.
#include "app/questions/diagnose/diagnose.hpp"

#include <memory>
#include <string>
#include <vector>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/host/console.hpp"
#include "app/host/interruption.hpp"
#include "app/host/output.hpp"
#include "app/questions/diagnose/diagnosis_text.hpp"
#include "app/questions/solve_points.hpp"

namespace paceline {

namespace {

struct DiagnoseArguments {
    ScenarioArguments scenario;
    std::vector<std::string> measured;
    double noise = usual_noise_of_a_number;
    int jobs = 0;  // 0: the number of cores
    bool no_advice = false;
    bool json = false;
};

int diagnose_and_tell(const DiagnoseArguments& arguments) {
    Interruption interruption;  // must precede any other thread
    DiagnoseQuestion question{arguments.scenario.open(), arguments.scenario.settings,
                              arguments.scenario.picks,  arguments.measured,
                              arguments.noise,           !arguments.no_advice};
    return exit_code_of_question(interruption, "stopped", [&] {
        const Diagnosis found =
            diagnose(question, concurrently(options_of_question(arguments.jobs, interruption)));
        print(stdout, arguments.json ? diagnosis_json(found) : diagnosis_text(found));
        return found.answers.empty() ? point_failed : done;
    });
}

}  // namespace

Command diagnose_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser =
        *program.add_subcommand("diagnose",
                                "find the single cause that explains measured numbers, what would "
                                "tell causes apart, and what helps");
    const auto arguments = std::make_shared<DiagnoseArguments>();
    add_scenario_arguments(parser, arguments->scenario);
    arguments->scenario.own = own;
    parser
        .add_option("--measured", arguments->measured,
                    "what was measured: step=4s, nodes=1:step=520ms, throughput=120, "
                    "all-reduce=256MiB:nodes=2:step=1s")
        ->required()
        ->allow_extra_args(false)
        ->take_all();
    parser
        .add_option("--noise", arguments->noise,
                    "relative error of a measured number (default: 0.05)")
        ->check(CLI::Range(1e-3, 0.5));
    parser
        .add_option("--jobs", arguments->jobs, "points run in parallel (default: number of cores)")
        ->check(CLI::Range(1, 1024));
    parser.add_flag("--no-advice", arguments->no_advice, "do not look for remedies");
    parser.add_flag("--json", arguments->json, "print one JSON object");
    return {&parser, [arguments] { return diagnose_and_tell(*arguments); }};
}

}  // namespace paceline
