#pragma once

#include "kernels/core/portability.hpp"

namespace carom {

/// A small vector of fixed length, by value.
template <class T, int N>
struct Vec {
    T components[N];

    CAROM_HD T& operator[](int axis) { return components[axis]; }
    CAROM_HD const T& operator[](int axis) const { return components[axis]; }

    CAROM_HD static Vec filled(T value) {
        Vec result;
        for (int axis = 0; axis < N; ++axis) result[axis] = value;
        return result;
    }
};

template <class T, int N>
CAROM_HD Vec<T, N> operator+(const Vec<T, N>& a, const Vec<T, N>& b) {
    Vec<T, N> result;
    for (int axis = 0; axis < N; ++axis) result[axis] = a[axis] + b[axis];
    return result;
}

template <class T, int N>
CAROM_HD Vec<T, N> operator-(const Vec<T, N>& a, const Vec<T, N>& b) {
    Vec<T, N> result;
    for (int axis = 0; axis < N; ++axis) result[axis] = a[axis] - b[axis];
    return result;
}

template <class T, int N>
CAROM_HD Vec<T, N> operator*(T factor, const Vec<T, N>& a) {
    Vec<T, N> result;
    for (int axis = 0; axis < N; ++axis) result[axis] = factor * a[axis];
    return result;
}

/// Sum of products from the first axis on, each product rounded (the order is part of the state's bits).
template <class T, int N>
CAROM_HD T dot(const Vec<T, N>& a, const Vec<T, N>& b) {
    T sum = a[0] * b[0];
    for (int axis = 1; axis < N; ++axis) sum = sum + a[axis] * b[axis];
    return sum;
}

}  // namespace carom
