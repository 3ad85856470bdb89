#include "host/io/text_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/io/nearest_time.hpp"
#include "host/io/state_text.hpp"
#include "host/state/errors.hpp"
#include "host/state/hash.hpp"
#include "host/state/text.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

constexpr std::size_t kBlockBytes = 1U << 20U;
constexpr std::size_t kLongestLine = 1U << 16U;

}  // namespace

TextLines::TextLines(int descriptor, std::string path, std::uint64_t bytes)
    : descriptor_(descriptor),
      path_(std::move(path)),
      bytes_(bytes),
      block_(kLongestLine + kBlockBytes),
      ahead_(block_.size()),
      at_(block_.data()),
      end_(block_.data()) {}

void TextLines::fill() {
    const auto rest = static_cast<std::size_t>(end_ - at_);
    if (rest > kLongestLine) {
        ++number_;
        refuse_length();
    }
    read_ahead();
    char* const begin = ahead_.data() + (kLongestLine - rest);
    std::memcpy(begin, at_, rest);
    block_.swap(ahead_);
    at_ = begin;
    end_ = block_.data() + kLongestLine + *ahead_bytes_;
    ended_ = *ahead_bytes_ < kBlockBytes;
    read_ += *ahead_bytes_;
    ahead_bytes_.reset();
}

void TextLines::read_ahead() {
    if (ahead_bytes_ || ended_) return;
    char* const to = ahead_.data() + kLongestLine;
    std::size_t got = 0;
    while (got < kBlockBytes) {
        const ssize_t part = ::read(descriptor_, to + got, kBlockBytes - got);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) throw SystemError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
        if (part == 0) break;
        got += static_cast<std::size_t>(part);
    }
    if (!again_) checksum_ = absorb_bytes(checksum_, to, got);
    ahead_bytes_ = got;
}

std::string_view TextLines::begin() {
    if (read_ == 0 && !ended_) fill();
    return {at_, static_cast<std::size_t>(end_ - at_)};
}

bool TextLines::next(std::string_view& line) {
    while (true) {
        const auto rest = static_cast<std::size_t>(end_ - at_);
        const auto* stop = rest == 0 ? nullptr : static_cast<const char*>(std::memchr(at_, '\n', rest));
        if (stop == nullptr && !ended_) {
            fill();
            continue;
        }
        if (stop == nullptr && rest == 0) return false;
        const char* const end = stop == nullptr ? end_ : stop;
        line = {at_, static_cast<std::size_t>(end - at_)};
        if (line.ends_with('\r')) line.remove_suffix(1);
        at_ = stop == nullptr ? end_ : stop + 1;
        ++number_;
        check_length(line);
        return true;
    }
}

bool TextLines::next_lines(std::string_view& lines) {
    while (true) {
        const auto rest = static_cast<std::size_t>(end_ - at_);
        const auto* last = rest == 0 ? nullptr : static_cast<const char*>(::memrchr(at_, '\n', rest));
        if (last == nullptr && !ended_) {
            fill();
            continue;
        }
        if (rest == 0) return false;
        const char* const end = last == nullptr ? end_ : last + 1;
        lines = {at_, static_cast<std::size_t>(end - at_)};
        at_ = end;
        return true;
    }
}

void TextLines::check_length(std::string_view line) const {
    if (line.size() > kLongestLine) refuse_length();
}

bool TextLines::skip(std::uint64_t lines) {
    std::string_view line;
    for (; lines > 0; --lines) {
        if (!next(line)) return false;
    }
    return true;
}

void TextLines::go_to(const Place& place) {
    if (::lseek(descriptor_, static_cast<off_t>(place.byte), SEEK_SET) < 0) {
        throw SystemError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    }
    at_ = end_ = block_.data();
    ahead_bytes_.reset();
    ended_ = false;
    again_ = true;
    read_ = place.byte;
    number_ = place.line;
}

void TextLines::refuse_length() const {
    fail(0, fmt::format("a line of more than {} bytes; is this a table?", kLongestLine));
}

void TextLines::fail(std::size_t column, const std::string& message) const {
    throw InputError(column == 0 ? fmt::format("{}:{}: {}", path_, number_, message)
                                 : fmt::format("{}:{}:{}: {}", path_, number_, column, message));
}

namespace {

/// What a column holds.
enum class Field : std::uint8_t {
    kX,
    kY,
    kZ,
    kVx,
    kVy,
    kVz,
    kWx,
    kWy,
    kWz,
    kRadius,
    kDiameter,
    kMass,
    kSpecies,
    kTime,
    kId,       // of a data file of LAMMPS, as the next one
    kDensity,  // of a ball, in 2D too
};
constexpr std::size_t kFields = 16;

/// A key of load.columns, and what files call such a column.
struct FieldName {
    std::string_view key;
    Field field;
};
constexpr FieldName kNames[] = {{"x", Field::kX},           {"y", Field::kY},       {"z", Field::kZ},
                                {"vx", Field::kVx},         {"vy", Field::kVy},     {"vz", Field::kVz},
                                {"wx", Field::kWx},         {"wy", Field::kWy},     {"wz", Field::kWz},
                                {"radius", Field::kRadius}, {"mass", Field::kMass}, {"species", Field::kSpecies},
                                {"time", Field::kTime}};

/// A cell of one line.
struct Cell {
    std::string_view text;
    std::size_t column = 1;  ///< where it begins
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Takes lines apart. Cells are between commas, and may be quoted; or between blanks.
class Cells {
public:
    Cells(const TextLines& lines, char separator) : lines_(lines), separator_(separator) {}

    void begin(std::string_view line) {
        line_ = line;
        at_ = 0;
        more_ = separator_ == ',' || skip_blanks();
    }
    [[nodiscard]] bool more() const { return more_; }
    static bool blank(char c) { return c == ' ' || c == '\t'; }

