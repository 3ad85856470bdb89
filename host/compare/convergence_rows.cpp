#include "host/compare/convergence_rows.hpp"

#include <algorithm>
#include <cmath>

namespace carom {

namespace {

constexpr int kRows = 32;            // times at which the runs are held against each other
constexpr double kLinearPart = 0.2;  // a ball is linear if its second-order part is at most this much of the first
constexpr double kQuiet = 1e-7;      // of the rms speed: a ball whose velocity changes by less is in no contact
constexpr double kAgreement = 0.1;   // of its deviation at k, to which a ball's extrapolation must be the reference's

double length(const Vector3& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

double length(const Vector3& a, const Vector3& b, double times = 1.0) {
    return length({a[0] - times * b[0], a[1] - times * b[1], a[2] - times * b[2]});
}

Vector3 velocity_in(const Frame& frame, std::size_t ball) {
    Vector3 v{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
        v[axis] = frame.velocity[axis][ball];
    }
    return v;
}

double rms_speed(const std::array<std::vector<double>, 3>& velocity, const std::vector<std::uint8_t>& gone) {
    double squared = 0.0;
    std::size_t count = 0;
    for (std::size_t ball = 0; ball < gone.size(); ++ball) {
        if (gone[ball] != 0) continue;
        ++count;
        for (const std::vector<double>& axis : velocity) squared += axis.empty() ? 0.0 : axis[ball] * axis[ball];
    }
    return count > 0 ? std::sqrt(squared / static_cast<double>(count)) : 0.0;
}

/// Collects how far two states of each ball are apart.
struct DeviationSum {
    std::vector<double> x;
    std::vector<double> v;

    void add(double dx, double dv) {
        x.push_back(dx);
        v.push_back(dv);
    }
    [[nodiscard]] Deviation done() {
        Deviation result;
        summarize(x, result.median_x, result.rms_x, result.max_x);
        summarize(v, result.median_v, result.rms_v, result.max_v);
        return result;
    }

    static void summarize(std::vector<double>& values, double& median, double& rms, double& most) {
        if (values.empty()) return;
        double sum = 0.0;
        for (const double value : values) sum += value * value;
        rms = std::sqrt(sum / static_cast<double>(values.size()));
        std::ranges::sort(values);
        median = values[values.size() / 2];
        most = values.back();
    }
};

/// The four runs at one time.
class RowMaker {
public:
    RowMaker(const Scene& scene, const std::array<WatchedRun, 4>& runs, const RowRules& rules)
        : scene_(scene), runs_(runs), speed_(rules.speed), floor_x_(rules.floor_x), floor_v_(rules.floor_v) {}

    void fill(ConvergenceRow& row, const std::vector<std::uint8_t>& met) {
        for (std::size_t ball = 0; ball < met.size(); ++ball) {
            if (met[ball] == 0 || !comparable(ball)) continue;
            ++row.met;
            if (linear(ball)) add(ball);
        }
        row.linear = limit_.x.size();
        for (std::size_t k = 0; k < 3; ++k) row.from_hard[k] = from_hard_[k].done();
        for (std::size_t k = 0; k < 2; ++k) row.steps[k] = steps_[k].done();
        row.agreeing = agreeing_;
        row.limit = limit_.done();
        row.limit_change = limit_change_.done();
    }

private:
    [[nodiscard]] Vector3 position(std::size_t run, std::size_t ball) const {
        const Frame& frame = runs_[run].frame;
        Vector3 x{};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
            x[axis] = frame.position[axis][ball] + frame.image[axis][ball] * scene_.box.size[axis];
        }
        return x;
    }
    [[nodiscard]] Vector3 velocity(std::size_t run, std::size_t ball) const {
        return velocity_in(runs_[run].frame, ball);
    }

    [[nodiscard]] bool comparable(std::size_t ball) const {
        return std::ranges::all_of(
            runs_, [&](const WatchedRun& run) { return in_no_contact(run, ball, scene_.physics.gravity, speed_); });
    }

    /// Told from the spring runs alone, so that what the reference says cannot matter.
    [[nodiscard]] bool linear(std::size_t ball) const {
        const auto small = [](const Vector3& k, const Vector3& k4, const Vector3& k16, double floor) {
            Vector3 first{};
            Vector3 second{};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                first[axis] = k[axis] - k4[axis];
                second[axis] = k4[axis] - k16[axis];
            }
            return length(first, second, 2.0) <= kLinearPart * length(first) + floor;
        };
        return small(position(0, ball), position(1, ball), position(2, ball), floor_x_) &&
               small(velocity(0, ball), velocity(1, ball), velocity(2, ball), floor_v_);
    }

