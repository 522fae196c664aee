// join_job for a program that is built without MPI.
#include "app/json/config_error.hpp"
#include "app/study/ranks/communicator.hpp"
#include "app/study/ranks/launch.hpp"

namespace paceline {

std::unique_ptr<Communicator> join_job() {
    const auto launched = launch();
    if (!launched || launched->ranks.value_or(2) == 1) return nullptr;
    throw ConfigError(
        "MPI", "",
        launched->by +
            " has started several copies of a paceline that is built without MPI, and each would "
            "run the whole study; build it with PACELINE_MPI=ON, or run it without a launcher and "
            "with --jobs");
}

}  // namespace paceline