    /// \pre  more()
    Cell take() {
        const std::size_t begin = at_;
        if (separator_ != ',') {
            while (at_ < line_.size() && !blank(line_[at_])) ++at_;
            const Cell cell{line_.substr(begin, at_ - begin), begin + 1};
            more_ = skip_blanks();
            return cell;
        }
        if (at_ < line_.size() && line_[at_] == '"') return take_quoted();
        const std::size_t comma = std::min(line_.find(',', at_), line_.size());
        next(comma);
        return {trimmed(line_.substr(begin, comma - begin)), begin + 1};
    }

private:
    bool skip_blanks() {
        while (at_ < line_.size() && blank(line_[at_])) ++at_;
        return at_ < line_.size();
    }
    void next(std::size_t comma) {
        more_ = comma < line_.size();
        at_ = comma + 1;
    }
    /// As RFC 4180 has it, but on one line.
    Cell take_quoted() {
        const std::size_t begin = at_;
        unquoted_.clear();
        for (++at_; at_ < line_.size(); ++at_) {
            if (line_[at_] == '"') {
                if (at_ + 1 >= line_.size() || line_[at_ + 1] != '"') break;
                ++at_;
            }
            unquoted_ += line_[at_];
        }
        if (at_ >= line_.size()) lines_.fail(begin + 1, "a quote that does not end on its line");
        ++at_;
        while (at_ < line_.size() && blank(line_[at_])) ++at_;
        if (at_ < line_.size() && line_[at_] != ',') lines_.fail(at_ + 1, "must be a comma, after a quoted cell");
        next(at_);
        return {unquoted_, begin + 1};
    }

    const TextLines& lines_;
    char separator_;
    std::string_view line_;
    std::size_t at_ = 0;
    bool more_ = false;
    std::string unquoted_;
};

/// One that begins with a digit, a sign or a dot; NaN and infinity as words.
std::optional<double> number_of(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

/// Whether a column's name is this one, with a unit in brackets or without: "vx [m/s]", "vx[m/s]".
bool is_called(std::string_view column, std::string_view name) {
    if (!column.starts_with(name)) return false;
    const std::string_view rest = trimmed(column.substr(name.size()));
    return column == name || (rest.starts_with('[') && rest.ends_with(']'));
}

/// As messages show it.
std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 40;
    return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "...";
}

/// Rows of a table whose columns have names.
class Rows {
public:
    /// \param names  of the columns, as the file has them; the line that was read last
    Rows(TextLines& lines, BallCollector& collector, const std::vector<std::string>& names, char separator)
        : lines_(lines),
          collector_(collector),
          names_(names),
          separator_(separator),
          cells_(lines, separator),
          fields_(names.size()) {
        const bool flat = collector.dimension() == 2;
        for (const FieldName& name : kNames) {
            const bool of_space = name.field == Field::kZ || name.field == Field::kVz || name.field == Field::kWx ||
                                  name.field == Field::kWy || name.field == Field::kWz;
            if (!(flat && of_space)) find(name.key, {name.key}, name.field);
        }
        if (flat) find("spin", {"spin", "w", "wz"}, Field::kWz);
        if (!has(Field::kRadius)) find("radius", {"diameter"}, Field::kDiameter);
        for (const auto& [field, key] : {std::pair{Field::kX, "x"}, {Field::kY, "y"}, {Field::kZ, "z"}}) {
            if (has(field) || (flat && field == Field::kZ)) continue;
            lines.fail(0, fmt::format("no column {0}; load.columns.{0} says what it is called: {1}", key,
                                      fmt::join(names, ", ")));
        }
    }

    /// Species are told by words, of which blanks are underscores, and those without a name are "unnamed".
    void take_words() {
        aliases_.emplace(kUnnamed, "");
        const std::vector<Species>& species = collector_.scene().species;
        const std::vector<std::string> words = words_of(species);
        for (std::size_t k = 0; k < species.size(); ++k) {
            if (!species[k].name.empty()) aliases_.insert_or_assign(words[k], species[k].name);
        }
    }
    /// They are told by numbers, from 1 on as the scene has them; what is beyond has no name.
    void take_numbers() {
        numbered_ = true;
        for (const Species& species : collector_.scene().species) {
            if (!species.name.empty()) aliases_.emplace(fmt::format("{}", aliases_.size() + 1), species.name);
        }
    }

    /// Places are parts of a length from somewhere on.
    void scale(std::size_t axis, double from, double length) {
        from_[axis] = from;
        length_[axis] = length;
    }
    /// What stands in the columns `id`, `density` and `type`, of the line at hand.
    struct Details {
        std::uint64_t id = 0;
        double density = 0.0;
        std::uint64_t type = 0;
    };
    /// Each ball gets the rest from here. \throws BadBall  as BallCollector::add
    void complete(std::function<void(BallRow&, const Details&)> complete) {
        find("id", {"id"}, Field::kId);
        find("density", {"density"}, Field::kDensity);
        complete_ = std::move(complete);
    }

    [[nodiscard]] bool has(Field field) const {
        return std::ranges::find(fields_, std::optional(field)) != fields_.end();
    }

    /// Reads lines faster where nothing is unusual about them.
    void expect_plain() {
        static_assert(static_cast<int>(Field::kRadius) == 9 && static_cast<int>(Field::kDiameter) == 10 &&
                      static_cast<int>(Field::kMass) == 11 && static_cast<int>(Field::kX) == 0);
        constexpr auto kNan = std::numeric_limits<double>::quiet_NaN();
        plain_values_[9] = plain_values_[10] = kNan;
        for (const std::optional<Field>& field : fields_) {
            std::uint8_t place = kWord + 1;
            if (field == Field::kSpecies) {
                place = kWord;
            } else if (field) {
                place = static_cast<std::uint8_t>(*field);
                if (field == Field::kDiameter) place = 9;
                if (field == Field::kMass) place = 10;
            }
            plain_columns_.push_back(place);
        }
        plain_halved_ = has(Field::kDiameter);
        plain_radius_ = plain_halved_ || has(Field::kRadius);
        plain_mass_ = has(Field::kMass);
    }

