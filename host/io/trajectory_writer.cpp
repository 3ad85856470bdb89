#include "host/io/trajectory_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include "host/io/ordered_file.hpp"
#include "host/io/trajectory_layout.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// Rows wait at most about this long for the next frame.
constexpr std::chrono::seconds kRowInterval{1};

/// Of the file's structure that HDF5 keeps in memory, counted as it is on disk: the index of chunks grows with the
/// rows, and a node of it is seven times as large in memory. The last nodes of some fifty datasets have room; others
/// are read again, which is little beside writing them.
constexpr std::size_t kStructureBytes = 1 << 17;

void bound_memory(hid_t access) {
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    h5::check(H5Pget_mdc_config(access, &config), "read properties");
    config.set_initial_size = true;
    config.initial_size = config.min_size = config.max_size = kStructureBytes;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    h5::check(H5Pset_mdc_config(access, &config), "set a cache");
}

h5::Handle create_file(OrderedFile& file) {
    const h5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "create properties");
    use_ordered_file(access, file);
    bound_memory(access);
    return {H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create a file"};
}

}  // namespace

class TrajectoryWriter::Impl {
public:
    Impl(const std::string& path, const TrajectoryHeader& header, bool force, Appears appears)
        : count_(header.ball_count()), dimension_(header.dimension()), appears_(appears), file_(path, force) {
        if (count_ > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw InputError(
                fmt::format("{}: {} balls are more than the 2147483647 that a file can number", path, count_));
        }
        try {
            h5::require_memory(std::min(count_, balls_per_chunk(count_)) * sizeof(std::uint32_t));
            hdf5_ = create_file(file_);
            const h5::Handle particles = h5::create_group(h5::create_group(hdf5_, "particles"), "all");
            write_trajectory_header(hdf5_, header);
            frame_datasets_.emplace(particles, header);
            row_datasets_.emplace(hdf5_, header);
            average_datasets_.emplace(hdf5_, header);
            if (header.changeable) change_datasets_.emplace(hdf5_);
            commit();
            // A file that opens, whenever the process ends; an older one is worth more until there is a frame.
            if (!file_.has_older()) appear();
        } catch (const h5::Error& error) {
            abandon();
            throw SystemError(fmt::format("{}: {}; {}", path, cause(error), what_is_there()));
        }
    }

