#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carom {

/// What one run came to.
struct RunResult {
    std::vector<double> values;  ///< one per recorded column; empty if the run could not go on
    std::string error;           ///< why it could not
};

/// What a sweep's runs come to together.
struct SweepSize {
    std::uint64_t runs = 0;
    std::size_t columns = 0;  ///< of each
};

/// The runs of a sweep that are done, in a file beside the table to be: TABLE.csv.part. A line a run, in the order in
/// which they end, handed to the system whole as soon as it is known; so whatever ends the program, the lines that are
/// there count, and from the first on that was cut off or changed, or is of another sweep, as its checksum tells, runs
/// are done again.
class Journal {
public:
    /// Opens the file, or begins it, and reads what is there.
    /// \param key          tells sweeps apart: of another key, a file is another sweep's
    /// \param force        begins anew over another sweep's file
    /// \param interrupted  other than 0 ends the reading: the file stays as it is, and this is good for nothing
    /// \throws InputError   the file is another sweep's, or none: a link, a pipe, a device; or one is writing it
    /// \throws SystemError  it cannot be read or written
    Journal(
        std::string path, std::string key, SweepSize size, bool force,
        const std::function<int()>& interrupted = [] { return 0; });

    /// By the number of the run.
    [[nodiscard]] const std::map<std::uint64_t, RunResult>& results() const { return results_; }
    /// \throws SystemError  it cannot be written
    void add(std::uint64_t run, RunResult result);
    /// Nobody has removed it, or put something else into its place.
    [[nodiscard]] bool in_place() const;
    /// Once the table is there. What is not this file any more stays.
    void remove();

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    /// The file, open; begun where there was none.
    class File {
    public:
        explicit File(const std::string& path);
        ~File();
        File(const File&) = delete;
        File& operator=(const File&) = delete;
        [[nodiscard]] int descriptor() const { return descriptor_; }

    private:
        int descriptor_;
    };

    /// \param most  bytes
    [[nodiscard]] std::string read(std::size_t from, std::size_t most) const;
    /// \return  where the lines end that count; none: interrupted
    [[nodiscard]] std::optional<std::size_t> read_results(std::size_t from, const std::function<int()>& interrupted);
    void write(const std::string& text);

    std::string path_;
    std::string key_;
    SweepSize size_;
    std::map<std::uint64_t, RunResult> results_;
    File file_;
};

/// What a run came to as a line, which parse_journal_line reads back to the bit.
/// \param key  of the sweep, where lines of several may meet
std::string journal_line(std::uint64_t run, const RunResult& result, std::string_view key = {});
/// None: this is no such line, or of another sweep, or of another number of columns. \param line  without its end
std::optional<std::pair<std::uint64_t, RunResult>> parse_journal_line(std::string_view line, std::size_t columns,
                                                                      std::string_view key = {});

/// The name of the journal of a table.
std::string journal_path(const std::string& table);

}  // namespace carom
