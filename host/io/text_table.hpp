#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/ball_collector.hpp"

namespace carom {

/// Lines of a file, read block by block: it may be larger than the memory, and may be cut while it is read.
class TextLines {
public:
    /// \param descriptor  of a regular file, at its beginning; stays the caller's
    /// \param bytes       of the file, as it was opened
    TextLines(int descriptor, std::string path, std::uint64_t bytes);

    /// The next line without its end; valid until the next call. False: there is none.
    /// \throws InputError   it is longer than any line is
    /// \throws SystemError  the file cannot be read
    bool next(std::string_view& line);
    /// Whole lines, as many as are at hand, with their ends; valid until the next call. False: there are none. Whoever
    /// goes through them says with at_line() which one messages are about, and at last how many there were.
    bool next_lines(std::string_view& lines);
    void at_line(std::uint64_t number) { number_ = number; }
    /// Reads what comes after all that; another thread may still go through the lines that next_lines() gave.
    /// \throws SystemError  the file cannot be read
    void read_ahead();
    /// \throws InputError  it is longer than any line is
    void check_length(std::string_view line) const;
    /// Goes over so many lines. False: there were fewer.
    bool skip(std::uint64_t lines);
    /// Where the next line begins.
    struct Place {
        std::uint64_t byte = 0;
        std::uint64_t line = 0;  ///< the one before
    };
    [[nodiscard]] Place place() const { return {read_so_far(), number_}; }
    /// Goes back there. \pre  the file has been read to its end
    void go_to(const Place& place);
    [[nodiscard]] std::uint64_t number() const { return number_; }  ///< of the line last given, from 1 on
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t read_so_far() const { return read_ - static_cast<std::uint64_t>(end_ - at_); }
    [[nodiscard]] std::uint64_t checksum() const { return checksum_; }  ///< of what has been read
    /// What the file begins with.
    [[nodiscard]] std::string_view begin();

    /// Throws "balls.csv:7:3: x: must be ...".
    /// \param column  from 1 on; 0: the whole line
    [[noreturn]] void fail(std::size_t column, const std::string& message) const;

private:
    void fill();
    [[noreturn]] void refuse_length() const;

    int descriptor_;
    std::string path_;
    std::uint64_t bytes_;
    std::vector<char> block_;  // what is at hand; before it there is room for the rest of a line
    std::vector<char> ahead_;  // likewise
    std::optional<std::size_t> ahead_bytes_;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    bool ended_ = false;
    bool again_ = false;  ///< what is read has been read before
    std::uint64_t read_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t checksum_ = 0;
};

/// Reads extended XYZ: of its frames one.
void read_xyz(TextLines& lines, BallCollector& collector);

/// Reads a dump of LAMMPS: of its frames one.
void read_lammps_dump(TextLines& lines, BallCollector& collector);

/// Reads a data file of LAMMPS, of the styles that have balls: masses, atoms, and velocities by id.
void read_lammps_data(TextLines& lines, BallCollector& collector);

/// Reads a table with a line of names; of several frames, told apart by the column `time`, one.
void read_csv(TextLines& lines, BallCollector& collector);

}  // namespace carom