    /// Adds the ball of a line.
    void add(std::string_view line) {
        BallRow row;
        row.at = lines_.number();
        read_cells(line, row);
        if (!skip_) add_row(row);
    }

    /// Adds the balls of the lines that are left, or of so many rows, read by several threads.
    /// \pre  no column tells frames apart
    /// \param begun  told of how many bytes are so many rows, before they are added
    /// \returns      how many rows there were
    template <class Begun>
    std::uint64_t add_all(std::uint64_t most, const Begun& begun) {
        expect_plain();
        std::uint64_t added = 0;
        std::string_view text;
        while (added < most && lines_.next_lines(text)) {
            constexpr std::size_t kWorthThreads = 1U << 16U;  // bytes
            const bool together = text.size() > kWorthThreads;
            for (std::size_t piece = 0; piece < kPieces; ++piece) {
                const std::size_t about = text.size() / (kPieces - piece);
                const std::size_t end = text.find('\n', about == 0 ? 0 : about - 1);
                pieces_[piece].text = text.substr(0, end == std::string_view::npos ? end : end + 1);
                text.remove_prefix(pieces_[piece].text.size());
            }
#pragma omp parallel for schedule(dynamic, 1) if (together)
            for (std::size_t piece = 0; piece < kPieces; ++piece) count_rows(pieces_[piece]);
            std::size_t bytes = 0;
            std::uint64_t rows = 0;
            for (Piece& piece : pieces_) {
                piece.rows = std::min(piece.rows, most - added - rows);
                piece.first = rows;
                rows += piece.rows;
                bytes += piece.text.size();
            }
            begun(bytes, rows);
            collector_.make_room(rows);
            std::array<std::exception_ptr, kPieces + 1> failed;  // the last one: what comes then could not be read
#pragma omp parallel for schedule(dynamic, 1) if (together)
            for (std::size_t task = 0; task < kPieces + 1; ++task) {
                if (task > 0) {
                    guarded(failed[task - 1], [&] { put_piece(pieces_[task - 1]); });
                } else if (together) {
                    guarded(failed[kPieces], [&] { lines_.read_ahead(); });
                }
            }
            for (std::size_t piece = 0; piece < kPieces; ++piece) {
                if (failed[piece]) std::rethrow_exception(failed[piece]);
                add_piece(pieces_[piece]);
            }
            added += rows;
            if (failed[kPieces]) std::rethrow_exception(failed[kPieces]);
        }
        return added;
    }

private:
    /// \throws InputError  it cannot be a ball of the scene
    void add_row(BallRow& row) {
        try {
            if (complete_) complete_(row, details_);
            collector_.add(row);
        } catch (const BadBall& bad) {
            lines_.fail(column_of(bad.name), fmt::format("{}: {}", bad.name, bad.message));
        }
    }

    /// Lines of a piece that follow each other and whose balls have been put; or one that must be read by itself.
    struct Lines {
        std::uint64_t first = 0;  ///< from the piece's first one on
        std::uint64_t put = 0;    ///< how many; 0: it is one that was not
        std::string_view text;    ///< of that
    };
    /// A part of the text, and what it says.
    struct Piece {
        std::string_view text;
        std::uint64_t lines = 0;
        std::uint64_t rows = 0;
        std::uint64_t first = 0;         ///< rows of the text before it
        std::vector<Lines> runs;         ///< of its rows, in their order
        BallCollector::Putting putting;  ///< what is known from one block to the next
        std::string word;                ///< the species told last; at first, the empty one
        std::string_view meaning;        ///< of it
    };
    static constexpr std::size_t kPieces = 16;

    /// What is thrown must not leave the thread.
    template <class Action>
    static void guarded(std::exception_ptr& failed, const Action& action) {
        try {
            action();
        } catch (...) {
            failed = std::current_exception();
        }
    }

    /// Calls take(line) for each line of a piece, without its end, until it says no.
    template <class Take>
    static void each_line(std::string_view text, const Take& take) {
        while (!text.empty()) {
            std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (!take(line)) return;
        }
    }

    /// In a table with commas an empty line is none.
    [[nodiscard]] bool is_row(std::string_view line) const { return separator_ != ',' || !trimmed(line).empty(); }

    void count_rows(Piece& piece) const noexcept {
        piece.lines = piece.rows = 0;
        each_line(piece.text, [&](std::string_view line) {
            piece.rows += is_row(line) ? 1 : 0;
            ++piece.lines;
            return true;
        });
    }

    /// Puts the balls of lines that have nothing unusual about them where they belong, and finds the others.
    void put_piece(Piece& piece) {
        std::vector<Lines>& runs = piece.runs;
        runs.clear();
        std::uint64_t row = 0;
        std::uint64_t number = 0;
        each_line(piece.text, [&](std::string_view line) {
            if (row == piece.rows) return false;
            const std::uint64_t at = number++;
            if (!is_row(line)) return true;
            BallRow ball;
            const bool put = line.size() <= kLongestLine && read_plain(line, ball, piece) &&
                             collector_.put(piece.first + row, ball, piece.putting);
            ++row;
            if (!put) {
                runs.push_back({at, 0, line});
            } else if (!runs.empty() && runs.back().put > 0 && runs.back().first + runs.back().put == at) {
                ++runs.back().put;
            } else {
                runs.push_back({at, 1, {}});
            }
            return true;
        });
    }

    void add_piece(const Piece& piece) {
        const std::uint64_t before = lines_.number() + 1;
        for (const Lines& run : piece.runs) {
            lines_.at_line(before + run.first);
            if (run.put > 0) {
                collector_.take(run.put, lines_.number());
            } else {
                lines_.check_length(run.text);
                add(run.text);
            }
        }
        collector_.take_extremes(piece.putting);
        lines_.at_line(before - 1 + piece.lines);
    }

