#include "host/events/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace carom {

namespace {

/// A pivot below this fraction of its diagonal entry means that the row depends on those before: the square of the
/// 1e-6 to which independent directions of contacts in a packing are told apart.
constexpr double kDependentPivot = 1.0e-12;
/// A violation below this fraction of the largest |q| is rounding: the acceptance is 1e-12.
constexpr double kViolation = 1.0e-13;

/// Cholesky factor of W on a set, largest pivot first, without the rows that depend on others.
class Factor {
public:
    Factor(const Gram& w, const std::vector<std::size_t>& set) : rows_(set) {
        const std::size_t n = rows_.size();
        lower_.assign(n * n, 0.0);
        std::vector<double> left(n);
        for (std::size_t k = 0; k < n; ++k) left[k] = w.at(rows_[k], rows_[k]);
        for (; rank_ < n; ++rank_) {
            std::size_t best = rank_;
            for (std::size_t k = rank_ + 1; k < n; ++k) {
                if (left[k] > left[best]) best = k;
            }
            if (!(left[best] > kDependentPivot * w.at(rows_[best], rows_[best]))) break;
            std::swap(rows_[best], rows_[rank_]);
            std::swap(left[best], left[rank_]);
            for (std::size_t c = 0; c < rank_; ++c) std::swap(lower_[best * n + c], lower_[rank_ * n + c]);
            const double pivot = std::sqrt(left[rank_]);
            lower_[rank_ * n + rank_] = pivot;
            for (std::size_t k = rank_ + 1; k < n; ++k) {
                double sum = w.at(rows_[k], rows_[rank_]);
                for (std::size_t c = 0; c < rank_; ++c) sum -= lower_[k * n + c] * lower_[rank_ * n + c];
                lower_[k * n + rank_] = sum / pivot;
                left[k] -= lower_[k * n + rank_] * lower_[k * n + rank_];
            }
        }
    }

    /// Adds to p the solution for the right-hand side.
    void add_solution(const std::vector<double>& right, std::vector<double>& p) const {
        const std::size_t n = rows_.size();
        std::vector<double> x(rank_);
        for (std::size_t k = 0; k < rank_; ++k) {
            x[k] = right[rows_[k]];
            for (std::size_t c = 0; c < k; ++c) x[k] -= lower_[k * n + c] * x[c];
            x[k] /= lower_[k * n + k];
        }
        for (std::size_t k = rank_; k-- > 0;) {
            for (std::size_t c = k + 1; c < rank_; ++c) x[k] -= lower_[c * n + k] * x[c];
            x[k] /= lower_[k * n + k];
            p[rows_[k]] += x[k];
        }
    }

private:
    std::vector<std::size_t> rows_;
    std::vector<double> lower_;
    std::size_t rank_ = 0;
};

std::vector<double> residual(const Gram& w, const std::vector<double>& q, const std::vector<double>& p) {
    std::vector<double> result(w.size);
    for (std::size_t row = 0; row < w.size; ++row) {
        double sum = q[row];
        for (std::size_t column = 0; column < w.size; ++column) {
            if (p[column] != 0.0) sum += w.at(row, column) * p[column];
        }
        result[row] = -sum;
    }
    return result;
}

}  // namespace

std::vector<double> solve_on_set(const Gram& w, const std::vector<double>& q, const std::vector<std::size_t>& set) {
    std::vector<double> p(w.size, 0.0);
    const Factor factor(w, set);
    // The second and third round take away the factorisation's own error.
    for (int round = 0; round < 3; ++round) factor.add_solution(residual(w, q, p), p);
    return p;
}

std::vector<double> solve_complementarity(const Gram& w, const std::vector<double>& q) {
    const std::size_t n = w.size;
    std::vector<double> p(n, 0.0);
    std::vector<bool> passive(n, false);
    std::vector<bool> refused(n, false);
    double largest = 0.0;
    for (double value : q) largest = std::max(largest, std::abs(value));
    for (std::size_t round = 0; round < 10 * n + 10; ++round) {
        const std::vector<double> violation = residual(w, q, p);
        std::size_t enter = n;
        for (std::size_t k = 0; k < n; ++k) {
            if (passive[k] || refused[k] || violation[k] <= kViolation * largest) continue;
            if (enter == n || violation[k] > violation[enter]) enter = k;
        }
        if (enter == n) break;
        passive[enter] = true;
        for (bool first = true;; first = false) {
            std::vector<std::size_t> set;
            for (std::size_t k = 0; k < n; ++k) {
                if (passive[k]) set.push_back(k);
            }
            const std::vector<double> full = solve_on_set(w, q, set);
            if (first && full[enter] <= 0.0) {  // only rounding let it in
                passive[enter] = false;
                refused[enter] = true;
                break;
            }
            double step = 1.0;
            for (std::size_t k : set) {
                if (full[k] <= 0.0 && p[k] - full[k] > 0.0) step = std::min(step, p[k] / (p[k] - full[k]));
            }
            bool inside = true;
            for (std::size_t k : set) {
                if (full[k] > 0.0) continue;
                inside = false;
            }
            if (inside) {
                p = full;
                std::fill(refused.begin(), refused.end(), false);
                break;
            }
            for (std::size_t k : set) {
                p[k] += step * (full[k] - p[k]);
                if (full[k] <= 0.0 && p[k] <= 1.0e-15 * std::abs(full[k])) {
                    p[k] = 0.0;
                    passive[k] = false;
                }
            }
        }
    }
    return p;
}

}  // namespace carom
