#pragma once

#include "host/scene/load.hpp"

namespace carom {

/// Reads the files of [[load]]: tables as text, and frames of trajectories.
///
/// A scene may be a stranger's, and names only files below its own folder: no absolute name, no `..`, no name that
/// begins with a dot, no link on the way, nothing but regular files. A name that the one who runs carom gave on the
/// command line is any regular file, from the working folder on. \param typed  whether overrides were; those of a
/// sweep's file are a stranger's
BallReader ball_reader(bool typed);

}  // namespace carom
