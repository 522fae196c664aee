// paceline explore: serves the explorer's page from this machine to a browser on it.
//
// The page is a static folder (make explorer). A plugin serves it (explore_server.hpp), so that no
// other command loads the libraries of a web server.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/explore_server.hpp"
#include "app/host/console.hpp"
#include "app/host/plugin.hpp"
#include "app/host/program_file.hpp"
#include "app/json/config_error.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct ExploreArguments {
    std::string folder;
    int port = 0;  // 0: any that is free
    bool no_browser = false;
};

fs::path folder_of_page(const ExploreArguments& arguments) {
    fs::path named = arguments.folder;
    if (named.empty()) {
        if (const auto found = find_shipped(explorer_page, program_file())) return *found;
        named = installed_place(explorer_page, program_file());
    }
    std::error_code ignored;
    if (fs::exists(named / explorer_page.file, ignored)) return named;
    throw ConfigError("command line", "explore",
                      fmt::format("there is no page in {}; `make explorer` builds it into "
                                  "build/explorer, and --folder names another place",
                                  named.string()));
}

void open_browser(const std::string& address) {
#ifdef __APPLE__
    const std::string opener = "open";
#else
    const std::string opener = "xdg-open";
#endif
    const std::string command = opener + " '" + address + "' >/dev/null 2>&1 &";
    static_cast<void>(std::system(command.c_str()));  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
}

int serve(const ExploreArguments& arguments) {
    const fs::path folder = fs::canonical(folder_of_page(arguments));
    const Plugin plugin = load_plugin("paceline_explore.so", "paceline_serve_page");
    if (plugin.function == nullptr)
        throw ConfigError(
            "command line", "explore",
            fmt::format("the server cannot be loaded ({}); any file server can serve the page, "
                        "such as python3 -m http.server --bind 127.0.0.1 --directory {}",
                        plugin.fault, folder.string()));
    const auto is_up = [&](int port) {
        const std::string address = fmt::format("http://127.0.0.1:{}/", port);
        print(stdout, fmt::format("the explorer is at {} (from {}); Ctrl-C stops it\n", address,
                                  folder.string()));
        std::fflush(stdout);
        if (!arguments.no_browser) open_browser(address);
    };
    const auto serve_page = reinterpret_cast<ServePage*>(plugin.function);
    const Served served = serve_page({folder.string(), arguments.port, is_up});
    if (served == Served::port_is_taken)
        throw ConfigError(
            "command line", "--port",
            fmt::format("{} is in use; leave it out to use any free one", arguments.port));
    return served == Served::done ? done : point_failed;
}

}  // namespace

Command explore_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand(
        "explore", "serve the explorer's page to a browser on this machine");
    const auto arguments = std::make_shared<ExploreArguments>();
    parser.add_option("--port", arguments->port, "port on 127.0.0.1 (default: any that is free)")
        ->check(CLI::Range(1, 65535));
    parser.add_option("--folder", arguments->folder, "folder of the page")
        ->check(names_something());
    parser.add_flag("--no-browser", arguments->no_browser, "only print the address");
    return {&parser, [arguments] { return serve(*arguments); }};
}

}  // namespace paceline
