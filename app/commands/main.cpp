// The program.
#include <climits>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/commands/out_of_memory.hpp"
#include "app/commands/program.hpp"

namespace {

// Vectors of megabytes come and go in each step of training. By default, their pages go back to the
// system each time, which hands them out again cleared: a third of the time of some algorithms.
void keep_memory_that_is_freed() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that is allowed
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace

int main(int argc, char** argv) {
    keep_memory_that_is_freed();
    paceline::tell_memory_that_runs_out_in_unwinding();
    return paceline::run_program(argc, argv);
}
