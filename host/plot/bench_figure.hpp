#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/plot/figure.hpp"
#include "host/plot/gnuplot.hpp"

namespace carom {

/// What can be drawn of a file of `carom bench`: "speed", "double", "limit", "threads", "events".
const std::vector<std::string>& bench_quantities();

struct BenchPoint {
    double y = 0.0;
    double low = 0.0;
    double high = 0.0;
};

/// One line of a panel.
struct BenchSeries {
    std::string label;
    Word color;
    bool measured = true;                 ///< else a line without points
    bool open = false;                    ///< open points and a thinner line: the CPU's, beside a GPU's
    std::map<double, BenchPoint> points;  ///< by x
};

struct BenchPanel {
    std::string title;
    std::vector<BenchSeries> series;
};

/// A quantity of a file of `carom bench`, a panel a dimension, both axes logarithmic, bars where repeats differed:
///   speed    ball-steps/s over the number of balls in single precision: carom's step at each packing fraction; the
///            textbook algorithm and integration alone at the middle one; and what the memory's bandwidth allows
///   double   the same in double precision
///   limit    carom's step as a share of that limit
///   threads  carom's step over the CPU's threads, the largest gas of each packing fraction, and what would be ideal
///   events   events/s of the event-driven solver
/// Where a processor was measured with several counts of threads, the fastest counts (but for `threads`).
class BenchFigure {
public:
    /// \param file  as in messages
    /// \throws InputError  the text is not one of carom bench, or holds nothing of this quantity, or nothing that a
    ///     figure can show
    BenchFigure(const std::string& text, const std::string& file, std::string quantity);

    /// The commands that make gnuplot draw it. \throws InputError  a range that a logarithmic axis has not
    [[nodiscard]] Script script(const Canvas& canvas, const FigureWishes& wishes = {}) const;
    /// A row a point; `least` and `most` of the repeats are empty where nothing was measured.
    [[nodiscard]] std::string csv() const;

private:
    std::string quantity_;
    std::string title_;
    std::vector<BenchPanel> panels_;
};

/// \throws InputError   as above
/// \throws SystemError  the file cannot be read
BenchFigure bench_figure(const std::string& file, const std::string& quantity);

}  // namespace carom
