#include "app/study/ranks/launch.hpp"

#include <map>

#include <doctest/doctest.h>

namespace paceline::launch_test {
namespace {

std::optional<Launch> launched(const std::map<std::string, std::string>& variables) {
    return launch([&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST_CASE("launch: without a launcher's variables there is none") {
    CHECK(!launched({}));
    CHECK(!launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));  // a Slurm batch script
    CHECK(!launched({{"OMPI_COMM_WORLD_SIZE", ""}}));
    CHECK(!launched({{"PMIX_RANK", "-1"}}));
    CHECK(!launched({{"PMI_SIZE", "4x"}}));
}

TEST_CASE("launch: mpirun gives the rank and the number of ranks") {
    const auto found = launched({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});

    REQUIRE(found);
    CHECK(found->by == "mpirun");
    CHECK(found->rank == 3);
    CHECK(found->ranks == 4);
}

TEST_CASE("launch: srun --mpi=pmix gives the rank, and Slurm the number of ranks") {
    const auto alone = launched({{"PMIX_RANK", "1"}});
    const auto slurm = launched({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}});

    REQUIRE(alone);
    CHECK(alone->rank == 1);
    CHECK(!alone->ranks);
    REQUIRE(slurm);
    CHECK(slurm->ranks == 8);
}

TEST_CASE("launch: another MPI is noticed, too") {
    const auto found = launched({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}});

    REQUIRE(found);
    CHECK(found->ranks == 2);
    CHECK(found->rank == 1);
}

}  // namespace
}  // namespace paceline::launch_test
