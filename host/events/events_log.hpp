#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "host/state/solver.hpp"

namespace carom {

/// Writes the impacts of a run as CSV: a header, then one row for each contact that passed an impulse, in order of
/// time. Numbers read back to the same double. What was in the file goes when the log begins: a run that fails before
/// leaves the file as it was, or none. No other run writes it meanwhile.
class EventsLog {
public:
    /// \throws InputError   another run is writing it
    /// \throws SystemError  where the file cannot be written
    EventsLog(const std::string& path, int dimension);
    EventsLog(const EventsLog&) = delete;
    EventsLog& operator=(const EventsLog&) = delete;
    ~EventsLog();

    /// What is in the file must not go. \throws InputError  there is something; so does begin() from now on
    void require_new();
    /// Empties the file and writes the header, if that has not been done; so do the first row and the first flush.
    void begin();
    /// Throws nothing for a full disk, since a collision is half done meanwhile: flush() tells.
    void write(const LoggedImpact& impact);
    /// Brings all rows to the file.
    /// \throws SystemError  where the disk is full, or was for a row before; or nobody will find the file any more
    void flush();

private:
    void put(const std::string& text);

    std::string path_;
    int dimension_;
    bool made_;  // there was no such file before
    bool begun_ = false;
    bool replaces_ = true;
    int error_ = 0;  // of the first row that did not fit, as errno
    std::FILE* file_ = nullptr;
};

}  // namespace carom
