// Calls a function with each number on several threads, whoever is free with the next.
#pragma once

#include <cstddef>
#include <functional>

namespace paceline {

/// Calls `body` with 0, 1, ..., count - 1 on at most `threads` threads, of which the caller's is
/// one. Once a call has thrown, no further ones begin, and one of the exceptions is thrown again.
void on_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace paceline
