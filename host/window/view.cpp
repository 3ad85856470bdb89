#include "host/window/view.hpp"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/movie_writer.hpp"
#include "host/window/panels.hpp"
#include "host/window/window.hpp"

namespace carom {

namespace {

Vector3 position_of(const Frame& frame, std::size_t id) {
    Vector3 x{};
    for (int axis = 0; axis < frame.dimension; ++axis) x[axis] = frame.position[axis][id];
    return x;
}

/// [pixels] of a length at some depth.
double scale_at(const Camera& camera, double depth) {
    return camera.perspective() ? camera.scale() * camera.distance() / depth : camera.scale();
}

/// Where nothing is drawn.
bool behind_eye(const Camera& camera, const PicturePlace& place) {
    return camera.perspective() && !(place.depth > camera.nearest());
}

std::string toml_quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    return quoted + "\"";
}

std::string speed_text(const Vector3& velocity, const Scene& scene) {
    return fmt::format("{:.3g}{}", std::hypot(velocity[0], velocity[1], velocity[2]), scene.units.behind("m/s"));
}

}  // namespace

std::optional<std::size_t> ball_at(const Frame& frame, const Balls& balls, const Camera& camera,
                                   std::span<const ClipPlane> clips, double x, double y,
                                   const std::function<bool(std::size_t)>& left_out) {
    const auto cut_off = [&](const Vector3& at) {
        return std::ranges::any_of(clips, [&](const ClipPlane& clip) {
            return clip.normal[0] * at[0] + clip.normal[1] * at[1] + clip.normal[2] * at[2] > clip.offset;
        });
    };
    std::optional<std::size_t> found;
    double nearest = 0.0;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id] != 0 || (left_out && left_out(id))) continue;
        const Vector3 position = position_of(frame, id);
        if (cut_off(position)) continue;
        const PicturePlace place = camera.project(position);
        if (behind_eye(camera, place)) continue;
        // A ball of less than a few pixels could not be met otherwise.
        constexpr double kLeast = 4.0;
        const double radius = std::max(kLeast, balls.species_of(id).radius * scale_at(camera, place.depth));
        if (!(std::hypot(place.x - x, place.y - y) <= radius)) continue;
        const double depth = frame.dimension == 3 ? place.depth : std::hypot(place.x - x, place.y - y);
        if (found && depth >= nearest) continue;
        found = id;
        nearest = depth;
    }
    return found;
}

Vector3 Pointer::stroke(const Show& show, const Camera& camera) const {
    const Vector3 from = position_of(*show.frame(), *cue_);
    const Vector3 to = camera.unproject(x_, y_, from);
    Vector3 velocity{};
    for (int axis = 0; axis < 3; ++axis) velocity[axis] = (to[axis] - from[axis]) * show.speed();
    return velocity;
}

bool Pointer::cancel() {
    if (drag_ != Drag::kKick) return false;
    drag_ = Drag::kCancelled;
    cue_.reset();
    return true;
}

