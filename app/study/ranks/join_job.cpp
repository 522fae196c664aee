// Loads MPI only when a launcher has started this process, so that the program runs where there is
// no MPI. What needs MPI is a plugin (mpi_communicator.cpp).
#include <memory>
#include <string>

#include <fmt/format.h>

#include "app/host/plugin.hpp"
#include "app/json/config_error.hpp"
#include "app/study/ranks/communicator.hpp"
#include "app/study/ranks/launch.hpp"

namespace paceline {

namespace {

constexpr const char* plugin_name = "paceline_mpi.so";

}  // namespace

std::string mpi_there() {
    const auto file = plugin_file(plugin_name);
    return file ? file->string() : fmt::format("none ({} was not found)", plugin_name);
}

std::unique_ptr<Communicator> join_job() {
    const auto launched = launch();
    if (!launched) return nullptr;
    const Plugin plugin = load_plugin(plugin_name, "paceline_mpi_communicator");
    if (!plugin.fault.empty() && launched->ranks.value_or(2) == 1) return nullptr;
    if (!plugin.fault.empty())
        throw ConfigError(
            "MPI", "",
            fmt::format("{} has started several copies of paceline, which find no MPI ({}), and "
                        "each would run the whole study; install the MPI that paceline was built "
                        "with, or run it without a launcher and with --jobs",
                        launched->by, plugin.fault));
    const auto make = reinterpret_cast<Communicator* (*)()>(plugin.function);
    std::unique_ptr<Communicator> communicator(make());
    if (communicator->info().ranks == 1 && launched->ranks.value_or(1) > 1)
        throw ConfigError(
            "MPI", "",
            fmt::format("{} has started {} processes that do not find each other: it belongs to a "
                        "different MPI than the one that this paceline was built with",
                        launched->by, *launched->ranks));
    return communicator;
}

}  // namespace paceline
