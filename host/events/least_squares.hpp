#pragma once

#include <cstddef>
#include <vector>

namespace carom {

/// A small symmetric positive semidefinite matrix W = A^T A, row by row.
struct Gram {
    std::size_t size = 0;
    std::vector<double> entries;

    explicit Gram(std::size_t n) : size(n), entries(n * n, 0.0) {}
    double& at(std::size_t row, std::size_t column) { return entries[row * size + column]; }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const { return entries[row * size + column]; }
};

/// A solution p of W p = -q restricted to the rows and columns in `set` (p is 0 elsewhere); rows that depend on others
/// are left out, which changes nothing where q is in the range of W.
std::vector<double> solve_on_set(const Gram& w, const std::vector<double>& q, const std::vector<std::size_t>& set);

/// p >= 0 with W p + q >= 0 and p . (W p + q) = 0, by active sets (Lawson & Hanson 1974, chapter 23).
std::vector<double> solve_complementarity(const Gram& w, const std::vector<double>& q);

}  // namespace carom