bool Pointer::act(Show& show, Painter& painter, ViewState& state, double pixels) {
    const ImGuiIO& io = ImGui::GetIO();
    Camera& camera = painter.camera();
    const double x = static_cast<double>(io.MousePos.x) * pixels;
    const double y = static_cast<double>(io.MousePos.y) * pixels;
    const bool deep = show.scene().dimension() == 3;
    bool changed = false;
    const double right = x - std::exchange(x_, x);
    const double down = y - std::exchange(y_, y);
    if (drag_ == Drag::kNone && !io.WantCaptureMouse && show.frame() != nullptr) {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
            drag_ = deep ? Drag::kTurn : Drag::kMove;
            moved_ = false;
            cue_ = ball_at(*show.frame(), show.balls(), camera, painter.clips(), x, y,
                           [&](std::size_t id) { return painter.left_out(id); });
            // Never without a key: who moves the picture of a dense gas meets a ball everywhere.
            if (show.live() && io.KeyCtrl) drag_ = cue_ ? Drag::kKick : Drag::kCancelled;
        } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Right) || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
            drag_ = Drag::kMove;
            moved_ = true;  // picks nothing
            cue_.reset();
        }
        if (io.MouseWheel != 0.0f) {
            constexpr double kNotch = 1.15;
            camera.zoom(std::pow(kNotch, static_cast<double>(io.MouseWheel)), x, y);
            changed = true;
        }
    } else if (drag_ != Drag::kNone) {
        const bool held = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
        // Where pictures are slow, the pointer may have gone on after the button was let go.
        if (held && (right != 0.0 || down != 0.0)) {
            changed = true;
            moved_ = moved_ || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f);
            if (drag_ == Drag::kMove) {
                state.follow = false;
                camera.pan(right, down);
            } else if (drag_ == Drag::kTurn) {
                constexpr double kDegreesPerPixel = 0.4;
                camera.look_from(camera.azimuth() - kDegreesPerPixel * right,
                                 camera.elevation() + kDegreesPerPixel * down);
            }
        }
        if (!held) {
            changed = true;
            if (drag_ == Drag::kCancelled) {
                moved_ = true;  // neither a kick nor a click
            } else if (!moved_) {
                state.selected = cue_;
                if (!cue_) state.follow = false;
            } else if (drag_ == Drag::kKick && cue_ && *cue_ < show.frame()->size()) {
                const Vector3 velocity = stroke(show, camera);
                show.kick({.id = *cue_, .velocity = velocity, .add = io.KeyShift});
                state.message = fmt::format("ball {} kicked {} {}; Z: undo", *cue_, io.KeyShift ? "by" : "to",
                                            speed_text(velocity, show.scene()));
            }
            drag_ = Drag::kNone;
            cue_.reset();
        }
    }
    return changed;
}

void Pointer::add_marks(LineList& lines, const Show& show, Painter& painter, const ViewState& state) const {
    const Frame& frame = *show.frame();
    const Camera& camera = painter.camera();
    constexpr Color kMark{1.0f, 0.85f, 0.3f};
    const auto place = [](double x, double y) {
        return std::array{static_cast<float>(x), static_cast<float>(y), 0.0f};
    };
    if (state.selected && *state.selected < frame.size() && frame.gone[*state.selected] == 0) {
        const PicturePlace at = camera.project(position_of(frame, *state.selected));
        const double radius = show.balls().species_of(*state.selected).radius * scale_at(camera, at.depth);
        if (!behind_eye(camera, at)) {
            lines.add_circle(place(at.x, at.y), static_cast<float>(radius) + 3.0f, {1.0f, 0.0f, 0.0f},
                             {0.0f, 1.0f, 0.0f}, 2.0f, kMark);
        }
    }
    if (drag_ == Drag::kKick && moved_ && cue_ && *cue_ < frame.size()) {
        const PicturePlace from = camera.project(position_of(frame, *cue_));
        // Its speed says more than its length, which depends on the zoom.
        lines.add(place(from.x, from.y), place(x_, y_), 3.0f, kMark);
        const double length = std::hypot(x_ - from.x, y_ - from.y);
        if (length > 1.0) {
            const double u = (x_ - from.x) / length;
            const double v = (y_ - from.y) / length;
            lines.add(place(x_, y_), place(x_ - 12.0 * u - 6.0 * v, y_ - 12.0 * v + 6.0 * u), 3.0f, kMark);
            lines.add(place(x_, y_), place(x_ - 12.0 * u + 6.0 * v, y_ - 12.0 * v - 6.0 * u), 3.0f, kMark);
            const float size = 13.0f * overlay_scale(camera.viewport().width, camera.viewport().height);
            lines.add_text(static_cast<float>(x_) + size, static_cast<float>(y_) - size, size,
                           speed_text(stroke(show, camera), show.scene()), kMark);
        }
    }
}

// After glad, which says what OpenGL is.

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMovieRate = 30.0;  // pictures a second, in time of the movie and of the wall

/// NAME-1.png and so on, in the current folder: the first number that is free.
std::string free_name(const std::string& name, const std::string& ending) {
    for (int number = 1;; ++number) {
        std::string path = fmt::format("{}-{}{}", name, number, ending);
        if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return path;
    }
}

