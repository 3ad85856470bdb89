#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// Where a run writes to.
struct OutputFiles {
    std::string trajectory;
    std::string checkpoint;
};

/// SCENE.h5 in the current folder.
std::string default_trajectory(const std::string& scene);

/// For a resumed run, from the checkpoint's name: NAME.checkpoint.h5 gives NAME-2.h5, then NAME-3.h5 and so on, in the
/// same folder; the first number that is free.
std::string default_resumed_trajectory(const std::string& checkpoint);

/// The name of a copy's file: NAME.007.h5 for NAME.h5, NAME.007.checkpoint.h5 for NAME.checkpoint.h5.
/// \param number  as many digits as `most` has, but three at least
std::string numbered_file(const std::string& path, std::uint64_t number, std::uint64_t most);

/// NAME.checkpoint.h5 for NAME.h5.
std::string default_checkpoint(const std::string& trajectory);

/// Finds out before anything is computed that a file could not be written. As check_output_files.
void check_output_file(const std::string& path, const std::string& input, bool force);

/// The same for what is written line by line in its place: it may be a pipe or a device too, where nothing is lost.
void check_log_file(const std::string& path, const std::string& input, bool force);

/// Finds out before anything is computed that the files could not be written.
/// \param input    a file that must not be overwritten even so: the scene, or the checkpoint that is read
/// \param resumed  `input` is a checkpoint, whose place the new one may take
/// \throws InputError   one exists, and `force` is not given; it is no regular file; it is the input; or both are the
///     same, whatever they are called
/// \throws SystemError  a folder does not exist, or may not be written to
void check_output_files(const OutputFiles& files, const std::string& input, bool resumed, bool force);

/// The files of [[load]] that have been read.
std::vector<std::string> loaded_files(const Scene& scene);

/// As a shell takes it: quoted if need be.
std::string shell_quoted(const std::string& word);

}  // namespace carom
