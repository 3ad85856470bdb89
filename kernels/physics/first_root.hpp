#pragma once

#include "kernels/core/arithmetic.hpp"

// The first time at which a polynomial of degree 4 or less falls below zero.
//
// Method: the zeros of each derivative cut the time axis into parts in which the one before is monotone, so that a
// change of sign in a part is exactly one root, found by Newton's steps inside a shrinking bracket. From the second
// derivative (a quadratic, solved in closed form) to the polynomial itself no root can be missed, double ones included
// up to rounding. All roots lie below Fujiwara's bound (1916): 2 max |c_k / c_n|^(1 / (n - k)).

namespace carom {

namespace first_root {

/// Polynomial c_0 + c_1 t + ... of degree `degree`.
CAROM_HD double value(const double* c, int degree, double t) {
    double sum = c[degree];
    for (int k = degree - 1; k >= 0; --k) sum = fused(sum, t, c[k]);
    return sum;
}

/// A zero between low and high, where the values have opposite signs.
inline double between(const double* c, int degree, double low, double high, double value_low) {
    double derivative[4] = {};
    for (int k = 1; k <= degree; ++k) derivative[k - 1] = k * c[k];
    double t = 0.5 * (low + high);
    for (int round = 0; round < 200; ++round) {
        const double f = value(c, degree, t);
        if (f == 0.0) return t;
        if ((f > 0.0) == (value_low > 0.0)) {
            low = t;
        } else {
            high = t;
        }
        double next = t - f / value(derivative, degree - 1, t);
        // Newton's step where it stays inside and is better than halving in the long run, else the middle.
        if (!(next > low && next < high) || round % 8 == 7) next = 0.5 * (low + high);
        if (!(next > low && next < high) || next == t) return t;
        t = next;
    }
    return t;
}

/// Bound above all zeros of a polynomial whose leading coefficient is not zero.
inline double bound(const double* c, int degree) {
    double largest = 0.0;
    for (int k = 0; k < degree; ++k) {
        const double ratio = c[k] / c[degree] < 0.0 ? -c[k] / c[degree] : c[k] / c[degree];
        const double root = square_root(ratio);
        switch (degree - k) {
            case 1:
                largest = larger(largest, ratio);
                break;
            case 2:
                largest = larger(largest, root);
                break;
            case 3:
                largest = larger(largest, larger(root, square_root(root)));
                break;  // no smaller than the cube root
            default:
                largest = larger(largest, square_root(root));
                break;
        }
    }
    return 2.0 * largest;
}

/// The zeros in (0, end) at which the polynomial changes its sign, in order; returns how many.
inline int positive_zeros(const double* c, int degree, double end, double* zeros) {
    while (degree > 0 && c[degree] == 0.0) --degree;
    if (degree == 0) return 0;
    if (degree == 1) {
        const double t = -c[0] / c[1];
        zeros[0] = t;
        return t > 0.0 && t < end ? 1 : 0;
    }
    double derivative[4] = {};
    for (int k = 1; k <= degree; ++k) derivative[k - 1] = k * c[k];
    double cuts[6] = {};
    int count = positive_zeros(derivative, degree - 1, end, cuts + 1);
    cuts[++count] = end;
    int found = 0;
    double before = value(c, degree, 0.0);
    for (int k = 1; k <= count; ++k) {
        const double after = value(c, degree, cuts[k]);
        if ((before < 0.0 && after > 0.0) || (before > 0.0 && after < 0.0)) {
            zeros[found++] = between(c, degree, cuts[k - 1], cuts[k], before);
        }
        if (after != 0.0) before = after;
    }
    return found;
}

}  // namespace first_root

/// The first t >= 0 at which the polynomial c[0] + ... + c[4] t^4, which is 0 or more now up to rounding, falls below
/// zero; `never` where it does not.
inline double first_fall_below_zero(const double* c, double never) {
    int degree = 4;
    while (degree > 0 && c[degree] == 0.0) --degree;
    if (degree == 0) return never;
    double start = c[0];
    if (start <= 0.0) {  // touches now: the first term that moves it says which way
        int k = 1;
        while (k < degree && c[k] == 0.0) ++k;
        if (c[k] < 0.0) return 0.0;
        start = 0.0;
    }
    const double clean[5] = {start, c[1], c[2], c[3], c[4]};
    double derivative[4] = {};
    for (int k = 1; k <= degree; ++k) derivative[k - 1] = k * clean[k];
    const double end = 1.0000001 * first_root::bound(clean, degree) + 1.0e-300;
    double cuts[6] = {};
    int count = first_root::positive_zeros(derivative, degree - 1, end, cuts + 1);
    cuts[++count] = end;
    for (int k = 1; k <= count; ++k) {
        const double after = first_root::value(clean, degree, cuts[k]);
        if (after < 0.0) {
            // The value before is positive, or 0 at the start with a rise behind it that rounding hid.
            const double before = k == 1 && start == 0.0 ? 1.0 : start;
            return first_root::between(clean, degree, cuts[k - 1], cuts[k], before);
        }
        start = after;
    }
    return never;
}

}  // namespace carom