    /// A line as programs write them: numbers in figures and words, with one comma or blanks between and nothing else.
    /// False: it is none, and `row` is of no use.
    bool read_plain(std::string_view line, BallRow& row, Piece& piece) const {
        auto values = plain_values_;
        const char* at = line.data();
        const char* const end = at + line.size();
        const auto skip_blanks = [&] {
            while (at != end && Cells::blank(*at)) ++at;
        };
        for (std::size_t column = 0; column < plain_columns_.size(); ++column) {
            if (separator_ != ',') {
                const char* const before = at;
                skip_blanks();
                if (column > 0 && at == before) return false;
            } else if (column > 0) {
                if (at == end || *at != ',') return false;
                ++at;
            }
            const std::uint8_t place = plain_columns_[column];
            if (place >= kWord) {
                const char* const begin = at;
                while (at != end && (separator_ == ',' ? *at != ',' : !Cells::blank(*at))) ++at;
                const std::string_view word(begin, static_cast<std::size_t>(at - begin));
                if (separator_ != ',') {
                    if (word.empty()) return false;
                } else if (word.starts_with('"') || trimmed(word).size() != word.size()) {
                    return false;
                }
                if (place == kWord && numbered_ && word != piece.word && !is_whole_number(word)) return false;
                if (place == kWord) row.species = meaning_of(word, piece);
                continue;
            }
            const auto [stop, error] = std::from_chars(at, end, values[place]);
            if (error != std::errc{}) return false;
            at = stop;
        }
        if (separator_ != ',') skip_blanks();
        if (at != end) return false;
        row.position = {values[0], values[1], values[2]};
        if (separator_ != ',') {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                row.position[axis] = from_[axis] + length_[axis] * row.position[axis];
            }
        }
        row.velocity = {values[3], values[4], values[5]};
        row.spin = {values[6], values[7], values[8]};
        row.radius = plain_halved_ ? 0.5 * values[9] : values[9];
        row.mass = values[10];
        // NaN stands for what the file does not have.
        return !(plain_radius_ && std::isnan(values[9])) && !(plain_mass_ && std::isnan(values[10]));
    }

    /// The species that a word stands for; most rows say what the one before has said.
    std::string_view meaning_of(std::string_view word, Piece& piece) const {
        if (aliases_.empty() && !numbered_) return word;
        if (word != piece.word) {
            piece.word = word;
            piece.meaning = species_named(piece.word);
        }
        return piece.meaning;
    }

    void read_cells(std::string_view line, BallRow& row) {
        cells_.begin(line);
        std::size_t at = 0;
        for (; cells_.more() && at < fields_.size(); ++at) {
            const Cell cell = cells_.take();
            if (!fields_[at]) continue;
            where_[static_cast<std::size_t>(*fields_[at])] = cell.column;
            set(*fields_[at], cell, row);
        }
        if (at < fields_.size() || cells_.more()) {
            while (cells_.more()) {
                cells_.take();
                ++at;
            }
            lines_.fail(0, fmt::format("{} in this row, and {} names", at == 1 ? "1 cell" : fmt::format("{} cells", at),
                                       fields_.size()));
        }
    }

    void find(std::string_view key, std::vector<std::string_view> names, Field field) {
        const auto& given = collector_.entry().columns;
        const auto own = given.find(key);
        if (own != given.end()) {
            if (own->second == "-") return;
            names = {own->second};
        }
        for (const std::string_view name : names) {
            const auto called = [name](const std::string& column) { return is_called(column, name); };
            // A name in full is of one column, though others have it with a unit.
            auto column = std::ranges::find(names_, name);
            if (column == names_.end()) column = std::ranges::find_if(names_, called);
            if (column == names_.end()) continue;
            const auto at = static_cast<std::size_t>(column - names_.begin());
            const auto other = own != given.end() ? names_.end() : std::find_if(column + 1, names_.end(), called);
            if (other != names_.end()) {
                lines_.fail(0, fmt::format("columns {} and {} are both {}; load.columns.{} chooses", *column, *other,
                                           key, key));
            }
            if (fields_[at]) lines_.fail(0, fmt::format("column {} cannot be {} too", *column, key));
            fields_[at] = field;
            return;
        }
        if (own != given.end()) {
            throw InputError(
                fmt::format("{}: {} has no column \"{}\"; there are: {}",
                            collector_.scene().label(fmt::format("load[{}].columns.{}", collector_.number(), key)),
                            lines_.path(), own->second, fmt::join(names_, ", ")));
        }
    }

    void set(Field field, const Cell& cell, BallRow& row) {
        if (field == Field::kSpecies) {
            if (numbered_ && !is_whole_number(cell.text)) {
                lines_.fail(cell.column, fmt::format("type: must be a whole number, not \"{}\"", shown(cell.text)));
            }
            species_ = species_named(cell.text);
            if (complete_) details_.type = whole_number(cell, "type");
            row.species = species_;
            return;
        }
        if (field == Field::kId) {
            details_.id = whole_number(cell, "id");
            return;
        }
        if (cell.text.empty() && field != Field::kTime && field > Field::kZ) return;  // not known
        const auto number = number_of(cell.text);
        if (!number) {
            lines_.fail(cell.column, fmt::format("{}: must be a number, not \"{}\"", name_of(field), shown(cell.text)));
        }
        switch (field) {
            case Field::kX:
            case Field::kY:
            case Field::kZ:
                row.position[index(field, Field::kX)] =
                    from_[index(field, Field::kX)] + length_[index(field, Field::kX)] * *number;
                break;
            case Field::kVx:
            case Field::kVy:
            case Field::kVz:
                row.velocity[index(field, Field::kVx)] = *number;
                break;
            case Field::kWx:
            case Field::kWy:
            case Field::kWz:
                row.spin[index(field, Field::kWx)] = *number;
                break;
            case Field::kRadius:
            case Field::kDiameter:
                require_a_number(*number, field, cell);
                row.radius = field == Field::kRadius ? *number : 0.5 * *number;
                break;
            case Field::kMass:
                require_a_number(*number, field, cell);
                row.mass = *number;
                break;
            case Field::kTime:
                if (!std::isfinite(*number))
                    lines_.fail(cell.column, "time: must be a number, not " + std::string(cell.text));
                at_time(*number, cell);
                break;
            case Field::kDensity:
                details_.density = *number;
                break;
            case Field::kSpecies:
            case Field::kId:
                break;
        }
    }

