#include "host/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "host/state/errors.hpp"
#include "host/state/hash.hpp"
#include "host/state/writer_lock.hpp"

namespace carom {

namespace {

std::string first_line(const std::string& key) {
    return fmt::format("# carom sweep {}: the runs that are done; the same command goes on from here\n", key);
}

/// What ends a line: a number that follows from the rest of it, and from the sweep that it is of.
std::string mark_of(std::string_view line, std::string_view key) {
    return fmt::format(" #{:016x}", absorb_bytes(absorb_bytes(0, key.data(), key.size()), line.data(), line.size()));
}

/// A number with its end; false if it is none.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

}  // namespace

std::string journal_line(std::uint64_t run, const RunResult& result, std::string_view key) {
    std::string line = fmt::format("{}", run);
    if (result.values.empty()) {
        std::string error = result.error;
        std::ranges::replace_if(
            error, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
        line += "!" + error;
        return line + mark_of(line, key) + "\n";
    }
    for (const double value : result.values) line += fmt::format(",{}", value);
    return line + mark_of(line, key) + "\n";
}

std::optional<std::pair<std::uint64_t, RunResult>> parse_journal_line(std::string_view line, std::size_t columns,
                                                                      std::string_view key) {
    std::pair<std::uint64_t, RunResult> parsed;
    const std::size_t mark = std::min(line.rfind(" #"), line.size());
    if (line.substr(mark) != mark_of(line.substr(0, mark), key)) return std::nullopt;
    line = line.substr(0, mark);
    if (!take_number(line, parsed.first) || line.empty()) return std::nullopt;
    if (line.front() == '!') {
        parsed.second.error = line.substr(1);
        return parsed;
    }
    while (!line.empty()) {
        if (line.front() != ',') return std::nullopt;
        line.remove_prefix(1);
        double value = 0.0;
        if (!take_number(line, value)) return std::nullopt;
        parsed.second.values.push_back(value);
    }
    if (parsed.second.values.size() != columns) return std::nullopt;
    return parsed;
}

std::string journal_path(const std::string& table) { return table + ".part"; }

Journal::File::File(const std::string& path) {
    // Nobody named it: a link that lies there is not followed, and nothing else than a file is waited for.
    constexpr int kHow = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    descriptor_ = open_as_only_writer(path, kHow, "sweep");
    if (descriptor_ < 0 && errno != ELOOP) {
        throw SystemError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
    struct stat status {};
    if (descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) return;
    if (descriptor_ >= 0) close(descriptor_);
    throw InputError(path + ": exists and is not a regular file");
}

Journal::File::~File() { close(descriptor_); }

std::string Journal::read(std::size_t from, std::size_t most) const {
    std::string text;
    std::array<char, 1 << 16> part;
    while (text.size() < most) {
        const ssize_t got = ::pread(file_.descriptor(), part.data(), std::min(part.size(), most - text.size()),
                                    static_cast<off_t>(from + text.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw SystemError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
        if (got == 0) break;
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::optional<std::size_t> Journal::read_results(std::size_t from, const std::function<int()>& interrupted) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;  // bytes; more than any error has
    constexpr std::size_t kNumber = 32;                   // bytes at most, with its comma
    std::string text;
    while (text.size() <= kPiece + kNumber * size_.columns) {
        if (interrupted() != 0) return std::nullopt;
        const std::string piece = read(from + text.size(), kPiece);
        text += piece;
        std::size_t good = 0;
        for (std::size_t end = 0; (end = text.find('\n', good)) != std::string::npos; good = end + 1) {
            auto parsed = parse_journal_line(std::string_view(text).substr(good, end - good), size_.columns, key_);
            if (!parsed || parsed->first >= size_.runs) return from + good;
            results_.insert_or_assign(parsed->first, std::move(parsed->second));
        }
        from += good;
        text.erase(0, good);
        if (piece.size() < kPiece) break;
    }
    return from;
}

Journal::Journal(std::string path, std::string key, SweepSize size, bool force, const std::function<int()>& interrupted)
    : path_(std::move(path)), key_(std::move(key)), size_(size), file_(path_) {
    const std::string head = first_line(key_);
    // Whose it is, before it is read: it may be anything, of any length. A head that was cut off says nothing, and
    // nothing follows it.
    const std::string begin = read(0, head.size());
    const bool ours = begin == head;
    if (!ours && !head.starts_with(begin) && !force) {
        throw InputError(path_ +
                         ": holds the runs of another sweep, or of this one before it was changed; --force starts "
                         "anew, -o names another table");
    }
    std::size_t good = 0;
    if (ours) {
        const auto end = read_results(head.size(), interrupted);
        if (!end) return;
        good = *end;
    }
    if (ftruncate(file_.descriptor(), static_cast<off_t>(good)) != 0) {
        throw SystemError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
    }
    if (!ours) write(head);
}

void Journal::add(std::uint64_t run, RunResult result) {
    write(journal_line(run, result, key_));
    results_.insert_or_assign(run, std::move(result));
}

void Journal::write(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t wrote = ::write(file_.descriptor(), text.data() + at, text.size() - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) throw SystemError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
        at += static_cast<std::size_t>(wrote);
    }
}

bool Journal::in_place() const { return is_named(file_.descriptor(), path_, false); }

void Journal::remove() {
    if (in_place()) ::unlink(path_.c_str());
}

}  // namespace carom
