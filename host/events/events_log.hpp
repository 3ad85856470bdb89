#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "host/events/events_setup.hpp"

namespace carom {

/// Writes the impacts of a run as CSV: a header, then one row for each contact that passed an impulse, in order of
/// time. Numbers read back to the same double.
class EventsLog {
public:
    /// \throws SystemError  where the file cannot be made
    EventsLog(const std::string& path, int dimension);
    EventsLog(const EventsLog&) = delete;
    EventsLog& operator=(const EventsLog&) = delete;
    ~EventsLog();

    void write(const LoggedImpact& impact);
    /// Brings all rows to the file. \throws SystemError  where the disk is full
    void flush();

private:
    void put(const std::string& text);

    std::string path_;
    int dimension_;
    std::FILE* file_;
};

}  // namespace carom