    [[nodiscard]] std::uint64_t whole_number(const Cell& cell, std::string_view what) const {
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), number);
        if (error != std::errc{} || end != cell.text.data() + cell.text.size()) {
            lines_.fail(cell.column, fmt::format("{}: must be a whole number, not \"{}\"", what, shown(cell.text)));
        }
        return number;
    }

    /// Of formats that have words for names, or numbers.
    [[nodiscard]] std::string_view species_named(std::string_view cell) const {
        const auto found = aliases_.find(cell);
        if (found != aliases_.end()) return found->second;
        return numbered_ ? std::string_view{} : cell;
    }

    /// NaN stands for what the file does not have.
    void require_a_number(double number, Field field, const Cell& cell) const {
        if (std::isnan(number)) lines_.fail(cell.column, fmt::format("{}: must be a number, not nan", name_of(field)));
    }

    /// Which frame a row belongs to, and whether that is nearer to the time asked for than the one that is kept.
    void at_time(double time, const Cell& cell) {
        if (time_ == time) return;
        if (time_) {
            // Of what goes to and fro, a frame might come in pieces, of which the last alone would be taken.
            const bool rises = time > *time_;
            if (rises_.value_or(rises) != rises) {
                lines_.fail(
                    cell.column,
                    fmt::format("time: {} comes after {}, and times {} before: rows of one time must follow each "
                                "other; sort them by time",
                                time, *time_, rises ? "fell" : "rose"));
            }
            rises_ = rises;
        }
        time_ = time;
        const std::optional<double>& wanted = collector_.entry().time;
        skip_ = kept_ && wanted && !is_nearer(time, *kept_, *wanted);
        if (skip_) return;
        kept_ = time;
        collector_.begin_frame(time);
    }

    static std::size_t index(Field field, Field first) {
        return static_cast<std::size_t>(field) - static_cast<std::size_t>(first);
    }
    [[nodiscard]] std::string_view name_of(Field field) const {
        if (field == Field::kDiameter) return "diameter";
        if (field == Field::kWz && collector_.dimension() == 2) return "spin";
        if (field == Field::kId) return "id";
        if (field == Field::kDensity) return "density";
        return std::ranges::find(kNames, field, &FieldName::field)->key;
    }
    [[nodiscard]] std::size_t column_of(std::string_view name) const {
        for (std::size_t at = 0; at < kFields; ++at) {
            const auto field = static_cast<Field>(at);
            if (has(field) && (name_of(field) == name || (field == Field::kDiameter && name == "radius")))
                return where_[at];
        }
        return 0;
    }
    TextLines& lines_;
    BallCollector& collector_;
    const std::vector<std::string>& names_;
    char separator_;
    Cells cells_;
    std::vector<std::optional<Field>> fields_;  // of each column
    std::size_t where_[kFields] = {};           // each field's cell begins, in the line at hand
    std::string species_;
    std::map<std::string, std::string, std::less<>> aliases_;
    bool numbered_ = false;
    std::array<double, 3> from_{};
    std::array<double, 3> length_{1.0, 1.0, 1.0};
    std::function<void(BallRow&, const Details&)> complete_;
    Details details_;
    std::optional<double> time_, kept_;
    std::optional<bool> rises_;  ///< time does, from frame to frame
    bool skip_ = false;
    static constexpr std::uint8_t kWord = 11;  // a species; above: what nobody reads
    bool plain_halved_ = false, plain_radius_ = false, plain_mass_ = false;
    std::vector<std::uint8_t> plain_columns_;
    std::array<double, kWord> plain_values_{};  // places, velocities, spins, radius, mass, of what the file lacks
    std::array<Piece, kPieces> pieces_;
};

void require_text(TextLines& lines, std::string_view format) {
    const std::string_view kind = file_kind(lines.begin());
    if (kind.empty() || kind == kTomlKind || kind == "a CSV table") return;
    throw InputError(fmt::format("{}: is {}, not {}", lines.path(), kind, format));
}

/// One of several frames.
struct FramePlace {
    TextLines::Place place;  ///< of its first line
    std::optional<double> time;
};

/// Chooses the last frame, or the one that is nearest to a time.
class FrameChoice {
public:
    explicit FrameChoice(const std::optional<double>& wanted) : wanted_(wanted) {}
    void offer(const FramePlace& frame) {
        const bool nearer =
            !chosen_ || !wanted_ || !chosen_->time || !frame.time || is_nearer(*frame.time, *chosen_->time, *wanted_);
        if (nearer) chosen_ = frame;
    }
    [[nodiscard]] const std::optional<FramePlace>& chosen() const { return chosen_; }

private:
    std::optional<double> wanted_;
    std::optional<FramePlace> chosen_;
};

/// A whole line that is a count of balls.
std::uint64_t count_of(const TextLines& lines, std::string_view line) {
    const std::string_view text = trimmed(line);
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size()) {
        lines.fail(1, fmt::format("must be a number of balls, not \"{}\"", shown(text)));
    }
    // A ball takes two bytes at least.
    if (count > lines.bytes()) lines.fail(1, fmt::format("{} balls, and the file has {} bytes", count, lines.bytes()));
    return count;
}

