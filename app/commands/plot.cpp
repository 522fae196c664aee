// paceline plot: draws the results of a study, or a testbed, with the scripts of analysis/plots.
#include "app/questions/plot.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/host/program_file.hpp"
#include "app/json/config_error.hpp"

namespace paceline {

namespace {

int plot(const PlotRequest& request) {
    require_results(request.folder);
    const auto scripts = find_shipped(plot_scripts, program_file());
    if (!scripts)
        throw ConfigError("command line", "plot",
                          fmt::format("its scripts are not in {}; install paceline again, or keep "
                                      "its source tree",
                                      installed_place(plot_scripts, program_file()).string()));
    std::vector<std::string> command = plot_command(plotting_python(), *scripts, request);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    ::execvp(arguments.front(), arguments.data());
    throw ConfigError("command line", "plot",
                      fmt::format("{} cannot be run: {}", command.front(), std::strerror(errno)));
}

void add_choices(CLI::App& parser, PlotRequest& request) {
    parser
        .add_option("--where", request.where,
                    "AXIS=VALUE: draw only these points; may be repeated, also for one axis")
        ->allow_extra_args(false)
        ->take_all();
    parser
        .add_option_function<std::vector<std::string>>(
            "--panels", [&request](const auto& axes) { request.panels = axes; },
            "an axis that gets a panel for each value; the others are lines")
        ->allow_extra_args(false)
        ->take_all();
    parser.add_option("--x", request.x,
                      "bandwidth, heatmap: the axis along x (default: the bandwidth); convergence: "
                      "time, iteration, epoch or bytes; frontier: the column along x");
    parser.add_option("--y", request.y, "heatmap: the axis along y (default: nodes)");
    parser.add_option("--value", request.value,
                      "the column to draw (default: step_time_s for bandwidth, speedup for "
                      "heatmap, losses and accuracy for convergence, cost or energy for frontier)");
    parser
        .add_option("--ratio", request.ratio,
                    "heatmap: two algorithms A B, for A's value divided by B's")
        ->expected(2);
    parser
        .add_option("--target", request.targets,
                    "NUMBER or COLUMN=NUMBER: a line to compare with, such as efficiency=0.9; may "
                    "be repeated (speedup, bandwidth, convergence)")
        ->allow_extra_args(false)
        ->take_all();
    parser
        .add_option("--band", request.band,
                    "band over seeds: sd (standard deviation, the default), ci (95 % confidence "
                    "interval of the mean), minmax or none")
        ->check(CLI::IsMember({"sd", "ci", "minmax", "none"}));
    parser.add_option("--scale", request.scale, "linear or log")
        ->check(CLI::IsMember({"linear", "log"}));
    parser
        .add_option("--width", request.width,
                    "single (3.4 inches) or double (7); by default chosen for the figure")
        ->check(CLI::IsMember({"single", "double"}));
    parser.add_option_function<std::string>(
        "--title", [&request](const std::string& title) { request.title = title; },
        "title in place of the study's; \"\" for none");
}

}  // namespace

Command plot_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand("plot", "draw the results of a study, or a testbed");
    const auto request = std::make_shared<PlotRequest>();
    parser
        .add_option("RESULTS", request->folder,
                    "a folder that paceline run has written, or a testbed of paceline calibrate")
        ->required();
    parser.add_option(
        "KIND", request->kinds,
        "speedup, convergence, bandwidth, heatmap, breakdown, links, answers, frontier "
        "(default: all that fit)");
    parser.add_option("--out", request->out, "folder for figures (default: that of the results)")
        ->check(names_something());
    parser.add_option("--format", request->formats,
                      "svg, png, pdf, separated by commas (default: all)");
    add_choices(parser, *request);
    return {&parser, [request] { return plot(*request); }};
}

}  // namespace paceline
