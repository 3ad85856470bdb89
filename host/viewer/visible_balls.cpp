#include "host/viewer/visible_balls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace carom {

namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();

}  // namespace

/// Of the picture's plane: how near something covers all of a cell.
struct VisibleBalls::Cells {
    float left;
    float bottom;
    float side;
    int columns;
    int rows;
    std::vector<float>& covered;

    struct Range {
        int first;
        int end;
    };
    /// The cells that an interval touches.
    [[nodiscard]] static Range touched(float low, float high, float begin, float side, int count) {
        const auto most = static_cast<float>(count);
        return {static_cast<int>(std::clamp(std::floor((low - begin) / side), 0.0f, most)),
                static_cast<int>(std::clamp(std::floor((high - begin) / side) + 1.0f, 0.0f, most))};
    }

    /// What is outside the picture is not seen either.
    [[nodiscard]] bool hidden(const Seen& ball) const {
        const Range x = touched(ball.left, ball.right, left, side, columns);
        const Range y = touched(ball.bottom, ball.top, bottom, side, rows);
        for (int row = y.first; row < y.end; ++row) {
            const float* const cells = covered.data() + static_cast<std::ptrdiff_t>(row) * columns;
            for (int column = x.first; column < x.end; ++column) {
                if (!(cells[column] < ball.front)) return false;
            }
        }
        return true;
    }

    /// The disk through the centre lies inside the sphere: what is behind it is hidden.
    void cover(const Seen& ball) {
        const Range y = touched(ball.y - ball.radius, ball.y + ball.radius, bottom, side, rows);
        for (int row = y.first; row < y.end; ++row) {
            const float low = bottom + static_cast<float>(row) * side - ball.y;
            const float farther = std::max(std::abs(low), std::abs(low + side));
            const float room = ball.radius * ball.radius - farther * farther;
            if (!(room > 0.0f)) continue;
            const float half = std::sqrt(room);
            const auto most = static_cast<float>(columns);
            const int first = static_cast<int>(std::clamp(std::ceil((ball.x - half - left) / side), 0.0f, most));
            const int end = static_cast<int>(std::clamp(std::floor((ball.x + half - left) / side), 0.0f, most));
            float* const cells = covered.data() + static_cast<std::ptrdiff_t>(row) * columns;
            for (int column = first; column < end; ++column) {
                cells[column] = std::min(cells[column], ball.depth);
            }
        }
    }
};

void VisibleBalls::sort() {
    constexpr std::size_t kBins = 4096;
    float nearest = kFar;
    float farthest = -kFar;
    for (const Seen& ball : seen_) {
        nearest = std::min(nearest, ball.depth);
        farthest = std::max(farthest, ball.depth);
    }
    // In double precision, so that neither the differences nor what they are divided by leave the numbers' range.
    const double range = static_cast<double>(farthest) - static_cast<double>(nearest);
    const double bins = range > 0.0 ? static_cast<double>(kBins - 1) / range : 0.0;
    const auto bin = [&](const Seen& ball) {
        return static_cast<std::size_t>((static_cast<double>(ball.depth) - static_cast<double>(nearest)) * bins);
    };
    begins_.assign(kBins + 1, 0);
    for (const Seen& ball : seen_) ++begins_[bin(ball) + 1];
    for (std::size_t k = 1; k <= kBins; ++k) begins_[k] += begins_[k - 1];
    order_.resize(seen_.size());
    for (std::size_t k = 0; k < seen_.size(); ++k) order_[begins_[bin(seen_[k])]++] = static_cast<std::uint32_t>(k);
}

std::span<const std::uint32_t> VisibleBalls::find(std::span<const BallPlace> places, const Matrix4& view,
                                                  const Matrix4& projection, bool perspective) {
    const Matrix4& v = view;
    extent_ = {};
    seen_.clear();
    visible_.clear();
    double radii = 0.0;
    for (std::size_t k = 0; k < places.size(); ++k) {
        const BallPlace& place = places[k];
        if (place.radius < 0.0f) continue;
        const float x = v[0] * place.x + v[4] * place.y + v[8] * place.z + v[12];
        const float y = v[1] * place.x + v[5] * place.y + v[9] * place.z + v[13];
        const float depth = -(v[2] * place.x + v[6] * place.y + v[10] * place.z + v[14]);
        const float r = place.radius;
        Seen ball{.x = x,
                  .y = y,
                  .depth = depth,
                  .radius = r,
                  .left = x - r,
                  .right = x + r,
                  .bottom = y - r,
                  .top = y + r,
                  .front = depth - r,
                  .index = static_cast<std::uint32_t>(k),
                  .whole = true};
        const float clip = -projection[10] * depth + projection[14];
        ball.whole = std::abs(clip) < (perspective ? depth : 1.0f);
        if (perspective && ball.whole) {
            const float back = depth + r;
            ball.whole = ball.front > 0.01f * depth;
            const auto least = [&](float at) { return at / (at < 0.0f ? ball.front : back); };
            const auto most = [&](float at) { return at / (at < 0.0f ? back : ball.front); };
            ball.left = least(x - r);
            ball.right = most(x + r);
            ball.bottom = least(y - r);
            ball.top = most(y + r);
            ball.x = x / depth;
            ball.y = y / depth;
            ball.radius = r / depth;
        }
        if (!ball.whole || !std::isfinite(depth) || !std::isfinite(x + y) || !std::isfinite(ball.radius)) {
            visible_.push_back(ball.index);
            continue;
        }
        radii += static_cast<double>(ball.radius);
        seen_.push_back(ball);
    }
    if (seen_.empty()) return visible_;

    // What the picture shows, in the plane of Seen. Cells so small that a ball covers some ten of them.
    constexpr float kCellsOfRadius = 2.5f;
    constexpr float kMostCells = 2048.0f;
    const float middle_x = perspective ? projection[8] : -projection[12];
    const float middle_y = perspective ? projection[9] : -projection[13];
    const float left = (middle_x - 1.0f) / projection[0];
    const float bottom = (middle_y - 1.0f) / projection[5];
    const float width = 2.0f / projection[0];
    const float height = 2.0f / projection[5];
    const auto mean = static_cast<float>(radii / static_cast<double>(seen_.size()));
    const float side = std::max(mean / kCellsOfRadius, std::max(width, height) / kMostCells);
    Cells cells{.left = left,
                .bottom = bottom,
                .side = side,
                .columns = static_cast<int>(std::ceil(width / side)),
                .rows = static_cast<int>(std::ceil(height / side)),
                .covered = covered_};
    covered_.assign(static_cast<std::size_t>(cells.columns) * static_cast<std::size_t>(cells.rows), kFar);
    if (visible_.empty()) {  // what is too near for cells may be anywhere
        PictureExtent extent{kFar, -kFar, kFar, -kFar};
        for (const Seen& ball : seen_) {
            extent.left = std::min(extent.left, ball.left);
            extent.right = std::max(extent.right, ball.right);
            extent.bottom = std::min(extent.bottom, ball.bottom);
            extent.top = std::max(extent.top, ball.top);
        }
        extent_ = {extent.left * projection[0] - middle_x, extent.right * projection[0] - middle_x,
                   extent.bottom * projection[5] - middle_y, extent.top * projection[5] - middle_y};
    }
    sort();
    for (const std::uint32_t k : order_) {
        const Seen& ball = seen_[k];
        if (cells.hidden(ball)) continue;
        visible_.push_back(ball.index);
        cells.cover(ball);
    }
    return visible_;
}

}  // namespace carom