/// The rows of a frame, after which nothing is read.
void read_rows(TextLines& lines, Rows& rows, std::uint64_t count, BallCollector& collector) {
    collector.expect(static_cast<double>(count));
    std::uint64_t row = 0;
    if (!rows.has(Field::kTime)) {
        row = rows.add_all(count, [](std::size_t, std::uint64_t) {});
    } else {
        for (std::string_view line; row < count && lines.next(line); ++row) rows.add(line);
    }
    if (row < count) {
        throw InputError(fmt::format("{}: ends after {} of {} balls of its frame", lines.path(), row, count));
    }
}

/// What stands behind `name=` in the second line of a frame, without quotes; empty: nothing does. What another key has
/// in quotes is its own, whatever it looks like.
std::string_view value_of(std::string_view comment, std::string_view name) {
    constexpr std::string_view kBlanks = " \t";
    for (;;) {
        comment.remove_prefix(std::min(comment.find_first_not_of(kBlanks), comment.size()));
        if (comment.empty()) return {};
        const std::size_t key = std::min(comment.find_first_of("= \t"), comment.size());
        const bool found = comment.substr(0, key) == name;
        comment.remove_prefix(key);
        if (!comment.starts_with('=')) continue;
        comment.remove_prefix(1);
        const bool quoted = comment.starts_with('"');
        if (quoted) comment.remove_prefix(1);
        const std::size_t end = std::min(comment.find_first_of(quoted ? "\"" : kBlanks), comment.size());
        if (found) return comment.substr(0, end);
        comment.remove_prefix(std::min(end + 1, comment.size()));
    }
}

/// The names of columns that `Properties=species:S:1:pos:R:3` says.
std::vector<std::string> columns_of(const TextLines& lines, std::string_view comment) {
    struct Known {
        std::string_view property;
        std::string_view columns[3];
    };
    constexpr Known kKnown[] = {{"pos", {"x", "y", "z"}},
                                {"velo", {"vx", "vy", "vz"}},
                                {"vel", {"vx", "vy", "vz"}},
                                {"velocities", {"vx", "vy", "vz"}},
                                {"angular_velocity", {"wx", "wy", "wz"}},
                                {"masses", {"mass"}}};
    std::string_view properties = value_of(comment, "Properties");
    if (properties.empty()) properties = "species:S:1:pos:R:3";
    std::vector<std::string> names;
    const auto part = [&] {
        const std::string_view text = properties.substr(0, properties.find(':'));
        properties.remove_prefix(std::min(properties.size(), text.size() + 1));
        return text;
    };
    while (!properties.empty()) {
        const std::string_view name = part();
        const std::string_view type = part();
        const std::string_view count = part();
        if (type.size() != 1 || count.size() != 1 || count[0] < '1' || count[0] > '9') {
            lines.fail(0, "Properties must be NAME:TYPE:COUNT and so on, with colons between");
        }
        const auto known = std::ranges::find(kKnown, name, &Known::property);
        for (std::size_t k = 0; k < static_cast<std::size_t>(count[0] - '0'); ++k) {
            if (known != std::end(kKnown) && k < 3 && !known->columns[k].empty()) {
                names.emplace_back(known->columns[k]);
            } else {
                names.push_back(count == "1" ? std::string(name) : fmt::format("{}[{}]", name, k));
            }
        }
    }
    return names;
}

}  // namespace

