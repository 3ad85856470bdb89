#include "host/cli/program.hpp"

int main(int argc, char** argv) { return carom::run_program(argc, argv); }