    ~Impl() {
        try {
            if (hdf5_ && failure_.empty()) flush();
        } catch (const std::exception&) {
            // Whoever wants to know calls flush or close.
        }
        close_hdf5();
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void append(const Frame& frame) {
        if (frame.first + frame.size() + frame.rest != count_ || frame.dimension != dimension_) {
            throw std::invalid_argument("a frame has other balls than the header");
        }
        if (frame.first != part_of_frame_) throw std::invalid_argument("a part of a frame is missing");
        part_of_frame_ = 0;
        attempt([&] {
            if (frame.first == 0) {
                row_datasets_->fill_up(frames_ + 1, frame.time, frame.step);
                row_datasets_->write();
                if (!tables_.empty()) average_datasets_->append(frames_, frame.time, frame.step, tables_);
            }
            frame_datasets_->append(frames_, frame);
            if (frame.rest > 0) {
                part_of_frame_ = frame.first + frame.size();
                return;
            }
            commit();
            appear();
            ++frames_;
        });
    }

    void append_row(const ObservableRow& row) {
        attempt([&] { row_datasets_->collect(row); });
        if (std::chrono::steady_clock::now() - last_commit_ >= kRowInterval) flush();
    }

    void append_averages(const std::vector<AverageTable>& tables) { tables_ = tables; }

    void append_change(const RunChange& change) {
        attempt([&] {
            change_datasets_.value().append(change);
            commit();
        });
    }

    void flush() {
        attempt([&] {
            if (row_datasets_->given() == rows_) return;
            row_datasets_->write();
            commit();
        });
    }

    void close(const std::string& summary) {
        flush();
        attempt([&] {
            h5::rewrite_string(h5::open_group(hdf5_, "parameters"), "summary", summary);
            frame_datasets_.reset();
            row_datasets_.reset();
            average_datasets_.reset();
            change_datasets_.reset();
            h5::check(H5Fflush(hdf5_, H5F_SCOPE_LOCAL), "flush");
            hdf5_.reset();
            if (!file_.failure().empty() || !file_.sync()) throw h5::Error("cannot close");
            require_in_place();
        });
    }

    [[nodiscard]] const std::string& path() const { return file_.path(); }
    [[nodiscard]] std::size_t frames() const { return frames_; }
    [[nodiscard]] std::size_t rows() const { return file_.in_place() ? rows_ : 0; }

private:
    template <class Action>
    void attempt(const Action& action) {
        if (!failure_.empty()) throw SystemError(failure_);
        if (!hdf5_) throw std::logic_error("the trajectory is closed");
        try {
            // What there is of a frame must not be taken for all of it.
            if (part_of_frame_ > 0) throw h5::Error("the rest of a frame has not come");
            h5::require_memory(std::min(count_, balls_per_chunk(count_)) * sizeof(double));
            action();
        } catch (const h5::Error& error) {
            const std::string why = cause(error);
            failure_ = fmt::format("{}: {}; {}", path(), why, what_is_there());
            abandon();
            throw SystemError(failure_);
        }
    }

    /// From the first frame on there is something that is worth an older file.
    void appear() {
        if (appears_ == Appears::kSoon) require_in_place();
    }

    void require_in_place() {
        if (!file_.take_place()) throw h5::Error("cannot rename into place");
    }

    [[nodiscard]] std::string what_is_there() const {
        if (file_.in_place()) {
            return fmt::format("{} frames and {} rows {} in it", frames_, rows_,
                               file_.is_there() ? "are safely" : "were");
        }
        return file_.has_older() ? "nothing was written, and the older file of that name is untouched"
                                 : "nothing was written";
    }

    void commit() {
        h5::check(H5Fflush(hdf5_, H5F_SCOPE_LOCAL), "flush");
        rows_ = row_datasets_->given();
        last_commit_ = std::chrono::steady_clock::now();
    }

    [[nodiscard]] std::string cause(const h5::Error& error) const {
        return file_.failure().empty() ? error.what() : file_.failure();
    }

    /// The file stays as of the last commit; all that HDF5 still wants to write is dropped.
    void abandon() {
        file_.abandon();
        close_hdf5();
    }

    void close_hdf5() {
        frame_datasets_.reset();
        row_datasets_.reset();
        average_datasets_.reset();
        change_datasets_.reset();
        hdf5_.reset();
    }

    const std::size_t count_;
    const int dimension_;
    const Appears appears_;
    OrderedFile file_;  // outlives the HDF5 file that writes through it
    h5::Handle hdf5_;
    std::optional<FrameDatasets> frame_datasets_;
    std::optional<RowDatasets> row_datasets_;
    std::optional<AverageDatasets> average_datasets_;
    std::optional<ChangeDatasets> change_datasets_;
    std::vector<AverageTable> tables_;  // of the next frame
    std::size_t frames_ = 0;
    std::size_t part_of_frame_ = 0;  // its balls that have come; 0: none is under way
    std::size_t rows_ = 0;
    std::chrono::steady_clock::time_point last_commit_ = std::chrono::steady_clock::now();
    std::string failure_;  // of an earlier call
};

TrajectoryWriter::TrajectoryWriter(const std::string& path, const TrajectoryHeader& header, bool force, Appears appears)
    : impl_((Hdf5Turn(), std::make_unique<Impl>(path, header, force, appears))) {}
TrajectoryWriter::~TrajectoryWriter() {
    const Hdf5Turn turn;
    impl_.reset();
}
// Frames and rows may come from another thread than the one that opened the file.
void TrajectoryWriter::append(const Frame& frame) {
    const Hdf5Turn turn;
    impl_->append(frame);
}
void TrajectoryWriter::append_row(const ObservableRow& row) {
    const Hdf5Turn turn;
    impl_->append_row(row);
}
void TrajectoryWriter::append_averages(const std::vector<AverageTable>& tables) { impl_->append_averages(tables); }
void TrajectoryWriter::append_change(const RunChange& change) {
    const Hdf5Turn turn;
    impl_->append_change(change);
}
void TrajectoryWriter::flush() {
    const Hdf5Turn turn;
    impl_->flush();
}
void TrajectoryWriter::close(const std::string& summary) {
    const Hdf5Turn turn;
    impl_->close(summary);
}
const std::string& TrajectoryWriter::path() const { return impl_->path(); }
std::size_t TrajectoryWriter::frames() const { return impl_->frames(); }
std::size_t TrajectoryWriter::rows() const { return impl_->rows(); }

}  // namespace carom