void read_csv(TextLines& lines, BallCollector& collector) {
    require_text(lines, "a CSV table");
    std::string_view line;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    do {
        if (!lines.next(line)) lines.fail(0, "no line of names");
        if (lines.number() == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    } while (trimmed(line).empty() || line.starts_with('#'));
    std::vector<std::string> names;
    Cells cells(lines, ',');
    for (cells.begin(line); cells.more();) names.emplace_back(cells.take().text);
    Rows rows(lines, collector, names, ',');
    if (!rows.has(Field::kTime)) {
        // Room for as many rows as the file seems to have, by its first ones.
        bool expected = false;
        constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
        rows.add_all(kAll, [&](std::size_t bytes, std::uint64_t count) {
            constexpr std::uint64_t kRows = 1000;
            if (std::exchange(expected, true) || count < kRows) return;
            constexpr double kSpare = 1.02;
            const double each = static_cast<double>(bytes) / static_cast<double>(count);
            collector.expect(kSpare * static_cast<double>(lines.bytes()) / each + kRows);
        });
        return;
    }
    while (lines.next(line)) {
        if (!trimmed(line).empty()) rows.add(line);
    }
}

void read_xyz(TextLines& lines, BallCollector& collector) {
    require_text(lines, "an XYZ file");
    FrameChoice choice(collector.entry().time);
    std::string_view line;
    while (true) {
        FramePlace frame{.place = lines.place(), .time = {}};
        if (!lines.next(line)) break;
        if (trimmed(line).empty()) continue;
        const std::uint64_t count = count_of(lines, line);
        if (!lines.next(line)) lines.fail(0, "must be followed by a line that describes the frame");
        if (const std::string_view time = value_of(line, "Time"); !time.empty()) {
            frame.time = number_of(time);
            if (!frame.time || !std::isfinite(*frame.time)) {
                lines.fail(0, fmt::format("Time must be a number, not \"{}\"", shown(time)));
            }
        }
        choice.offer(frame);
        if (!lines.skip(count)) break;  // told when it is read, if it is
    }
    if (!choice.chosen()) throw InputError(fmt::format("{}: holds no frame", lines.path()));
    lines.go_to(choice.chosen()->place);
    lines.next(line);
    const std::uint64_t count = count_of(lines, line);
    lines.next(line);
    const std::vector<std::string> names = columns_of(lines, line);
    Rows rows(lines, collector, names, ' ');
    rows.take_words();
    if (choice.chosen()->time) collector.begin_frame(*choice.chosen()->time);
    read_rows(lines, rows, count, collector);
}

namespace {

/// What a frame of a dump says before its rows.
struct DumpFrame {
    std::optional<double> time;
    std::uint64_t count = 0;
    std::vector<std::string> columns;
    std::array<double, 3> low{}, high{};  ///< of the box
    bool askew = false;                   ///< it has no right angles
};

/// A line of two numbers, or in a box askew three.
void read_bounds(TextLines& lines, DumpFrame& frame, std::size_t axis) {
    std::string_view line;
    if (!lines.next(line)) lines.fail(0, "must have three lines of bounds behind ITEM: BOX BOUNDS");
    Cells cells(lines, ' ');
    cells.begin(line);
    for (double* const bound : {&frame.low[axis], &frame.high[axis]}) {
        const auto number = cells.more() ? number_of(cells.take().text) : std::nullopt;
        if (!number || !std::isfinite(*number)) {
            lines.fail(1, fmt::format("must be two bounds of the box, not \"{}\"", shown(line)));
        }
        *bound = *number;
    }
}

/// Reads up to the rows. False: there is no frame.
bool read_head(TextLines& lines, DumpFrame& frame) {
    constexpr std::string_view kItem = "ITEM: ";
    std::string_view line;
    bool any = false;
    const auto value = [&](std::string_view what) {
        if (!lines.next(line)) lines.fail(0, fmt::format("must be followed by {}", what));
    };
    while (lines.next(line)) {
        if (trimmed(line).empty() && !any) continue;
        if (!line.starts_with(kItem)) {
            lines.fail(1, fmt::format("must be a line that begins with \"ITEM: \", not \"{}\"", shown(line)));
        }
        any = true;
        const std::string item(line.substr(kItem.size()));
        if (item.starts_with("ATOMS")) {
            Cells cells(lines, ' ');
            cells.begin(line.substr(kItem.size() + std::string_view("ATOMS").size()));
            while (cells.more()) frame.columns.emplace_back(cells.take().text);
            return true;
        }
        if (item == "TIME") {
            value("a time");
            frame.time = number_of(trimmed(line));
            if (!frame.time || !std::isfinite(*frame.time)) {
                lines.fail(1, fmt::format("must be a time, not \"{}\"", shown(line)));
            }
        } else if (item == "NUMBER OF ATOMS") {
            value("a number of balls");
            frame.count = count_of(lines, line);
        } else if (item.starts_with("BOX BOUNDS")) {
            frame.askew = item.find("xy") != std::string::npos || item.find("abc") != std::string::npos;
            for (std::size_t axis = 0; axis < 3; ++axis) read_bounds(lines, frame, axis);
        } else {
            value("a value");
        }
    }
    if (any) throw InputError(fmt::format("{}: ends before the balls of its frame", lines.path()));
    return false;
}

}  // namespace

void read_lammps_dump(TextLines& lines, BallCollector& collector) {
    require_text(lines, "a dump of LAMMPS");
    FrameChoice choice(collector.entry().time);
    while (true) {
        const TextLines::Place place = lines.place();
        DumpFrame frame;
        if (!read_head(lines, frame)) break;
        choice.offer({place, frame.time});
        if (!lines.skip(frame.count)) break;  // told when it is read, if it is
    }
    if (!choice.chosen()) throw InputError(fmt::format("{}: holds no frame", lines.path()));
    lines.go_to(choice.chosen()->place);
    DumpFrame frame;
    read_head(lines, frame);
    // Parts of the box, where there are no places themselves.
    std::array<bool, 3> scaled{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string place(1, "xyz"[axis]);
        const auto part = std::ranges::find(frame.columns, place + "s");
        if (part == frame.columns.end() || std::ranges::count(frame.columns, place) > 0) continue;
        if (frame.askew) lines.fail(0, fmt::format("{}s is of a box without right angles, which carom has not", place));
        *part = place;
        scaled[axis] = true;
    }
    for (std::string& name : frame.columns) {
        constexpr std::pair<std::string_view, std::string_view> kOurs[] = {
            {"omegax", "wx"}, {"omegay", "wy"}, {"omegaz", "wz"}, {"type", "species"}};
        const auto ours = std::ranges::find(kOurs, name, &std::pair<std::string_view, std::string_view>::first);
        if (ours != std::end(kOurs)) name = ours->second;
    }
    Rows rows(lines, collector, frame.columns, ' ');
    rows.take_numbers();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (scaled[axis]) rows.scale(axis, frame.low[axis], frame.high[axis] - frame.low[axis]);
    }
    if (frame.time) collector.begin_frame(*frame.time);
    read_rows(lines, rows, frame.count, collector);
}

