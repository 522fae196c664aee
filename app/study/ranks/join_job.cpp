// Loads MPI only when a launcher has started this process, so that the program runs where there is
// no MPI. What needs MPI is a plugin (mpi_communicator.cpp).
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "app/host/program_file.hpp"
#include "app/json/config_error.hpp"
#include "app/study/ranks/communicator.hpp"
#include "app/study/ranks/launch.hpp"

namespace paceline {

namespace fs = std::filesystem;

namespace {

struct Plugin {
    std::string file;
    Communicator* (*make_communicator)() = nullptr;
    std::string fault;  // if there is none
};

Plugin load_plugin() {
    constexpr const char* name = "paceline_mpi.so";
    const fs::path here = program_file().parent_path();
    fs::path file = (here / "../lib/paceline" / name).lexically_normal();
    std::error_code ignored;
    if (!fs::exists(file, ignored)) file = here / name;  // of a build
    if (!fs::exists(file, ignored)) return {"", nullptr, fmt::format("{} is not there", name)};
    // Open MPI's own plugins look for its symbols among the global ones.
    void* const plugin = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const make = plugin == nullptr ? nullptr : ::dlsym(plugin, "paceline_mpi_communicator");
    if (make == nullptr) return {"", nullptr, ::dlerror()};  // NOLINT(concurrency-mt-unsafe)
    return {file.string(), reinterpret_cast<Communicator* (*)()>(make), ""};
}

}  // namespace

std::string mpi_there() {
    const Plugin plugin = load_plugin();
    return plugin.fault.empty() ? plugin.file : fmt::format("none ({})", plugin.fault);
}

std::unique_ptr<Communicator> join_job() {
    const auto launched = launch();
    if (!launched) return nullptr;
    const Plugin plugin = load_plugin();
    if (!plugin.fault.empty() && launched->ranks.value_or(2) == 1) return nullptr;
    if (!plugin.fault.empty())
        throw ConfigError(
            "MPI", "",
            fmt::format("{} has started several copies of paceline, which find no MPI ({}), and "
                        "each would run the whole study; install the MPI that paceline is built "
                        "with, or run it without a launcher and with --jobs",
                        launched->by, plugin.fault));
    std::unique_ptr<Communicator> communicator(plugin.make_communicator());
    if (communicator->info().ranks == 1 && launched->ranks.value_or(1) > 1)
        throw ConfigError(
            "MPI", "",
            fmt::format("{} has started {} processes that do not find each other: it belongs to "
                        "another MPI than the one that this paceline is built with",
                        launched->by, *launched->ranks));
    return communicator;
}

}  // namespace paceline
