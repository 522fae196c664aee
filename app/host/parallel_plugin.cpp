#include "app/host/parallel_plugin.hpp"

#include <cstdio>

#include "app/host/console.hpp"
#include "app/host/plugin.hpp"

namespace paceline {

namespace {

// Where the plugin is not there, one thread does the same.
constexpr ThreadLibrary one_thread{
    [](std::size_t count, void (*call)(const void*, std::size_t), const void* body) {
        for (std::size_t i = 0; i < count; ++i) call(body, i);
    },
    [](std::size_t /*threads*/) -> void* { return nullptr; }, [](void* /*limit*/) {}};

const ThreadLibrary& loaded() {
    const Plugin plugin = load_plugin("paceline_tbb.so", "paceline_thread_library");
    if (plugin.function == nullptr) {
        print(stderr, "paceline: warning: " + plugin.fault + ", so a run trains on one thread\n");
        return one_thread;
    }
    return *reinterpret_cast<GetThreadLibrary*>(plugin.function)();
}

}  // namespace

const ThreadLibrary& thread_library() {
    static const ThreadLibrary& library = loaded();
    return library;
}

}  // namespace paceline
