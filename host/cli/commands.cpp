#include "host/cli/command.hpp"

namespace carom {

const std::vector<Command>& commands() {
    static const std::vector<Command> kAll{
        {"run", "Simulate a scene, or go on from a checkpoint",
         "carom run gas2d -o gas.h5 --until 5 --threads 4\n"
         "carom run --resume gas.checkpoint.h5 --until 10",
         add_run_command},
        {"check", "Validate a scene and print what a run of it would take",
         "carom check scenes/gas2d.toml --set physics.restitution=0.9", add_check_command},
        {"state", "Print the balls of one stored frame", "carom state gas.h5 --time 2.5 --csv > balls.csv",
         add_state_command},
        {"convert", "Write frames in the format of another program",
         "carom convert gas.h5 gas.vtp          # all frames, for ParaView\n"
         "carom convert gas.h5 last.xyz --last  # one frame, for OVITO",
         add_convert_command},
        {"plot", "Draw a figure of a stored run",
         "carom plot gas.h5 energy -o energy.pdf\n"
         "carom plot gas.h5 balls -o picture.png   # the last frame, drawn without a display",
         add_plot_command},
        {"info", "Print version, build options, processors and libraries", "carom info", add_info_command},
    };
    return kAll;
}

}  // namespace carom
