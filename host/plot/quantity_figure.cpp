#include "host/plot/quantity_figure.hpp"

#include <algorithm>

#include "host/plot/average_figure.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/scene/load.hpp"

namespace carom {

std::vector<std::string> all_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> quantities{"energy", "pressure", "temperature"};
    for (const std::string& name : quantities_with_theory(trajectory)) {
        if (std::ranges::find(quantities, name) == quantities.end()) quantities.push_back(name);
    }
    for (const std::string& name : rows_of_interest(trajectory)) {
        if (std::ranges::find(quantities, name) == quantities.end()) quantities.push_back(name);
    }
    std::vector<std::string> averages = average_quantities(trajectory);
    for (const AverageInfo& info : trajectory.header().averages) {
        if (is_number_quantity(trajectory, info.name)) averages.push_back(info.name);
    }
    for (const std::string& name : averages) {
        std::erase(quantities, name);  // an average that is called "pressure" is drawn in the place of the rows
        quantities.push_back(name);
    }
    return quantities;
}

Script quantity_script(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                       const Canvas& canvas) {
    if (is_number_quantity(*runs.front(), quantity)) return figure_script(number_figure(runs, quantity), canvas);
    return is_average_quantity(*runs.front(), quantity) ? average_figure_script(runs, quantity, canvas)
                                                        : figure_script(runs_figure(runs, quantity), canvas);
}

Image draw_frame(const TrajectoryReader& trajectory, std::size_t index, const PictureOptions& options) {
    const TrajectoryHeader& header = trajectory.header();
    const Scene scene = parse_scene(header.scene_source, header.scene_path);
    Balls balls;
    balls.dimension = header.dimension();
    balls.species_table = header.species_table;
    balls.species = header.species;
    Frame frame;
    trajectory.read(index, frame);
    return draw_balls(scene, balls, frame, options);
}

}  // namespace carom
