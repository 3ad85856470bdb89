#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/io/ball_files.hpp"
#include "host/scene/formula.hpp"

namespace carom {

/// The shortest decimal that reads back to the same number, as a person writes it: 0.35, 7, 1e-06.
std::string decimal_text(double value);

/// from, from + step, ..., to: both ends are in. Each value is the number nearest to the exact decimal, as many digits
/// after the point as `from` and `step` have, so that 0.35 + 3 * 0.025 is 0.425 and not 0.42499999999999999.
/// \throws InputError  the step does not lead from one end to the other; the words only, without a place
std::vector<double> stepped_values(double from, double to, double step);

/// One value of an axis, in the forms that are needed of it.
struct AxisValue {
    std::string text;                                          ///< in tables and messages: 0.35
    std::string toml;                                          ///< as the scene file would hold it
    double number = std::numeric_limits<double>::quiet_NaN();  ///< for formulas
};

/// The values of an axis: a list, or a range, of which there may be millions and only the numbers are kept.
class AxisValues {
public:
    /// \param place  "file:line:column"
    void add(AxisValue value, std::string place) {
        listed_.push_back(std::move(value));
        places_.push_back(std::move(place));
    }
    /// \pre none was added
    void set_range(std::vector<double> numbers, std::string place) {
        range_ = std::move(numbers);
        places_ = {std::move(place)};
    }

    [[nodiscard]] std::size_t size() const { return listed_.size() + range_.size(); }
    [[nodiscard]] AxisValue operator[](std::size_t k) const;
    [[nodiscard]] const std::string& place(std::size_t k) const { return places_[range_.empty() ? k : 0]; }

private:
    std::vector<AxisValue> listed_;
    std::vector<double> range_;
    std::vector<std::string> places_;  // one for all of a range
};

/// One [[axis]].
struct Axis {
    std::string name;               ///< of its column
    std::vector<std::string> keys;  ///< of the scene; none for an axis that only formulas use
    AxisValues values;
    std::string place;  ///< of the keys
};

/// One [[set]]: keys of the scene that are the same in all runs, or follow from the axes.
struct Setting {
    std::vector<std::string> keys;
    std::string toml;  ///< the value, if it is fixed
    std::optional<Formula> formula;
    std::string formula_text;
    std::string place;  ///< of the value or the formula
};

/// A name of `record`.
struct RecordName {
    std::string name;
    std::string place;  ///< "file:line:column: sweep.record[0]"
};

/// "KEY=VALUE" for one run, and where that comes from in the sweep file.
struct Assignment {
    std::string text;
    std::string key;
    const std::string* key_place = nullptr;  ///< null: the command line
    const std::string* value_place = nullptr;
};

/// A sweep file: the runs are all combinations of the axes' values, the last axis fastest. A row of the table is one
/// run, or with `averaged` all the runs that differ only in that axis.
struct Sweep {
    std::string path;                                                         ///< of the sweep file
    std::string scene;                                                        ///< path of the scene file
    std::string scene_text;                                                   ///< as it was when the sweep was read
    std::shared_ptr<SharedInputs> inputs = std::make_shared<SharedInputs>();  ///< that its runs load
    std::vector<std::string> overrides;  ///< of the command line: "table.key=VALUE"
    std::vector<Setting> settings;
    std::vector<Axis> axes;
    std::vector<RecordName> record;
    std::optional<std::size_t> averaged;  ///< index of the axis that is averaged over
    std::size_t shard = 0;                ///< this sweep takes the rows `shard`, `shard + shards`, ...
    std::size_t shards = 1;

    /// Rows of the whole table, and of this shard.
    [[nodiscard]] std::uint64_t all_rows() const;
    [[nodiscard]] std::uint64_t rows() const;
    [[nodiscard]] std::uint64_t runs_per_row() const;
    [[nodiscard]] std::uint64_t runs() const { return rows() * runs_per_row(); }

    /// The number, in the whole table, of this shard's k-th row.
    [[nodiscard]] std::uint64_t row_number(std::uint64_t row) const { return shard + row * shards; }
    /// For each axis the index of its value in a run; runs of a row follow each other.
    /// \param run  of this shard, from 0
    [[nodiscard]] std::vector<std::size_t> values_of(std::uint64_t run) const;
    /// What sets a run apart: "position=0.35, angle=2".
    [[nodiscard]] std::string label_of(std::uint64_t run) const;
    /// All that the run sets in the scene; later ones win.
    [[nodiscard]] std::vector<Assignment> assignments(std::uint64_t run) const;
    /// The columns of the axes that have one.
    [[nodiscard]] std::vector<std::string> axis_columns() const;
};

/// The name that formulas know an axis or column by: without a unit in brackets at its end.
std::string name_without_unit(const std::string& name);

/// The file of a sweep: the path itself where it exists, else NAME.sweep.toml among the installed scenes.
/// \throws SystemError  there is none
std::string find_sweep(const std::string& path_or_name);

/// Reads and validates a sweep file; what it says about the scene is looked at by check_sweep.
/// \param overrides  "table.key=VALUE", of the command line
/// \throws InputError   file:line:column: key: what is wrong and what is allowed
/// \throws SystemError  there is no such file, or it cannot be read
Sweep load_sweep(const std::string& path_or_name, const std::vector<std::string>& overrides = {});

/// The same for a text; `path` stands for the file, and the scene is looked for in its folder.
Sweep parse_sweep(std::string_view text, const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace carom