class View {
public:
    View(Show& show, const ViewRequest& request)
        : show_(show),
          name_(request.name),
          source_(request.source),
          look_file_(request.look_file),
          given_look_(request.look),
          appearance_(request.style, show.scene(), show.balls()),
          window_("carom: " + request.name, request.width, request.height),
          painter_(show.scene(), show.balls(), appearance_, request.width, request.height),
          fine_(painter_.target().oversampling()) {
        wish_ = appearance_.camera;
        wish_.apply(painter_.camera());
        show_.set_quantity(painter_.quantity());
        state_.panels = request.panels;
        state_.movie = request.movie;
        state_.labels = request.style.labels;
        show_.start(request.playing);
    }

    ~View() { show_.stop(); }  // while there is a context
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    ViewOutcome run(const std::function<int()>& interrupted) {
        const auto begin = Clock::now();
        auto last = begin;  // picture
        auto last_update = begin;
        while (!window_.closing() && interrupted() == 0) {
            glfwPollEvents();
            window_.check_display();
            const auto now = Clock::now();
            if (window_.take_touched()) quiet_ = 0;
            for (const int key : window_.take_keys()) press(key);
            const bool fresh = show_.update(std::chrono::duration<double>(now - last_update).count());
            last_update = now;
            if (fresh) quiet_ = 0;
            if (show_.live() && show_.time() < time_) painter_.forget_range();
            time_ = show_.time();
            if (std::string said = show_.take_message(); !said.empty()) {
                state_.message = std::move(said);
                quiet_ = 0;
            }
            // Panels take some pictures to settle. Then nothing is drawn until there is something new: the simulation
            // has better use for the processor.
            constexpr int kSettling = 4;
            if (!fresh && quiet_ >= kSettling && !movie_) {
                if (!show_.playing()) drawn_.forget();
                glfwWaitEventsTimeout(show_.playing() ? 0.002 : 0.1);
                continue;
            }
            const double seconds = std::chrono::duration<double>(now - last).count();
            last = now;
            int width = 0;
            int height = 0;
            window_.size(width, height);
            if (width < 64 || height < 64 || show_.frame() == nullptr) {  // minimised, or not yet
                glfwWaitEventsTimeout(0.02);
                continue;
            }
            if (width != painter_.target().width() || height != painter_.target().height()) resize(width, height);
            picture(seconds, height);
        }
        if (movie_) end_movie();
        ViewOutcome outcome;
        if (show_.frame() != nullptr) {
            outcome.time = show_.time();
            outcome.step = show_.step_number();
        }
        outcome.pictures = pictures_;
        outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        outcome.error = show_.error();
        return outcome;
    }

private:
    void resize(int width, int height) {
        painter_.resize(width, height);
        slow_ = 0;
        hasty_ = false;
        if (untouched_) {
            wish_.apply(painter_.camera());
        }
        if (movie_) end_movie();  // a movie's pictures are all of one size
    }

    void picture(double seconds, int height) {
        const auto begin = Clock::now();
        window_.begin_panels();
        make_room();
        show_.want_frames(state_.selected.has_value() || pointer_.busy() || painter_.wants_frames(*show_.frame()));
        const bool pointed = pointer_.act(show_, painter_, state_, window_.pointer_scale());
        untouched_ = untouched_ && !pointed;
        if (state_.follow && state_.selected) painter_.follow(*show_.frame(), *state_.selected);
        set_clip();
        quiet_ = pointed ? 0 : quiet_ + 1;
        draw_scene();
        const Wishes wishes = panels_.draw(show_, painter_, state_);
        painter_.target().copy_to(0);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glViewport(0, 0, painter_.target().width(), height);
        window_.end_panels();
        window_.swap();
        ++pictures_;
        drawn_.add(1.0, seconds);
        state_.frames_per_second = drawn_.rate();
        adapt(std::chrono::duration<double>(Clock::now() - begin).count());
        record();
        if (wishes.screenshot) press('s');
        if (wishes.record) press('r');
        if (wishes.fit) press('f');
        if (wishes.copy) press('k');
        if (wishes.keep_clip) press('x');
        if (wishes.drop_clips) {
            painter_.drop_kept_clips();
            quiet_ = 0;
        }
        if (wishes.leave) window_.close();
    }

    /// The panels shall hide nothing of the box.
    void make_room() {
        const auto unit = state_.panels ? static_cast<float>(window_.pointer_scale()) : 0.0f;
        const std::array room{unit * Panels::left_room(), unit * Panels::bottom_room(show_)};
        if (std::exchange(room_, room) == room) return;
        set_room();
        if (untouched_) wish_.apply(painter_.camera());
    }

