#include "host/viewer/renderer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "host/plot/image.hpp"
#include "host/viewer/opengl.hpp"
#include "host/viewer/visible_balls.hpp"

namespace carom {

void LineList::add(const std::array<float, 3>& a, const std::array<float, 3>& b, float width, const Color& color,
                   float opacity, Ends ends) {
    lines_.push_back(
        {a, b, width, ends == Ends::kRound ? 1.0f : 0.0f, std::array{color[0], color[1], color[2], opacity}});
}

void LineList::add_dashes(const std::array<float, 3>& a, const std::array<float, 3>& b, int count, float width,
                          const Color& color) {
    const auto along = [&](float t) {
        return std::array{a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
    };
    const auto pieces = static_cast<float>(count);
    for (int k = 0; k < count; ++k) {
        const float begin = (static_cast<float>(k) + 0.25f) / pieces;
        add(along(begin), along(begin + 0.5f / pieces), width, color);
    }
}

void LineList::add_rectangle(float left, float top, float right, float bottom, const Color& color, float opacity) {
    const float middle = 0.5f * (top + bottom);
    add({left, middle, 0.0f}, {right, middle, 0.0f}, bottom - top, color, opacity, Ends::kFlat);
}

void LineList::add_circle(const std::array<float, 3>& center, float radius, const std::array<float, 3>& u,
                          const std::array<float, 3>& v, float width, const Color& color) {
    constexpr int kPieces = 180;
    const auto at = [&](int k) {
        const float angle = 2.0f * std::numbers::pi_v<float> * static_cast<float>(k) / kPieces;
        const float c = radius * std::cos(angle);
        const float s = radius * std::sin(angle);
        return std::array{center[0] + c * u[0] + s * v[0], center[1] + c * u[1] + s * v[1],
                          center[2] + c * u[2] + s * v[2]};
    };
    for (int k = 0; k < kPieces; ++k) add(at(k), at(k + 1), width, color);
}

void LineList::add_text(float x, float base_line, float height, std::string_view text, const Color& color) {
    if (Letters::there()) {
        letters_.set({x, base_line}, height, text, [&](int left, int top, int width, float coverage) {
            const auto from = static_cast<float>(left);
            const auto row = static_cast<float>(top);
            add_rectangle(from, row, from + static_cast<float>(width), row + 1.0f, color, coverage);
        });
        return;
    }
    for (const Stroke& stroke : text_strokes({x, base_line}, height, text)) {
        add({stroke.from.x, stroke.from.y, 0.0f}, {stroke.to.x, stroke.to.y, 0.0f}, stroke_width(height), color);
    }
}

namespace {

/// Below this radius a ball is drawn as a point [pixels].
constexpr double kPointRadius = 0.5;
/// Up to this one it is a point of its size with a disk or sphere in it; so near the picture's edge it may vanish.
constexpr double kSpriteRadius = 6.0;
/// Where lines end in front of the eye without perspective, where all is at 1.
constexpr float kFlatCut = 1e-3f;
/// Colours of species in one row of the texture: fewer than any OpenGL 4.5 allows, 16384.
constexpr std::size_t kRow = 1024;

void set(GLuint program, const char* name, const Matrix4& value) {
    glProgramUniformMatrix4fv(program, glGetUniformLocation(program, name), 1, GL_FALSE, value.data());
}
void set(GLuint program, const char* name, float value) {
    glProgramUniform1f(program, glGetUniformLocation(program, name), value);
}
void set(GLuint program, const char* name, bool value) {
    glProgramUniform1i(program, glGetUniformLocation(program, name), value ? 1 : 0);
}
void set(GLuint program, const char* name, const Color& value) {
    glProgramUniform3fv(program, glGetUniformLocation(program, name), 1, value.data());
}
void set(GLuint program, const char* name, float first, float second) {
    glProgramUniform2f(program, glGetUniformLocation(program, name), first, second);
}

/// Through which balls are drawn: the picture's camera, or the lamp.
struct BallView {
    Matrix4 view;
    Matrix4 projection;
    double pixel = 1.0;  ///< at the target [length]
    bool perspective = false;
    double nearer = 1.0;  ///< how many times larger than at the target the nearest ball may be
};

/// From pixels of the picture, y down, to the clip space.
Matrix4 pixel_matrix(const OffscreenTarget& target) {
    Matrix4 m{};
    m[0] = 2.0f / static_cast<float>(target.width());
    m[5] = -2.0f / static_cast<float>(target.height());
    m[12] = -1.0f;
    m[13] = 1.0f;
    m[15] = 1.0f;
    return m;
}

}  // namespace

class Renderer::Impl {
public:
    Impl() {
        for (GLuint attribute = 0; attribute < 3; ++attribute) {  // places, values, turns
            if (attribute < 2) glEnableVertexArrayAttrib(balls_.name(), attribute);
            glVertexArrayAttribBinding(balls_.name(), attribute, attribute);
            glVertexArrayAttribFormat(balls_.name(), attribute, attribute == 1 ? 1 : 4, GL_FLOAT, GL_FALSE, 0);
        }
        const auto line = [this](GLuint attribute, GLint count, std::size_t offset) {
            glEnableVertexArrayAttrib(lines_.name(), attribute);
            glVertexArrayAttribBinding(lines_.name(), attribute, 0);
            glVertexArrayAttribFormat(lines_.name(), attribute, count, GL_FLOAT, GL_FALSE, static_cast<GLuint>(offset));
        };
        line(0, 3, offsetof(LineList::Line, a));
        line(1, 3, offsetof(LineList::Line, b));
        line(2, 2, offsetof(LineList::Line, width));
        line(3, 4, offsetof(LineList::Line, color));
        glVertexArrayBindingDivisor(lines_.name(), 0, 1);
        glEnable(GL_PROGRAM_POINT_SIZE);
        lay_over();
        errors_.check();
    }

    CloudBuffers upload(const BallCloud& cloud) {
        CloudBuffers buffers = all_.put(cloud.places, cloud.values, cloud.turns);
        buffers.extent.origin = cloud.origin;
        buffers.extent.largest_radius = cloud.largest_radius;
        if (software_) {
            buffers.host_places = cloud.places;
            buffers.host_values = cloud.values;
            buffers.host_turns = cloud.turns;
        }
        return buffers;
    }

    void draw(const OffscreenTarget& target, const Camera& camera, const CloudBuffers& cloud,
              const PictureContent& content) {
        target.bind();
        const bool deep = content.dimension == 3;
        const Color& paper = content.theme->paper;
        const float opaque = content.transparent ? 0.0f : 1.0f;
        glClearColor(opaque * paper[0], opaque * paper[1], opaque * paper[2], opaque);
        glDepthMask(GL_TRUE);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        const Matrix4 scene_matrix = multiply(camera.projection_matrix(), camera.view_matrix(cloud.extent.origin));
        const auto fine = static_cast<float>(target.oversampling());
        const float cut = camera.perspective() ? static_cast<float>(0.1 * camera.nearest()) : kFlatCut;
        glEnable(GL_BLEND);
        glDisable(GL_DEPTH_TEST);
        if (content.behind != nullptr) draw_lines(target, *content.behind, scene_matrix, fine, cut);
        if (deep) {
            glEnable(GL_DEPTH_TEST);
            glDisable(GL_BLEND);
        }
        if (content.clip_to_box) clip_to(target, camera, content.box);
        if (content.floor) draw_floor(*content.floor, scene_matrix);
        const double pixel = 1.0 / (camera.scale() * target.oversampling());
        // With perspective the nearest ball may be much larger than those at the target.
        const double nearer = camera.perspective() ? camera.distance() / camera.nearest() : 1.0;
        draw_balls(
            {camera.view_matrix(cloud.extent.origin), camera.projection_matrix(), pixel, camera.perspective(), nearer},
            camera, cloud, content);
        glDisable(GL_SCISSOR_TEST);
        if (deep && content.light && !content.glow && cloud.extent.count > 0)
            draw_light(target, camera, cloud, content, scene_matrix);
        glEnable(GL_BLEND);
        glDepthMask(GL_FALSE);
        if (content.scenery != nullptr) draw_lines(target, *content.scenery, scene_matrix, fine, cut);
        glDisable(GL_DEPTH_TEST);
        target.reduce();
        if (content.overlay != nullptr) draw_lines(target, *content.overlay, pixel_matrix(target), 1.0f, kFlatCut);
        glDisable(GL_BLEND);
        errors_.check();
    }

private:
    /// What is drawn lies over what is there; opacities of a target that had none add up.
    static void lay_over() {
        glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    }

    void set_colors(GLuint program, const PictureContent& content, const Vector3& origin) {
        const Palette& palette = *content.palette;
        if (palette_colors_ != palette.colors) {
            palette_colors_ = palette.colors;
            palette_texture_ = GlTexture();
            std::vector<Color> colors = palette.colors;
            const std::size_t width = std::min(colors.size(), kRow);
            const std::size_t rows = (colors.size() + width - 1) / width;
            colors.resize(width * rows);
            const auto columns = static_cast<GLsizei>(width);
            glTextureStorage2D(palette_texture_.name(), 1, GL_RGB32F, columns, static_cast<GLsizei>(rows));
            glTextureSubImage2D(palette_texture_.name(), 0, 0, 0, columns, static_cast<GLsizei>(rows), GL_RGB, GL_FLOAT,
                                colors.data());
            glTextureParameteri(palette_texture_.name(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
            glTextureParameteri(palette_texture_.name(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        }
        glBindTextureUnit(0, palette_texture_.name());
        set(program, "range", content.range.low, content.range.high);
        set(program, "categories", palette.categories);
        set(program, "unknown", content.theme->unknown);
        std::array<std::array<float, 4>, kMostClips> planes{};
        const std::size_t count = std::min(content.clips.size(), kMostClips);
        for (std::size_t k = 0; k < count; ++k) {
            double offset = content.clips[k].offset;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                planes[k][axis] = static_cast<float>(content.clips[k].normal[axis]);
                offset -= content.clips[k].normal[axis] * origin[axis];
            }
            planes[k][3] = static_cast<float>(offset);
        }
        glProgramUniform4fv(program, glGetUniformLocation(program, "clips"), kMostClips, planes.front().data());
        glProgramUniform1i(program, glGetUniformLocation(program, "clip_count"), static_cast<GLint>(count));
    }

    void draw_floor(const FloorPlane& floor, const Matrix4& transform) {
        glUseProgram(plane_.name());
        set(plane_.name(), "transform", transform);
        glProgramUniform3fv(plane_.name(), plane_.at("corners"), 4, floor.corners.front().data());
        set(plane_.name(), "paint", floor.color);
        glBindVertexArray(nothing_.name());
        glEnable(GL_POLYGON_OFFSET_FILL);  // the box's lines lie in it
        glPolygonOffset(1.0f, 1.0f);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glDisable(GL_POLYGON_OFFSET_FILL);
    }

    /// Nothing if the floor reaches behind the eye.
    static std::optional<PictureExtent> with_floor(PictureExtent extent, const FloorPlane& floor,
                                                   const Matrix4& transform) {
        for (const auto& corner : floor.corners) {
            const auto row = [&](std::size_t k) {
                return transform[k] * corner[0] + transform[4 + k] * corner[1] + transform[8 + k] * corner[2] +
                       transform[12 + k];
            };
            const float w = row(3);
            if (!(w > 0.0f)) return std::nullopt;
            extent.left = std::min(extent.left, row(0) / w);
            extent.right = std::max(extent.right, row(0) / w);
            extent.bottom = std::min(extent.bottom, row(1) / w);
            extent.top = std::max(extent.top, row(1) / w);
        }
        return extent;
    }

    /// Multiplies the balls and the floor with the light that reaches them.
    void draw_light(const OffscreenTarget& target, const Camera& camera, const CloudBuffers& cloud,
                    const PictureContent& content, const Matrix4& scene_matrix) {
        std::optional<PictureExtent> lit = extent_;
        if (content.floor && lit) lit = with_floor(*lit, *content.floor, scene_matrix);
        // The lamp stands behind the eye, to the left and above, and sees the whole box without perspective.
        if (!lamp_) lamp_.emplace();
        const auto size = static_cast<double>(lamp_->size);
        double diagonal = 0.0;
        for (int axis = 0; axis < 3; ++axis) diagonal += content.box.size[axis] * content.box.size[axis];
        diagonal = std::sqrt(diagonal);
        const double reach = 0.5 * diagonal + static_cast<double>(cloud.extent.largest_radius);
        constexpr Vector3 kLamp{-0.45, 0.65, 0.75};  // in the eye's frame, as in light.frag and sphere.frag
        const double length = std::sqrt(kLamp[0] * kLamp[0] + kLamp[1] * kLamp[1] + kLamp[2] * kLamp[2]);
        const double flat = std::hypot(kLamp[0], kLamp[2]);
        const Vector3 back{kLamp[0] / length, kLamp[1] / length, kLamp[2] / length};
        const Vector3 right{kLamp[2] / flat, 0.0, -kLamp[0] / flat};
        const Vector3 up{back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
                         back[0] * right[1] - back[1] * right[0]};
        const Matrix4 eye = camera.view_matrix(cloud.extent.origin);
        Matrix4 turn{};  // from the eye's frame to the lamp's, which is about the box's middle
        const std::array<const Vector3*, 3> rows{&right, &up, &back};
        for (std::size_t row = 0; row < 3; ++row) {
            double shift = 0.0;
            for (std::size_t column = 0; column < 3; ++column) {
                turn[4 * column + row] = static_cast<float>((*rows[row])[column]);
                shift -= (*rows[row])[column] * static_cast<double>(eye[12 + column]);
            }
            turn[12 + row] = static_cast<float>(shift);
        }
        turn[15] = 1.0f;
        Matrix4 project{};
        project[0] = project[5] = static_cast<float>(1.0 / reach);
        project[10] = -project[0];
        project[15] = 1.0f;
        const double texel = 2.0 * reach / size;
        glBindFramebuffer(GL_FRAMEBUFFER, lamp_->frame.name());
        glViewport(0, 0, lamp_->size, lamp_->size);
        glClear(GL_DEPTH_BUFFER_BIT);
        draw_balls({multiply(turn, eye), project, texel}, camera, cloud, content);

        target.bind();
        target.bind_colors();
        Matrix4 to_texture{};
        to_texture[0] = to_texture[5] = to_texture[10] = 0.5f;
        to_texture[12] = to_texture[13] = to_texture[14] = 0.5f;
        to_texture[15] = 1.0f;
        const GLuint program = light_.name();
        glUseProgram(program);
        glBindTextureUnit(0, target.depths());
        glBindTextureUnit(1, lamp_->depths.name());
        glProgramUniform1i(program, light_.at("lamp_map"), 1);
        set_eye(camera, target);
        set(program, "to_lamp", multiply(to_texture, multiply(project, turn)));
        set(program, "lamp_texel", static_cast<float>(texel));
        constexpr float kGaps = 2.5f;    // radii
        constexpr double kShape = 0.07;  // of the box's diagonal
        const float radius = cloud.extent.largest_radius;
        set(program, "reach", kGaps * radius, std::max(kGaps * radius, static_cast<float>(kShape * diagonal)));
        set(program, "radius", radius);
        glProgramUniform1i(program, light_.at("line_width"), target.oversampling());
        // Of many pixels each needs fewer.
        constexpr double kMany = 4e7;
        constexpr double kVeryMany = 1e8;
        const double pixels =
            static_cast<double>(target.width()) * target.height() * target.oversampling() * target.oversampling();
        glProgramUniform1i(program, light_.at("points"), pixels > kVeryMany ? 2 : pixels > kMany ? 3 : 7);
        glProgramUniform1i(program, light_.at("lamp_points"), target.oversampling() > 1 ? 1 : 4);
        glBindVertexArray(nothing_.name());
        glDisable(GL_DEPTH_TEST);
        glEnable(GL_BLEND);
        glBlendFunc(GL_ZERO, GL_SRC_COLOR);
        if (lit) {  // software takes as long for a pixel where nothing is
            const auto pixel = [](float at, int pixels_across) {
                return static_cast<GLint>(std::clamp(0.5f * (at + 1.0f), 0.0f, 1.0f) *
                                          static_cast<float>(pixels_across));
            };
            const int width = target.width() * target.oversampling();
            const int height = target.height() * target.oversampling();
            const GLint left = pixel(lit->left, width);
            const GLint bottom = pixel(lit->bottom, height);
            glEnable(GL_SCISSOR_TEST);
            glScissor(left, bottom, pixel(lit->right, width) + 1 - left, pixel(lit->top, height) + 1 - bottom);
        }
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glDisable(GL_SCISSOR_TEST);
        lay_over();
        glEnable(GL_DEPTH_TEST);
        target.bind();
    }

    /// For light.frag: from pixels and depths back to the eye's frame, and in which directions it looks around.
    void set_eye(const Camera& camera, const OffscreenTarget& target) {
        const GLuint program = light_.name();
        const Matrix4 m = camera.projection_matrix();
        const bool deep = camera.perspective();
        const auto width = static_cast<float>(target.width() * target.oversampling());
        const auto height = static_cast<float>(target.height() * target.oversampling());
        const float middle_x = deep ? -m[8] : m[12];
        const float middle_y = deep ? -m[9] : m[13];
        if (deep) {
            glProgramUniform4f(program, light_.at("eye_depth"), -m[14], 0.0f, m[10] - 1.0f, 2.0f);
        } else {
            glProgramUniform4f(program, light_.at("eye_depth"), (-1.0f - m[14]) / m[10], 2.0f / m[10], 1.0f, 0.0f);
        }
        glProgramUniform4f(program, light_.at("eye_plane"), 2.0f / (width * m[0]), 2.0f / (height * m[5]),
                           (1.0f / width - 1.0f - middle_x) / m[0], (1.0f / height - 1.0f - middle_y) / m[5]);
        set(program, "eye_spread", deep ? 0.0f : 1.0f, deep ? -1.0f : 0.0f);
        set(program, "pixels_at", 0.5f * height * m[5]);
        std::array<float, 28> around{};
        constexpr float kGolden = 2.3999632f;
        for (std::size_t k = 0; k < around.size() / 2; ++k) {
            around[2 * k] = std::cos(kGolden * static_cast<float>(k));
            around[2 * k + 1] = std::sin(kGolden * static_cast<float>(k));
        }
        glProgramUniform2fv(program, light_.at("around"), static_cast<GLsizei>(around.size() / 2), around.data());
    }

    /// The spheres that can be seen, the nearest first; all where that is not known. Those behind would cost the
    /// processor as much as these, and of a dense body are most.
    CloudBuffers visible(const BallView& through, const CloudBuffers& cloud) {
        if (cloud.host_places.empty()) return cloud;
        const auto chosen = visible_.find(cloud.host_places, through.view, through.projection, through.perspective);
        const auto pick = [&](const auto& from, auto& to) {
            to.clear();
            if (from.empty()) return;
            for (const std::uint32_t k : chosen) to.push_back(from[k]);
        };
        pick(cloud.host_places, places_);
        pick(cloud.host_values, values_);
        pick(cloud.host_turns, turns_);
        extent_ = visible_.extent();
        CloudBuffers found = chosen_.put(places_, values_, turns_);
        found.extent.origin = cloud.extent.origin;
        found.extent.largest_radius = cloud.extent.largest_radius;
        return found;
    }

    void draw_balls(const BallView& through, const Camera& camera, const CloudBuffers& all,
                    const PictureContent& content) {
        if (all.extent.count == 0) return;
        const bool deep = content.dimension == 3;
        const double largest = static_cast<double>(all.extent.largest_radius) * through.nearer / through.pixel;
        const bool dots = largest < kPointRadius;
        const bool cut = deep && !content.clips.empty();
        const bool opaque = deep && !dots && !cut && !content.glow && content.copies.empty();
        extent_.reset();
        const CloudBuffers cloud = opaque ? visible(through, all) : all;
        if (cloud.extent.count == 0) return;
        const bool sprites = !dots && largest < kSpriteRadius && !through.perspective && !cut;
        const bool patterned = !dots && !sprites && cloud.turns != 0;
        const bool hasty = deep && content.hasty;
        const GlProgram& shape = hasty && sprites              ? hasty_small_sphere_
                                 : hasty && !patterned && !cut ? hasty_sphere_
                                 : sprites                     ? (deep ? small_sphere_ : small_disk_)
                                 : patterned || cut            ? (deep ? dressed_sphere_ : dressed_disk_)
                                                               : (deep ? sphere_ : disk_);
        const GLuint program = content.glow ? glow_.name() : dots ? point_.name() : shape.name();
        glUseProgram(program);
        set(program, "view", through.view);
        set(program, "projection", through.projection);
        set(program, "pixel", static_cast<float>(through.pixel));
        set(program, "perspective", through.perspective);
        set(program, "solid", deep);
        set(program, "haze", content.theme->paper);
        set(program, "haze_depth", static_cast<float>(camera.nearest()), static_cast<float>(camera.farthest()));
        set_colors(program, content, cloud.extent.origin);
        glBindVertexArray(balls_.name());
        glVertexArrayVertexBuffer(balls_.name(), 0, cloud.places, 0, sizeof(BallPlace));
        glVertexArrayVertexBuffer(balls_.name(), 1, cloud.values, static_cast<GLintptr>(cloud.values_offset),
                                  sizeof(float));
        const bool points = dots || sprites || content.glow;
        if (content.glow) set_glow(program, camera, cloud, content, largest);
        set(program, "patterned", patterned);
        if (patterned) {
            glEnableVertexArrayAttrib(balls_.name(), 2);
            glVertexArrayVertexBuffer(balls_.name(), 2, cloud.turns, 0, sizeof(BallTurn));
            glVertexArrayBindingDivisor(balls_.name(), 2, 1);
        } else {
            glDisableVertexArrayAttrib(balls_.name(), 2);
        }
        const GLuint divisor = points ? 0 : 1;
        glVertexArrayBindingDivisor(balls_.name(), 0, divisor);
        glVertexArrayBindingDivisor(balls_.name(), 1, divisor);
        const auto count = static_cast<GLsizei>(cloud.extent.count);
        const auto draw_all = [&](float around_x, float around_y) {
            set(program, "around", around_x, around_y);
            if (points) {
                glDrawArrays(GL_POINTS, 0, count);
            } else {
                glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
            }
        };
        const auto draw_at = [&](const Vector3& shift) {
            set(program, "shift",
                Color{static_cast<float>(shift[0]), static_cast<float>(shift[1]), static_cast<float>(shift[2])});
            draw_all(0.0f, 0.0f);
        };
        draw_at({});
        const auto [around_x, around_y] = cloud.extent.around;
        if (around_x > 0.0f) draw_all(around_x, 0.0f);
        if (around_y > 0.0f) draw_all(0.0f, around_y);
        if (around_x > 0.0f && around_y > 0.0f) draw_all(around_x, around_y);
        for (const Vector3& shift : content.copies) draw_at(shift);
        if (content.glow) {
            lay_over();
            if (deep) {
                glEnable(GL_DEPTH_TEST);
                glDisable(GL_BLEND);
            }
        }
    }

    /// Balls add light, as far as a few of their radii, or a few pixels where these are small; so bright that where
    /// they lie over each other on average, the picture is of a middle brightness.
    void set_glow(GLuint program, const Camera& camera, const CloudBuffers& cloud, const PictureContent& content,
                  double radius) {
        constexpr double kRadii = 2.5;
        constexpr double kLeast = 3.0;  // [pixels]
        const bool dark = content.theme->ink[1] > content.theme->paper[1];
        const double halo = std::max(kRadii * radius, kLeast);
        const double area = camera.viewport().inner_width() * camera.viewport().inner_height();  // [pixels]
        const double times = static_cast<double>(cloud.extent.count * (1 + content.copies.size()));
        const double layers = times * std::numbers::pi * halo * halo / std::max(area, 1.0);
        set(program, "least", static_cast<float>(kLeast));
        set(program, "radii", static_cast<float>(kRadii));
        set(program, "strength", static_cast<float>(std::clamp(2.0 / std::max(layers, 1e-9), 0.02, 1.0)));
        set(program, "ink", !dark);
        set(program, "eye_distance", static_cast<float>(camera.perspective() ? camera.distance() : 0.0));
        glDisable(GL_DEPTH_TEST);
        glEnable(GL_BLEND);
        glBlendFuncSeparate(dark ? GL_ONE : GL_ZERO, dark ? GL_ONE : GL_ONE_MINUS_SRC_COLOR, GL_ONE, GL_ONE);
    }

    /// \param fine  how many pixels of the bound framebuffer are one of the picture
    /// \param cut   how near to the eye lines end
    void draw_lines(const OffscreenTarget& target, const LineList& list, const Matrix4& transform, float fine,
                    float cut) {
        const auto& lines = list.lines();
        if (lines.empty()) return;
        std::vector<LineList::Line> scaled;
        const LineList::Line* data = lines.data();
        if (fine != 1.0f) {
            scaled = lines;
            for (LineList::Line& line : scaled) line.width *= fine;
            data = scaled.data();
        }
        const auto bytes = static_cast<GLsizeiptr>(lines.size() * sizeof(LineList::Line));
        glNamedBufferData(line_buffer_.name(), bytes, data, GL_STREAM_DRAW);
        glUseProgram(line_.name());
        set(line_.name(), "transform", transform);
        set(line_.name(), "viewport", fine * static_cast<float>(target.width()),
            fine * static_cast<float>(target.height()));
        set(line_.name(), "nearest", cut);
        glBindVertexArray(lines_.name());
        glVertexArrayVertexBuffer(lines_.name(), 0, line_buffer_.name(), 0, sizeof(LineList::Line));
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(lines.size()));
    }

    /// Buffers for balls that are the host's.
    struct BallBuffers {
        GlBuffer places;
        GlBuffer values;
        GlBuffer turns;

        CloudBuffers put(std::span<const BallPlace> new_places, std::span<const float> new_values,
                         std::span<const BallTurn> new_turns) {
            const auto fill = [](const GlBuffer& buffer, const auto& span) {
                // A new store each time: the driver need not wait for the frame before.
                glNamedBufferData(buffer.name(), static_cast<GLsizeiptr>(std::max<std::size_t>(span.size_bytes(), 4)),
                                  nullptr, GL_STREAM_DRAW);
                glNamedBufferSubData(buffer.name(), 0, static_cast<GLsizeiptr>(span.size_bytes()), span.data());
            };
            fill(places, new_places);
            fill(values, new_values);
            if (!new_turns.empty()) fill(turns, new_turns);
            return {.places = places.name(),
                    .values = values.name(),
                    .extent = {.count = new_places.size()},
                    .turns = new_turns.empty() ? 0 : turns.name()};
        }
    };

    static void clip_to(const OffscreenTarget& target, const Camera& camera, const Box& box) {
        const PicturePlace low = camera.project(box.min);
        const PicturePlace high = camera.project({box.min[0] + box.size[0], box.min[1] + box.size[1], 0.0});
        const auto pixel = [&](double at, int most) {
            return static_cast<GLint>(std::lround(std::clamp(at, 0.0, static_cast<double>(most)))) *
                   target.oversampling();
        };
        const GLint left = pixel(low.x, target.width());
        const GLint right = pixel(high.x, target.width());
        const GLint bottom = pixel(target.height() - low.y, target.height());
        const GLint top = pixel(target.height() - high.y, target.height());
        glEnable(GL_SCISSOR_TEST);
        glScissor(left, bottom, std::max(0, right - left), std::max(0, top - bottom));
    }

    /// The depths that the lamp sees.
    struct LampMap {
        GlFramebuffer frame;
        GlTexture depths;
        GLsizei size = 2048;

        LampMap() {
            glTextureStorage2D(depths.name(), 1, GL_DEPTH_COMPONENT32F, size, size);
            glTextureParameteri(depths.name(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
            glTextureParameteri(depths.name(), GL_TEXTURE_MAG_FILTER, GL_LINEAR);
            glTextureParameteri(depths.name(), GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
            glNamedFramebufferTexture(frame.name(), GL_DEPTH_ATTACHMENT, depths.name(), 0);
            glNamedFramebufferDrawBuffer(frame.name(), GL_NONE);
        }
    };

    GlErrors errors_;
    GlProgram disk_{"ball.vert", "disk.frag"};
    GlProgram sphere_{"ball.vert", "sphere.frag"};
    GlProgram dressed_disk_{"ball.vert", "disk.frag", {"DRESSED"}};
    GlProgram dressed_sphere_{"ball.vert", "sphere.frag", {"DRESSED"}};
    GlProgram small_disk_{"dot.vert", "dot.frag"};
    GlProgram small_sphere_{"ball.vert", "sphere.frag", {"SPRITE"}};
    GlProgram hasty_sphere_{"ball.vert", "sphere.frag", {"HASTY"}};
    GlProgram hasty_small_sphere_{"ball.vert", "sphere.frag", {"SPRITE", "HASTY"}};
    GlProgram point_{"point.vert", "point.frag"};
    GlProgram glow_{"dot.vert", "dot.frag", {"GLOW"}};
    GlProgram line_{"line.vert", "line.frag"};
    GlProgram plane_{"plane.vert", "plane.frag"};
    GlProgram light_{"screen.vert", "light.frag"};
    GlVertexArray nothing_;  // for what makes its vertices itself
    std::optional<LampMap> lamp_;
    GlVertexArray balls_;
    GlVertexArray lines_;
    const bool software_ = software_gl();
    BallBuffers all_;
    BallBuffers chosen_;
    VisibleBalls visible_;
    std::optional<PictureExtent> extent_;  // of the balls drawn last, if it is known
    std::vector<BallPlace> places_;
    std::vector<float> values_;
    std::vector<BallTurn> turns_;
    GlBuffer line_buffer_;
    std::vector<Color> palette_colors_;
    GlTexture palette_texture_;
};

Renderer::Renderer() : impl_(std::make_unique<Impl>()) {}
Renderer::~Renderer() = default;

void Renderer::draw(const OffscreenTarget& target, const Camera& camera, const BallCloud& cloud,
                    const PictureContent& content) {
    impl_->draw(target, camera, impl_->upload(cloud), content);
}

void Renderer::draw(const OffscreenTarget& target, const Camera& camera, const CloudBuffers& cloud,
                    const PictureContent& content) {
    impl_->draw(target, camera, cloud, content);
}

}  // namespace carom
