#pragma once

#include <string>
#include <vector>

namespace carom {

/// Puts the trajectories of a run and of those that resumed it together in one. Each begins with a frame that the one
/// before has to the last bit; what that has after it is left out, for the other has it too. Averages and summary are
/// those of the last, whose averages go on from the ones before.
/// \param paths  in the order of time, two or more
/// \param force  an existing file is replaced
/// \return one line on what was written
/// \throws InputError   one does not go on from the one before; says why. Or a file exists, and `force` is not given
/// \throws SystemError  a file cannot be read or written
std::string join_trajectories(const std::vector<std::string>& paths, const std::string& output, bool force);

}  // namespace carom
