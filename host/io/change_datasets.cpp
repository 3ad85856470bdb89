#include "host/io/change_datasets.hpp"

#include <algorithm>
#include <array>

namespace carom {

namespace {

constexpr std::size_t kBytes = 256;  // of a text, its closing zero included
constexpr std::size_t kEntriesPerChunk = 16;
const std::string kGroup = "parameters/changes";

h5::Handle text_type() {
    h5::Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "create a type");
    h5::check(H5Tset_size(type, kBytes), "create a type");
    h5::check(H5Tset_cset(type, H5T_CSET_UTF8), "create a type");
    return type;
}

GrowingDataset make(hid_t file, const std::string& name, hid_t type) {
    return {h5::open_group(file, kGroup), name, type, {.entry = {}, .entries_per_chunk = kEntriesPerChunk}};
}

hid_t make_group(hid_t file) {
    h5::create_group(file, kGroup);
    return file;
}

/// As many bytes as fit, whole characters.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 250;
    std::size_t end = std::min(text.size(), kMost);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

}  // namespace

ChangeDatasets::ChangeDatasets(hid_t file)
    : time_(make(make_group(file), "time", H5T_IEEE_F64LE)),
      step_(make(file, "step", H5T_STD_I64LE)),
      what_(make(file, "what", text_type())) {}

void ChangeDatasets::append(const RunChange& change) {
    const auto step = static_cast<std::int64_t>(change.step);
    std::array<char, kBytes> text{};
    std::ranges::copy(shortened(change.what), text.begin());
    time_.extend(count_ + 1);
    step_.extend(count_ + 1);
    what_.extend(count_ + 1);
    time_.write(count_, 1, H5T_NATIVE_DOUBLE, &change.time);
    step_.write(count_, 1, H5T_NATIVE_INT64, &step);
    what_.write(count_, 1, text_type(), text.data());
    ++count_;
}

std::vector<RunChange> read_changes(hid_t file) {
    std::vector<RunChange> changes;
    if (!h5::exists(file, kGroup)) return changes;
    const auto times = h5::read_array<double>(file, kGroup + "/time");
    const auto steps = h5::read_array<std::uint64_t>(file, kGroup + "/step");
    const auto texts = h5::read_strings(file, kGroup + "/what");
    for (std::size_t k = 0; k < std::min({times.size(), steps.size(), texts.size()}); ++k) {
        changes.push_back({times[k], steps[k], texts[k]});
    }
    return changes;
}

}  // namespace carom