namespace {

/// A line without its comment.
std::string_view without_comment(std::string_view line) { return trimmed(line.substr(0, line.find('#'))); }

bool is_word(std::string_view text) {
    return !text.empty() && ((text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z'));
}

/// What a data file of LAMMPS holds, and where.
struct DataFile {
    struct Section {
        TextLines::Place place;  ///< of what follows its name
        std::string comment;     ///< behind its name
    };
    std::uint64_t atoms = 0;
    std::uint64_t types = 0;
    std::map<std::string, Section, std::less<>> sections;
};

/// Goes through to the end.
DataFile survey(TextLines& lines) {
    DataFile file;
    std::string_view line;
    lines.next(line);  // says what one likes
    while (lines.next(line)) {
        const std::string_view text = without_comment(line);
        if (is_word(text)) {
            const std::size_t mark = std::min(line.find('#'), line.size() - 1);
            const auto [section, first] = file.sections.emplace(
                text, DataFile::Section{lines.place(), std::string(trimmed(line.substr(mark + 1)))});
            if (!first) lines.fail(0, fmt::format("a second section {}", shown(text)));
        } else if (file.sections.empty()) {
            const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
            const std::string_view what = trimmed(text.substr(blank));
            if (what == "atoms") file.atoms = count_of(lines, text.substr(0, blank));
            if (what == "atom types") file.types = count_of(lines, text.substr(0, blank));
        }
    }
    return file;
}

/// Gives each row of a section, which has so many.
template <class Take>
void each_row(TextLines& lines, const DataFile& file, std::string_view section, std::uint64_t count, const Take& take) {
    lines.go_to(file.sections.find(section)->second.place);
    std::string_view line;
    std::uint64_t row = 0;
    while (lines.next(line)) {
        const std::string_view text = without_comment(line);
        if (is_word(text)) break;
        if (text.empty()) continue;
        if (row == count) lines.fail(0, fmt::format("{} has more rows than the {} that the file says", section, count));
        take(text);
        ++row;
    }
    if (row < count) {
        throw InputError(fmt::format("{}: ends after {} of {} rows of {}", lines.path(), row, count, section));
    }
}

/// The columns of `Atoms`, without the three that count crossings of faces.
std::vector<std::string> columns_of_style(const TextLines& lines, std::string_view style, std::size_t cells) {
    struct Style {
        std::string_view name;
        std::vector<std::string> columns;
    };
    const Style styles[] = {{"atomic", {"id", "species", "x", "y", "z"}},
                            {"charge", {"id", "species", "q", "x", "y", "z"}},
                            {"bond", {"id", "molecule", "species", "x", "y", "z"}},
                            {"angle", {"id", "molecule", "species", "x", "y", "z"}},
                            {"molecular", {"id", "molecule", "species", "x", "y", "z"}},
                            {"full", {"id", "molecule", "species", "q", "x", "y", "z"}},
                            {"sphere", {"id", "species", "diameter", "density", "x", "y", "z"}}};
    constexpr std::size_t kCrossings = 3;
    if (style.empty() && (cells == styles[0].columns.size() || cells == styles[0].columns.size() + kCrossings)) {
        style = styles[0].name;
    }
    std::string known;
    for (const Style& one : styles) {
        if (one.name == style) return one.columns;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
    }
    lines.fail(0, fmt::format("Atoms must say of what style they are, as in \"Atoms # sphere\"; {} is not among: {}",
                              style.empty() ? "none" : fmt::format("\"{}\"", shown(style)), known));
}

/// What follows an id or a type: so many numbers.
template <std::size_t Size>
std::pair<std::uint64_t, std::array<double, Size>> numbered_row(const TextLines& lines, std::string_view text,
                                                                std::size_t least, std::string_view what) {
    Cells cells(lines, ' ');
    cells.begin(text);
    std::pair<std::uint64_t, std::array<double, Size>> row{};
    const std::string_view first = cells.take().text;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), row.first);
    bool good = error == std::errc{} && end == first.data() + first.size();
    std::size_t got = 0;
    for (; good && cells.more() && got < Size; ++got) {
        const auto number = number_of(cells.take().text);
        good = number.has_value();
        if (good) row.second[got] = *number;
    }
    if (!good || got < least || cells.more()) lines.fail(0, fmt::format("must be {}, not \"{}\"", what, shown(text)));
    return row;
}

/// As they are, ids that are all multiples of some number may share one bucket.
struct MixedHash {
    std::size_t operator()(std::uint64_t id) const { return mix_bits(id); }
};

}  // namespace

void read_lammps_data(TextLines& lines, BallCollector& collector) {
    require_text(lines, "a data file of LAMMPS");
    const DataFile file = survey(lines);
    const auto atoms = file.sections.find("Atoms");
    if (atoms == file.sections.end()) throw InputError(fmt::format("{}: has no Atoms", lines.path()));

    std::unordered_map<std::uint64_t, double, MixedHash> masses;  // by type
    if (file.sections.contains("Masses")) {
        each_row(lines, file, "Masses", file.types, [&](std::string_view text) {
            const auto [type, mass] = numbered_row<1>(lines, text, 1, "a type and its mass");
            masses[type] = mass[0];
        });
    }
    std::unordered_map<std::uint64_t, std::array<double, 6>, MixedHash> velocities;  // and spins, by id
    const bool moving = file.sections.contains("Velocities");
    if (moving) {
        each_row(lines, file, "Velocities", file.atoms, [&](std::string_view text) {
            const auto [id, velocity] = numbered_row<6>(lines, text, 3, "an id and its velocity");
            if (!velocities.emplace(id, velocity).second) lines.fail(0, fmt::format("id {} has two velocities", id));
        });
    }

    std::optional<Rows> rows;
    std::vector<std::string> names;
    collector.expect(static_cast<double>(file.atoms));
    each_row(lines, file, "Atoms", file.atoms, [&](std::string_view text) {
        if (!rows) {
            std::size_t cells = 0;
            Cells of_first(lines, ' ');
            for (of_first.begin(text); of_first.more(); ++cells) of_first.take();
            names = columns_of_style(lines, atoms->second.comment, cells);
            if (cells == names.size() + 3) names.insert(names.end(), {"ix", "iy", "iz"});
            rows.emplace(lines, collector, names, ' ');
            rows->take_numbers();
            rows->complete([&](BallRow& row, const Rows::Details& details) {
                if (rows->has(Field::kDensity)) {
                    row.mass = details.density * ball_volume(3, row.radius);
                } else if (const auto mass = masses.find(details.type); mass != masses.end()) {
                    row.mass = mass->second;
                }
                if (!moving) return;
                const auto moves = velocities.extract(details.id);  // so that no other ball has it
                if (moves.empty()) {
                    throw BadBall{"id", fmt::format("{} has no velocity, or another ball has that id", details.id)};
                }
                for (std::size_t axis = 0; axis < static_cast<std::size_t>(collector.dimension()); ++axis) {
                    row.velocity[axis] = moves.mapped()[axis];
                }
                for (std::size_t axis = collector.dimension() == 2 ? 2 : 0; axis < 3; ++axis) {
                    row.spin[axis] = moves.mapped()[axis + 3];
                }
            });
        }
        rows->add(text);
    });
}

}  // namespace carom
