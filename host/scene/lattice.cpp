#include "host/scene/lattice.hpp"

namespace carom {
namespace {

constexpr double kFits = 1.0 + 1.0e-12;  // of a diameter: rounding of a length that was meant to hold whole balls
constexpr double kTighter = 0.98;        // each try's distance between sites over that of the try before
constexpr double kMostSites = 8.0e9;     // guards the conversion to whole numbers

/// Sites along each axis: site i at first + i * step.
template <int Dim>
struct Rows {
    Vec<std::int64_t, Dim> number;
    Point<Dim> first;
    Point<Dim> step;
    bool even_only;  ///< only sites whose indices add up to an even number: hexagonal, fcc

    [[nodiscard]] double count() const {
        double all = 1.0;
        for (int axis = 0; axis < Dim; ++axis) all *= static_cast<double>(number[axis]);
        return even_only ? std::ceil(0.5 * all) : all;
    }
};

double whole_fits(double length, double step) { return smaller(kMostSites, std::floor(length / step * kFits)); }

/// Square or cubic: every ball has a cell of its own, at least `distance` wide, stretched to fill the region.
template <int Dim>
Rows<Dim> square_rows(const Space<Dim>& space, double distance) {
    Rows<Dim> rows{.even_only = false};
    for (int axis = 0; axis < Dim; ++axis) {
        const double number = larger(1.0, whole_fits(space.length(axis), distance));
        rows.number[axis] = static_cast<std::int64_t>(number);
        rows.step[axis] = space.length(axis) / number;
        rows.first[axis] = space.low(axis) + 0.5 * rows.step[axis];
    }
    return rows;
}

/// Hexagonal or fcc as a centred rectangular lattice: steps half as long as the rectangle's edges, every second site.
/// \param wide  2D: the axis along which a rectangle is sqrt(3) times as long
template <int Dim>
Rows<Dim> centred_rows(const Space<Dim>& space, double distance, int wide) {
    Rows<Dim> rows{.even_only = true};
    for (int axis = 0; axis < Dim; ++axis) {
        const double share = Dim == 3 ? std::sqrt(0.5) : (axis == wide ? 0.5 * std::sqrt(3.0) : 0.5);
        const double step = share * distance;
        if (space.wraps(axis)) {
            const double pairs = larger(1.0, whole_fits(space.length(axis), 2.0 * step));
            rows.number[axis] = 2 * static_cast<std::int64_t>(pairs);
            rows.step[axis] = space.length(axis) / (2.0 * pairs);
            rows.first[axis] = space.low(axis) + 0.5 * rows.step[axis];
        } else {
            const double span = larger(0.0, space.last_center(axis) - space.first_center(axis));
            const double steps = whole_fits(span, step);
            rows.number[axis] = static_cast<std::int64_t>(steps) + 1;
            rows.step[axis] = steps > 0.0 ? span / steps : 0.0;
            rows.first[axis] = space.first_center(axis) + (steps > 0.0 ? 0.0 : 0.5 * span);
        }
    }
    return rows;
}

template <int Dim>
Rows<Dim> rows_at(const Space<Dim>& space, double distance, bool square) {
    if (square) return square_rows(space, distance);
    Rows<Dim> best = centred_rows(space, distance, 0);
    if (Dim == 2) {
        const Rows<Dim> other = centred_rows(space, distance, 1);
        if (other.count() > best.count()) best = other;
    }
    return best;
}

/// The sites that are free, and inside the region's walls.
template <int Dim>
std::vector<Point<Dim>> free_sites(const Space<Dim>& space, const Rows<Dim>& rows) {
    std::vector<Point<Dim>> sites;
    Vec<std::int64_t, Dim> index = Vec<std::int64_t, Dim>::filled(0);
    while (true) {
        std::int64_t sum = 0;
        Point<Dim> site;
        for (int axis = 0; axis < Dim; ++axis) {
            sum += index[axis];
            site[axis] = rows.first[axis] + static_cast<double>(index[axis]) * rows.step[axis];
        }
        if ((!rows.even_only || sum % 2 == 0) && space.free_of_obstacles(site)) sites.push_back(site);
        int axis = 0;
        while (axis < Dim && ++index[axis] == rows.number[axis]) {
            index[axis] = 0;
            ++axis;
        }
        if (axis == Dim) return sites;
    }
}

}  // namespace

template <int Dim>
std::vector<Point<Dim>> lattice_sites(const Space<Dim>& space, std::uint64_t count, bool square) {
    const double touching = 2.0 * space.radius();
    const double wanted = static_cast<double>(count);
    // The widest lattice with enough sites, by bisection; obstacles may then ask for a tighter one.
    double wide = touching;
    for (int axis = 0; axis < Dim; ++axis) wide = larger(wide, space.length(axis));
    double low = touching;
    double high = wide;
    if (rows_at(space, high, square).count() >= wanted) low = high;
    for (int halving = 0; halving < 60 && low < high; ++halving) {
        const double middle = 0.5 * (low + high);
        if (rows_at(space, middle, square).count() >= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    std::vector<Point<Dim>> most;
    for (double distance = low; true; distance = larger(touching, distance * kTighter)) {
        std::vector<Point<Dim>> sites = free_sites(space, rows_at(space, distance, square));
        if (sites.size() >= count) return sites;
        if (sites.size() > most.size()) most = std::move(sites);
        if (distance == touching) return most;
    }
}

template std::vector<Point<2>> lattice_sites<2>(const Space<2>&, std::uint64_t, bool);
template std::vector<Point<3>> lattice_sites<3>(const Space<3>&, std::uint64_t, bool);

}  // namespace carom
