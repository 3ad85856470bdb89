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
        {"sweep", "Run one scene over a grid of values of its keys, many runs at once",
         "carom sweep pinfall.sweep.toml -o pinfall.csv\n"
         "carom sweep pinfall_fine --shard 2/8   # the second of eight machines",
         add_sweep_command},
        {"bench", "Measure speed on this machine, against its limit and the textbook algorithm",
         "carom bench --quick                       # within a minute\n"
         "carom bench --only spring,textbook --sizes 1e5,1e6 -o here.json\n"
         "carom bench --diff before.json after.json",
         add_bench_command},
        {"plot", "Draw a figure of a stored run, of a sweep's table or of measured speeds",
         "carom plot gas.h5 energy -o energy.pdf\n"
         "carom plot gas.h5 balls -o picture.png   # the last frame, drawn without a display\n"
         "carom plot pinfall.csv pinfall -o pinfall.svg\n"
         "carom plot pinfall.csv pinfall --by angle\n"
         "carom plot here.json speed -o speed.png",
         add_plot_command},
        {"compare", "Hold the two solvers, and the processors, against each other on a scene",
         "carom compare two_balls\n"
         "carom compare gas2d --set fill[0].count=4096 --set box.size=[84.6,84.6] -o proof.png",
         add_compare_command},
        {"view", "Look at a simulation while it runs, or at a stored run, in a window",
         "carom view billiards\n"
         "carom view gas.h5 --color-by speed",
         add_view_command},
        {"render", "Draw pictures and movies of a scene or a stored run, without a display",
         "carom render gas.h5 -o gas.mp4 --color-by speed --overlay\n"
         "carom render gas3d -o start.png --time 0 --camera perspective,azimuth=40",
         add_render_command},
        {"report", "Write one page about a stored run: scene, machine, figures, measured against theory",
         "carom report gas.h5 -o gas.html   # needs no network; for any browser", add_report_command},
        {"info", "Print version, build options, processors and libraries", "carom info", add_info_command},
    };
    return kAll;
}

}  // namespace carom
