// The program.
#include "app/commands/out_of_memory.hpp"
#include "app/commands/program.hpp"

int main(int argc, char** argv) {
    paceline::tell_memory_that_runs_out_in_unwinding();
    return paceline::run_program(argc, argv);
}
