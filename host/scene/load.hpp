#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// Reads the file of scene.loads[number] for a scene of which all before has been read.
/// \throws InputError  the file is not there, not to be read, or wrong; one line
using BallReader = std::function<std::shared_ptr<const LoadedBalls>(const Scene& scene, std::size_t number)>;

/// Reads and validates a scene.
/// \param path_or_name  a file, or the name of an installed scene ("gas2d")
/// \param overrides  "table.key=VALUE", as after --set; later ones win. Options of the command line that stand for
///     a scene key are given as overrides too ("run.solver=events"), so that the scene is validated as it will run.
/// \throws InputError  one line: file:line:column: key: what is wrong and what is allowed (or `--set KEY=VALUE: key:
/// ...`) \throws SystemError  when there is no such file, or it cannot be read
Scene load_scene(const std::string& path_or_name, const std::vector<std::string>& overrides = {});

/// The same for a text; `name` stands for the file in messages and becomes Scene::path.
/// \param reader  of the files of each [[load]]. Without one they are not opened, and the scene lacks those balls: so
///     for texts of stored runs, whose balls are known, and who may be a stranger's.
Scene parse_scene(std::string_view text, const std::string& name, const std::vector<std::string>& overrides = {},
                  const BallReader& reader = {});

/// The key of "table.key=VALUE"; blanks around it are none of it.
std::string key_of_override(std::string_view assignment);

/// A scene or sweep that is installed.
struct InstalledScene {
    std::string name;  ///< as commands take it
    std::string what;  ///< first sentence of the comment that the file begins with; empty: it has none
    bool sweep = false;
};
/// Where they are looked for: beside the program, ../share/carom/scenes, as in a build tree.
std::string installed_folder();
/// By name; none where there is no such folder.
std::vector<InstalledScene> installed_scenes(const std::string& folder = installed_folder());

/// The file that load_scene would read: the path itself where it exists, else NAME or NAME.toml among the installed
/// scenes.
/// \throws SystemError  when there is none
std::string find_scene(const std::string& path_or_name, const std::string& folder = installed_folder());

/// The overrides by which a key of a scene is another one from the middle of a run on: the one asked for, and with it
/// the stage's own value of the same quantity, where the stage that the run is in has one. A later stage that has one
/// sets it anew. \param change  "physics.gravity=[0, -2]", "wall[0].temperature=2", or of one face
/// "box.wall_temperature[0][1]=2"
///                (axis, side), whichever way the file writes that array
/// \param stage   which the run is in; 0 if there are none
/// \throws InputError  there is no such face
std::vector<std::string> overrides_from(const Scene& scene, const std::string& change, std::size_t stage);

}  // namespace carom
