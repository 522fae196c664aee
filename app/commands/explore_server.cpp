// The plugin paceline_explore.so.
#include "app/commands/explore_server.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <httplib.h>

namespace paceline {

namespace {

namespace fs = std::filesystem;

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
    const std::string end = ":" + std::to_string(port);
    return host == "127.0.0.1" + end || host == "localhost" + end;
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

}  // namespace

}  // namespace paceline

extern "C" paceline::Served paceline_serve_page(const paceline::ServedPage& page) {
    httplib::Server server;
    server.set_mount_point("/", page.folder, {{"Cache-Control", "no-cache"}});
    server.set_file_extension_and_mimetype_mapping("wasm", "application/wasm");
    const int port = paceline::bound_port(server, "127.0.0.1", page.port);
    if (port < 0) return paceline::Served::port_is_taken;
    paceline::guard(server, page.folder, port);
    page.is_up(port);
    return server.listen_after_bind() ? paceline::Served::done : paceline::Served::failed;
}
