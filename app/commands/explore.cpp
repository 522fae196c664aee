// paceline explore: serves the explorer's page from this machine to a browser on it.
//
// The page is a static folder (make explorer). It is served on 127.0.0.1 alone, so that nobody else
// can reach it, until the command is interrupted. The page itself sends nothing to this server.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/host/say.hpp"
#include "app/json/config_error.hpp"

#if PACELINE_HTTPLIB
#include <httplib.h>
#endif

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct ExploreArguments {
    std::string folder;
    int port = 0;  // 0: any that is free
    bool no_browser = false;
};

fs::path folder_of_page(const ExploreArguments& arguments) {
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    const fs::path installed =
        (program.parent_path() / "../share/paceline/explorer").lexically_normal();
    std::vector<fs::path> places{installed, fs::path(PACELINE_EXPLORER_FOLDER)};
    if (!arguments.folder.empty()) places = {fs::path(arguments.folder)};
    for (const fs::path& place : places)
        if (fs::exists(place / "index.html", ignored)) return place;
    throw ConfigError("command line", "explore",
                      fmt::format("there is no page in {}; `make explorer` builds it into "
                                  "build/explorer, and --folder names another place",
                                  places.front().string()));
}

#if PACELINE_HTTPLIB
void open_browser(const std::string& address) {
    const std::string command = "xdg-open '" + address + "' >/dev/null 2>&1 &";
    static_cast<void>(std::system(command.c_str()));  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
}

// Binds to a port, or to any free one if it is 0. Returns the port, or -1 if it is taken.
int bound_port(httplib::Server& server, const char* host, int wanted) {
    if (wanted == 0) return server.bind_to_any_port(host);
    return server.bind_to_port(host, wanted) ? wanted : -1;
}

int serve(const ExploreArguments& arguments) {
    const fs::path folder = folder_of_page(arguments);
    httplib::Server server;
    server.set_mount_point("/", folder.string(), {{"Cache-Control", "no-cache"}});
    server.set_file_extension_and_mimetype_mapping("wasm", "application/wasm");
    const char* const host = "127.0.0.1";
    const int port = bound_port(server, host, arguments.port);
    if (port < 0)
        throw ConfigError(
            "command line", "--port",
            fmt::format("{} is taken; leave it out for any free one", arguments.port));
    const std::string address = fmt::format("http://{}:{}/", host, port);
    say(stdout,
        fmt::format("the explorer is at {} (from {}); Ctrl-C ends it\n", address, folder.string()));
    std::fflush(stdout);
    if (!arguments.no_browser) open_browser(address);
    return server.listen_after_bind() ? done : point_failed;
}
#else
int serve(const ExploreArguments& arguments) {
    throw ConfigError(
        "command line", "explore",
        fmt::format("this paceline was built without cpp-httplib; any file server "
                    "serves the page, such as python3 -m http.server --bind 127.0.0.1 "
                    "--directory {}",
                    folder_of_page(arguments).string()));
}
#endif

}  // namespace

Command explore_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand(
        "explore", "serve the explorer's page to a browser on this machine");
    const auto arguments = std::make_shared<ExploreArguments>();
    parser.add_option("--port", arguments->port, "port on 127.0.0.1 (default: any that is free)")
        ->check(CLI::Range(1, 65535));
    parser.add_option("--folder", arguments->folder, "folder of the page")
        ->check(names_something());
    parser.add_flag("--no-browser", arguments->no_browser, "only say the address");
    return {&parser, [arguments] { return serve(*arguments); }};
}

}  // namespace paceline
