#include "host/cli/program.hpp"
#include "host/cli/spin.hpp"

int main(int argc, char** argv) {
    carom::limit_spinning(argv);
    return carom::run_program(argc, argv);
}
