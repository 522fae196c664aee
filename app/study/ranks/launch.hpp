// What an MPI launcher passes to the processes that it starts, through their environment. Reading
// the environment costs nothing. MPI itself takes some tenths of a second to start and is not used
// without a launcher.
//
//   mpirun of Open MPI      OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_RANK
//   PMIx (srun --mpi=pmix)  PMIX_RANK, with SLURM_STEP_NUM_TASKS under Slurm
//   MPICH, Intel MPI        PMI_SIZE, PMI_RANK
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace paceline {

struct Launch {
    std::string by;
    int rank = 0;
    std::optional<int> ranks;  // if the launcher says so
};

using Environment = std::function<const char*(const char* name)>;

/// Returns nothing if no launcher has started this process.
std::optional<Launch> launch(const Environment& environment);
/// Does the same with the environment of this process.
std::optional<Launch> launch();

}  // namespace paceline
