// The program.
#include "app/commands/program.hpp"

int main(int argc, char** argv) {
    return paceline::run_program(argc, argv);
}