    void add(std::size_t ball) {
        const std::array<Vector3, 4> x{position(0, ball), position(1, ball), position(2, ball), position(3, ball)};
        const std::array<Vector3, 4> v{velocity(0, ball), velocity(1, ball), velocity(2, ball), velocity(3, ball)};
        for (std::size_t k = 0; k < 3; ++k) from_hard_[k].add(length(x[k], x[3]), length(v[k], v[3]));
        for (std::size_t k = 0; k < 2; ++k) steps_[k].add(length(x[k], x[k + 1]), length(v[k], v[k + 1]));
        const auto limit = [](const std::array<Vector3, 4>& q) {
            Vector3 result{};
            for (std::size_t axis = 0; axis < 3; ++axis) result[axis] = richardson(q[0][axis], q[1][axis], q[2][axis]);
            return result;
        };
        const auto from_two = [](const std::array<Vector3, 4>& q) {
            Vector3 result{};
            for (std::size_t axis = 0; axis < 3; ++axis) result[axis] = 2.0 * q[2][axis] - q[1][axis];
            return result;
        };
        const double off_x = length(limit(x), x[3]);
        const double off_v = length(limit(v), v[3]);
        limit_.add(off_x, off_v);
        if (off_x <= kAgreement * length(x[0], x[3]) + floor_x_ &&
            off_v <= kAgreement * length(v[0], v[3]) + floor_v_) {
            ++agreeing_;
        }
        limit_change_.add(length(limit(x), from_two(x)), length(limit(v), from_two(v)));
    }

    const Scene& scene_;
    const std::array<WatchedRun, 4>& runs_;
    double speed_;
    double floor_x_;
    double floor_v_;
    std::array<DeviationSum, 3> from_hard_;
    std::array<DeviationSum, 2> steps_;
    DeviationSum limit_;
    DeviationSum limit_change_;
    std::size_t agreeing_ = 0;
};

}  // namespace

void WatchedRun::look(double time_before, double time, const CompareContext& context) {
    context.advance(*solver, time_before);
    solver->request_frame(before);
    solver->finish_frame(before);
    context.advance(*solver, time);
    solver->request_frame(frame);
    solver->finish_frame(frame);
}

/// Times of the rows: dense at first, in the middle between two impacts where there is room.
std::vector<double> row_times(const HardCourse& course, double quiet) {
    std::vector<double> times;
    const std::vector<HardImpact>& impacts = course.impacts;
    const std::size_t count = impacts.size();
    for (int row = 1; row <= kRows; ++row) {
        const double share = static_cast<double>(row) / kRows;
        const auto seen = static_cast<std::size_t>(std::ceil(share * share * static_cast<double>(count)));
        if (seen == 0) continue;
        const double from = impacts[seen - 1].time;
        const double time = from + 2.0 * quiet;
        if (time + quiet > course.until) break;
        if (times.empty() || time > times.back() + 2.0 * quiet) times.push_back(time);
    }
    return times;
}

double rms_speed(const Frame& frame) { return rms_speed(frame.velocity, frame.gone); }
double rms_speed(const Balls& balls) { return rms_speed(balls.velocity, balls.gone); }

bool in_no_contact(const WatchedRun& run, std::size_t ball, const Vector3& gravity, double speed) {
    if (run.frame.gone[ball] != 0 || run.before.gone[ball] != 0) return false;
    const double elapsed = run.frame.time - run.before.time;
    Vector3 expected = velocity_in(run.before, ball);
    for (std::size_t axis = 0; axis < 3; ++axis) expected[axis] += elapsed * gravity[axis];
    return length(velocity_in(run.frame, ball), expected) <= kQuiet * speed;
}

void fill_row(const Scene& scene, const std::array<WatchedRun, 4>& runs, const std::vector<std::uint8_t>& met,
              const RowRules& rules, ConvergenceRow& row) {
    RowMaker(scene, runs, rules).fill(row, met);
}

}  // namespace carom
