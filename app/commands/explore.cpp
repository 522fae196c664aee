// paceline explore: serves the explorer's page from this machine to a browser on it.
//
// The page is a static folder (make explorer). It is served on 127.0.0.1 alone, so that nobody else
// can reach it, until the command is interrupted. The page itself sends nothing to this server.
//
//   port      of this program alone; a second one is refused
//   Host      127.0.0.1 or localhost, so that no other site's name leads here (DNS rebinding)
//   files     of the folder; no names that begin with a dot, no links that lead out of it
//   ranges    one at most
//   clients   each has a thread, so that a slow one keeps nobody out
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"
#include "app/host/program_file.hpp"
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

#if PACELINE_HTTPLIB
void open_browser(const std::string& address) {
#ifdef __APPLE__
    const std::string opener = "open";
#else
    const std::string opener = "xdg-open";
#endif
    const std::string command = opener + " '" + address + "' >/dev/null 2>&1 &";
    static_cast<void>(std::system(command.c_str()));  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
}

// A thread for each connection, up to a number; those beyond it wait.
class ThreadForEach : public httplib::TaskQueue {
  public:
    // Whether it was accepted, in later versions of httplib; nothing in earlier ones.
    using Accepted = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

    Accepted enqueue(std::function<void()> serve) override {
        const std::scoped_lock lock(mutex_);
        waiting_.push_back(std::move(serve));
        if (serving_ < most) {
            ++serving_;
            std::thread([this] { serve_all(); }).detach();
        }
        return static_cast<Accepted>(true);
    }
    void shutdown() override {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return serving_ == 0; });
    }

  private:
    static constexpr int most = 500;

    void serve_all() {
        std::unique_lock lock(mutex_);
        while (!waiting_.empty()) {
            const std::function<void()> serve = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            serve();
            lock.lock();
        }
        --serving_;
        done_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable done_;
    std::deque<std::function<void()>> waiting_;
    int serving_ = 0;
};

// Returns whether this is a file of the folder, or would be if it were there.
bool is_of(const fs::path& folder, const std::string& path) {
    if (path.find('\0') != std::string::npos) return false;
    const fs::path wanted = fs::path(path).relative_path();
    for (const fs::path& part : wanted)
        if (part.string().starts_with('.')) return false;
    std::error_code error;
    const fs::path real = fs::weakly_canonical(folder / wanted, error);
    const auto [end, ignored] = std::ranges::mismatch(folder, real);
    return !error && end == folder.end();
}

bool is_own_name(const std::string& host, int port) {
    return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

// Refuses requests by their headers and paths (see above).
void guard(httplib::Server& server, const fs::path& folder, int port) {
    server.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"X-Frame-Options", "DENY"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
          "connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}});
    server.set_pre_routing_handler(
        [folder, port](const httplib::Request& request, httplib::Response& response) {
            const bool is_here = is_own_name(request.get_header_value("Host"), port);
            if (!is_here)
                response.status = 403;
            else if (request.method != "GET" && request.method != "HEAD")
                response.status = 405;
            else if (request.ranges.size() > 1)
                response.status = 416;
            else if (!is_of(folder, request.path))
                response.status = 404;
            else
                return httplib::Server::HandlerResponse::Unhandled;
            return httplib::Server::HandlerResponse::Handled;
        });
    constexpr std::size_t most_body = 4096;
    server.set_payload_max_length(most_body);
    server.new_task_queue = [] { return new ThreadForEach; };
}

// Binds to a port, or to any free one if it is 0. Returns the port, or -1 if it is taken. With
// httplib's own options a second program could share the port, and its queue of five connections
// that wait to be accepted would let a few clients keep others out.
int bound_port(httplib::Server& server, const char* host, int wanted) {
    socket_t listening = -1;
    server.set_socket_options([&listening](socket_t socket) {
        const int yes = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        listening = socket;
    });
    const int any = wanted == 0 ? server.bind_to_any_port(host) : wanted;
    if (any < 0 || (wanted != 0 && !server.bind_to_port(host, wanted))) return -1;
    ::listen(listening, SOMAXCONN);
    return any;
}

int serve(const ExploreArguments& arguments) {
    const fs::path folder = fs::canonical(folder_of_page(arguments));
    httplib::Server server;
    server.set_mount_point("/", folder.string(), {{"Cache-Control", "no-cache"}});
    server.set_file_extension_and_mimetype_mapping("wasm", "application/wasm");
    const char* const host = "127.0.0.1";
    const int port = bound_port(server, host, arguments.port);
    if (port < 0)
        throw ConfigError(
            "command line", "--port",
            fmt::format("{} is taken; leave it out for any free one", arguments.port));
    guard(server, folder, port);
    const std::string address = fmt::format("http://{}:{}/", host, port);
    print(stdout, fmt::format("the explorer is at {} (from {}); Ctrl-C ends it\n", address,
                              folder.string()));
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
    parser.add_flag("--no-browser", arguments->no_browser, "only print the address");
    return {&parser, [arguments] { return serve(*arguments); }};
}

}  // namespace paceline
