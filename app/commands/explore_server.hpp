// The web server of `paceline explore`, which is a plugin: paceline_explore.so.
//
// It serves a folder on 127.0.0.1 alone, so that nobody else can reach it, until the program ends.
// The page itself sends nothing to this server.
//
//   port      of this program alone; a second one is refused
//   Host      127.0.0.1 or localhost, so that no other site's name leads here (DNS rebinding)
//   files     of the folder; no names that begin with a dot, no links that lead out of it
//   ranges    one at most
//   clients   each has a thread, so that a slow one keeps nobody out
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace paceline {

struct ServedPage {
    std::string folder;
    int port;                        // 0: any that is free
    std::function<void(int)> is_up;  // called with the port, before the first request is served
};

enum class Served : std::uint8_t { done, failed, port_is_taken };

/// The type of the plugin's function paceline_serve_page, which returns when the server has ended.
using ServePage = Served(const ServedPage& page);

}  // namespace paceline