    void set_room() { painter_.set_panel_room(room_[0], room_[1]); }

    void draw_scene() {
        marks_.clear();
        pointer_.add_marks(marks_, show_, painter_, state_);
        show_.draw(painter_, {}, marks_);
    }

    void set_clip() {
        if (!state_.clip) {
            painter_.set_clip(std::nullopt);
            return;
        }
        // What is nearer to the eye than a plane that faces it.
        const Camera& camera = painter_.camera();
        const Box& box = show_.scene().box;
        double center = 0.0;
        double reach = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            center += camera.back()[axis] * (box.min[axis] + 0.5 * box.size[axis]);
            reach += std::abs(camera.back()[axis]) * 0.5 * box.size[axis];
        }
        painter_.set_clip(ClipPlane{camera.back(), center + reach * (1.0 - 2.0 * *state_.clip)});
    }

    /// Where drawing is slow, what moves is drawn with less care: the run while it plays, and all under the pointer.
    /// What stands still, pictures and movies never are.
    void adapt(double seconds) {
        constexpr int kStill = 2;  // pictures without anything new, of those that panels take to settle
        if (movie_ || (!show_.playing() && quiet_ >= kStill)) {
            painter_.set_oversampling(fine_);
            painter_.set_shadows(true);
            return;
        }
        constexpr double kSlow = 0.05;  // [s] a picture
        constexpr int kSure = 10;
        constexpr int kMost = 5;  // that one picture says
        const int times = static_cast<int>(std::min<double>(kMost, seconds / kSlow));
        slow_ = times > 0 ? slow_ + times : std::max(slow_ - 1, 0);
        hasty_ = hasty_ || slow_ > kSure;
        if (!hasty_) return;
        painter_.set_oversampling(1);
        painter_.set_shadows(false);
    }

    /// What `carom render` draws: in all of the window, without room for panels, rings and arrows.
    void read_picture(Pixels& pixels) {
        Camera& camera = painter_.camera();
        const Camera kept = camera;
        Camera fitted = camera;
        fitted.fit();
        painter_.set_oversampling(fine_);
        painter_.set_shadows(true);
        painter_.set_panel_room(0.0f, 0.0f);
        camera.fit();
        camera.zoom(kept.scale() / fitted.scale());
        camera.set_target(kept.target());
        show_.draw(painter_, {}, {});
        painter_.read(pixels);
        set_room();
        camera = kept;
    }

    /// What is seen, as keys of [look], whose names are also those of options.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> seen() {
        const Camera& camera = painter_.camera();
        Camera fitted = camera;
        fitted.fit();
        std::string from = fmt::format("zoom={:.9g},target={:.9g}:{:.9g}", camera.scale() / fitted.scale(),
                                       camera.target()[0], camera.target()[1]);
        if (show_.scene().dimension() == 3) {
            from = fmt::format("{},azimuth={:.9g},elevation={:.9g},{}:{:.9g}",
                               camera.perspective() ? "perspective" : "orthographic", camera.azimuth(),
                               camera.elevation(), from, camera.target()[2]);
        }
        std::vector<std::pair<std::string, std::string>> all{
            {"camera", from},
            {"color_by", painter_.coloring()},
            {"colormap", color_maps()[static_cast<std::size_t>(painter_.color_map())].name}};
        const ValueRange range = painter_.range();
        if (!painter_.palette().categories && range.high > range.low) {
            all.emplace_back("range", fmt::format("{:.9g}:{:.9g}", range.low, range.high));
        }
        std::string clips;
        for (const ClipPlane& clip : painter_.clips()) {
            clips += fmt::format("{}{:.9g}:{:.9g}:{:.9g}:{:.9g}", clips.empty() ? "" : ",", clip.normal[0],
                                 clip.normal[1], clip.normal[2], clip.offset);
        }
        if (!clips.empty()) all.emplace_back("clip", clips);
        if (!painter_.selection().empty()) all.emplace_back("select", painter_.selection());
        return all;
    }

    /// The picture as a command, which may be pasted, and its look as a file.
    void copy() {
        const auto keys = seen();
        std::string command = "carom render " + source_;
        if (!look_file_.empty()) command += " --look " + shell_quoted(look_file_);
        std::string file = "[look]\n";
        for (const auto& [key, value] : keys) {
            std::string option = key;
            std::ranges::replace(option, '_', '-');
            command += fmt::format(" --{} {}", option, shell_quoted(value));
            file += fmt::format("{} = {}\n", key, toml_quoted(value));
        }
        // What else the look of --look said.
        const auto has = [&](const std::string& name) { return file.find("\n" + name + " = ") != std::string::npos; };
        if (painter_.copies() > 0) file += fmt::format("copies = {}\n", painter_.copies());
        if (painter_.glow()) file += "glow = true\n";
        if (appearance_.style.light) file += "light = true\n";
        if (!appearance_.style.shadows) file += "shadows = false\n";
        for (const std::string& given : given_look_) {
            constexpr std::string_view kTable = "look.";
            const std::string::size_type equals = given.find('=');
            const std::string name = given.substr(kTable.size(), equals - kTable.size());
            if (!has(name)) file += fmt::format("{} = {}\n", name, given.substr(equals + 1));
        }
        if (painter_.copies() > 0) command += fmt::format(" --copies {}", painter_.copies());
        if (painter_.glow()) command += " --glow";
        if (state_.follow && state_.selected) command += fmt::format(" --follow {}", *state_.selected);
        if (!appearance_.style.trails.empty()) {
            command += fmt::format(" --trails {}", fmt::join(appearance_.style.trails, ","));
        }
        command += fmt::format(" --time {:.9g} --size {}x{}{}{}{}{}{} -o {}", show_.time(), painter_.target().width(),
                               painter_.target().height(), appearance_.style.light ? " --light" : "",
                               appearance_.style.shadows ? "" : " --plain", painter_.arrows() ? " --arrows" : "",
                               painter_.contacts() ? " --contacts" : "", state_.labels ? "" : " --bare",
                               shell_quoted(name_ + ".png"));
        glfwSetClipboardString(window_.handle(), command.c_str());
        const std::string path = free_name(name_, ".look.toml");
        try {
            ReplacementFile look(path);
            look.write(file);
            look.commit();
            state_.message = "the command has been copied; its look is in " + path;
        } catch (const SystemError& error) {
            state_.message = error.what();
        }
    }

    void take_picture() {
        const std::string path = free_name(name_, ".png");
        try {
            Pixels pixels;
            read_picture(pixels);
            write_png(pixels, path);
            state_.message = path;
        } catch (const SystemError& error) {
            state_.message = error.what();
        }
    }

    void start_movie() {
        try {
            movie_path_ = free_name(name_, std::string(state_.movie));
            movie_.emplace(movie_path_, false, painter_.target().width(), painter_.target().height(), kMovieRate, true);
            state_.recording = true;
            recorded_ = 0;
            movie_begin_ = Clock::now();
            record();  // whenever it ends, a picture is in it
        } catch (const std::exception& error) {
            movie_.reset();
            state_.message = error.what();
        }
    }

    /// As many pictures as the wall clock asks for, so that a movie is as fast as what one saw. Where the encoder is
    /// what takes the time, more of the same would make it still later: then the movie leaves time out.
    void record() {
        if (!movie_) return;
        constexpr double kMost = 3.0;
        double due = std::chrono::duration<double>(Clock::now() - movie_begin_).count() * kMovieRate;
        const double dropped = std::floor(due - static_cast<double>(recorded_) - kMost);
        if (dropped > 0.0) {
            movie_begin_ +=
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(dropped / kMovieRate));
            due -= dropped;
        }
        try {
            Pixels pixels;
            if (static_cast<double>(recorded_) < due) {
                if (state_.panels || !marks_.lines().empty()) {
                    read_picture(pixels);
                } else {
                    painter_.read(pixels);
                }
            }
            for (; static_cast<double>(recorded_) < due; ++recorded_) movie_->add(pixels);
            state_.message =
                fmt::format("recording {}: {:.1f} s", movie_path_, static_cast<double>(recorded_) / kMovieRate);
        } catch (const SystemError& error) {
            state_.message = error.what();
            state_.recording = false;
            movie_.reset();
        }
    }

    void end_movie() {
        try {
            movie_->finish();
            state_.message = movie_path_;
        } catch (const SystemError& error) {
            state_.message = error.what();
        }
        state_.recording = false;
        movie_.reset();
    }

    /// One thing after another: what lies over the picture goes first. What a live run has come to is lost with it, so
    /// that is asked.
    void escape() {
        if (state_.help) {
            state_.help = false;
        } else if (pointer_.cancel()) {
            state_.message = "no kick";
        } else if (state_.selected) {
            state_.selected.reset();
            state_.follow = false;
        } else if (show_.live() && show_.step_number() > 0 && !state_.leaving) {
            state_.leaving = true;
        } else {
            window_.close();
        }
    }

    /// \param key  as Window::take_keys gives it
    void press(int key) {
        quiet_ = 0;
        state_.message.clear();
        if (state_.leaving && key != GLFW_KEY_ESCAPE) {
            state_.leaving = false;
            if (key == GLFW_KEY_ENTER || key == GLFW_KEY_KP_ENTER) window_.close();
        }
        const std::size_t frames = show_.frame_count();
        switch (key) {
            case GLFW_KEY_ESCAPE:
                escape();
                break;
            case ' ':
                show_.set_playing(!show_.playing());
                break;
            case GLFW_KEY_RIGHT:
                show_.step(1);
                break;
            case GLFW_KEY_LEFT:
                show_.step(-1);
                break;
            case GLFW_KEY_HOME:
                show_.reset();
                break;
            case GLFW_KEY_END:
                if (frames > 0) show_.go_to(frames - 1);
                break;
            case '+':
            case '=':  // which is the same key where + needs shift
                show_.set_speed(1.25 * show_.speed());
                break;
            case '-':
                show_.set_speed(show_.speed() / 1.25);
                break;
            case 'o':
                show_.set_looping(!show_.looping());
                break;
            case 'c': {
                const auto next = (static_cast<std::size_t>(painter_.quantity()) + 1) % quantities().size();
                painter_.set_quantity(quantities()[next].quantity);
                show_.set_quantity(quantities()[next].quantity);
                break;
            }
            case 'l':
                state_.labels = !state_.labels;
                painter_.set_labels(state_.labels);
                break;
            case 'f':
                painter_.camera().fit();
                state_.follow = false;
                break;
            case 'v':
                painter_.set_arrows(!painter_.arrows());
                break;
            case 'p':
                painter_.camera().set_perspective(!painter_.camera().perspective());
                break;
            case 'k':
                if (show_.frame() != nullptr) copy();
                break;
            case 's':
                if (show_.frame() != nullptr) take_picture();
                break;
            case 'z':
                show_.undo_kick();
                break;
            case 'x':
                if (state_.clip) painter_.keep_clip();
                state_.clip.reset();
                break;
            case 'r':
                if (movie_) {
                    end_movie();
                } else {
                    start_movie();
                }
                break;
            case GLFW_KEY_TAB:
                state_.panels = !state_.panels;
                break;
            case '/':
                state_.search = state_.help;
                break;
            case GLFW_KEY_F1:
            case '?':
                state_.help = !state_.help;
                break;
            default:
                break;
        }
    }

    Show& show_;
    std::string name_;
    std::string source_;
    std::string look_file_;
    std::vector<std::string> given_look_;
    Appearance appearance_;  // before the window opens: it may be wrong
    Window window_;
    Painter painter_;
    int fine_;
    CameraWish wish_;
    ViewState state_;
    Panels panels_;
    Pointer pointer_;
    LineList marks_;
    std::optional<MovieWriter> movie_;
    std::string movie_path_;
    std::uint64_t recorded_ = 0;
    Clock::time_point movie_begin_;
    std::uint64_t pictures_ = 0;
    double time_ = 0.0;            // that was shown
    bool untouched_ = true;        // by the pointer: a new size is fitted
    std::array<float, 2> room_{};  // that the panels have to the left and below [pixels]
    RateMeter drawn_;              // pictures
    int quiet_ = 0;                // pictures in a row without anything new
    int slow_ = 0;                 // how many pictures took long, less those that did not
    bool hasty_ = false;           // drawing is slow, at this size
};

}  // namespace

ViewOutcome view(Show& show, const ViewRequest& request, const std::function<int()>& interrupted) {
    return View(show, request).run(interrupted);
}

}  // namespace carom
