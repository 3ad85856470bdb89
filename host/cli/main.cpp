#include "host/cli/program.hpp"
#include "host/cli/spin.hpp"
#include "host/cli/streams.hpp"

int main(int argc, char** argv) {
    carom::open_closed_streams();  // before anything else is opened
    carom::limit_spinning(argv);
    return carom::run_program(argc, argv);
}
