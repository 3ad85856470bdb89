#include "host/io/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// A trajectory, and how many of its frames are taken.
struct Part {
    TrajectoryReader run;
    std::size_t first = 0;
    std::size_t end = 0;
    [[nodiscard]] double time_at(std::size_t frame) const { return run.times()[frame]; }
};

[[noreturn]] void refuse(const Part& before, const Part& after, const std::string& why) {
    throw InputError(fmt::format("{}: does not go on from {}: {}", after.run.path(), before.run.path(), why));
}

bool same_state(const Frame& a, const Frame& b) {
    return a.time == b.time && a.step == b.step && a.gone == b.gone && a.image == b.image &&
           state_hash(a) == state_hash(b);
}

/// The frames of `before` end with the first of `after`.
void fit(Part& before, Part& after) {
    if (const std::string what = difference(before.run.header(), after.run.header()); !what.empty()) {
        refuse(before, after, what);
    }
    const auto longer = [](const AverageInfo& a, const AverageInfo& b) { return a.x.points <= b.x.points; };
    if (!std::ranges::equal(before.run.header().averages, after.run.header().averages, longer)) {
        refuse(before, after, "its averages have fewer points");
    }
    const double begin = after.time_at(0);
    const std::size_t count = before.run.frame_count();
    if (begin > before.time_at(count - 1)) {
        refuse(before, after,
               fmt::format("that ends at t = {:.10g}, and it begins at {:.10g}", before.time_at(count - 1), begin));
    }
    // A part that goes on from another may have nothing but the frame that both have.
    const double earliest = before.time_at(0);
    if (begin < earliest || (begin == earliest && before.first == 0)) {
        refuse(before, after, fmt::format("it begins at t = {:.10g}, which is no later than that", begin));
    }
    const std::size_t shared = before.run.frame_at(begin);
    Frame last;
    Frame first;
    before.run.read(shared, last);
    after.run.read(0, first);
    if (last.time != first.time) {
        refuse(before, after, fmt::format("it begins at t = {:.10g}, where that has no frame", begin));
    }
    if (!same_state(last, first)) {
        refuse(before, after, fmt::format("at t = {:.10g} its balls are elsewhere, or fly otherwise", begin));
    }
    before.end = shared + 1;
    after.first = 1;
}

/// An average as of the part of a run in the shape that it has at the end: lags that a longer run has are NaN.
AverageTable widened(AverageTable table, const AverageInfo& from, const AverageInfo& to, const AverageTable& last) {
    const std::size_t points = from.x.points;
    if (points >= to.x.points) return table;
    table.x.insert(table.x.end(), last.x.begin() + static_cast<std::ptrdiff_t>(points), last.x.end());
    const std::size_t lines = table.values.size() / points;
    for (std::vector<double>* numbers : {&table.values, &table.errors}) {
        std::vector<double> wide(lines * to.x.points, std::numeric_limits<double>::quiet_NaN());
        for (std::size_t line = 0; line < lines; ++line) {
            std::copy_n(numbers->begin() + static_cast<std::ptrdiff_t>(line * points), points,
                        wide.begin() + static_cast<std::ptrdiff_t>(line * to.x.points));
        }
        *numbers = std::move(wide);
    }
    return table;
}

/// \param whole  no other part follows: with its rows behind the last frame
void copy(const Part& part, double from, bool whole, const TrajectoryHeader& header,
          const std::vector<AverageTable>& last, TrajectoryWriter& writer) {
    const ObservableTable rows = part.run.observables();
    const double end = part.time_at(part.end - 1);
    std::size_t row = 0;
    while (row < rows.rows() && rows.time[row] <= from) ++row;
    const auto rows_to = [&](double time) {
        for (; row < rows.rows() && rows.time[row] <= time; ++row) {
            const auto begin = rows.values.begin() + static_cast<std::ptrdiff_t>(row * rows.width);
            writer.append_row(
                {rows.time[row], rows.step[row], {begin, begin + static_cast<std::ptrdiff_t>(rows.width)}});
        }
    };
    Frame frame;
    for (std::size_t k = part.first; k < part.end; ++k) {
        rows_to(part.time_at(k));
        std::vector<AverageTable> tables = part.run.averages(k);
        for (std::size_t at = 0; at < tables.size(); ++at) {
            tables[at] = widened(std::move(tables[at]), part.run.header().averages[at], header.averages[at], last[at]);
        }
        writer.append_averages(tables);
        part.run.read(k, frame);
        writer.append(frame);
    }
    rows_to(whole ? std::numeric_limits<double>::infinity() : end);
    if (!header.changeable) return;
    for (const RunChange& change : part.run.changes()) {
        if (change.time > from && (whole || change.time <= end)) writer.append_change(change);
    }
}

}  // namespace

std::string join_trajectories(const std::vector<std::string>& paths, const std::string& output, bool force) {
    std::vector<Part> parts;
    for (const std::string& path : paths) {
        parts.push_back({TrajectoryReader(path)});
        if (parts.back().run.frame_count() == 0) throw InputError(path + ": holds no frame");
        parts.back().end = parts.back().run.frame_count();
        if (parts.size() > 1) fit(parts[parts.size() - 2], parts.back());
    }
    const Part& last = parts.back();
    TrajectoryHeader header = last.run.header();
    header.version.clear();
    for (const Part& part : parts) {
        header.changeable = header.changeable || !part.run.changes().empty();
        header.expected_frames += part.end - part.first;
        header.expected_rows += part.run.observables().rows();
        header.joined.push_back(fmt::format("{}: frames from t = {:.17g} to {:.17g}", part.run.path(),
                                            part.time_at(std::min(part.first, part.end - 1)),
                                            part.time_at(part.end - 1)));
    }
    const std::vector<AverageTable> tables = last.run.averages(last.run.frame_count() - 1);
    const std::string summary = last.run.summary();
    header.summary_bytes = summary.size();
    TrajectoryWriter writer(output, header, force, TrajectoryWriter::Appears::kWhole);
    double from = -std::numeric_limits<double>::infinity();
    for (const Part& part : parts) {
        copy(part, from, &part == &last, header, tables, writer);
        from = part.time_at(part.end - 1);
    }
    writer.close(summary);
    return fmt::format("{}: {} frames and {} rows of {} runs, to t = {:.10g}", output, writer.frames(), writer.rows(),
                       parts.size(), from);
}

}  // namespace carom
