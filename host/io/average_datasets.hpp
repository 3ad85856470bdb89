#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host/io/growing_dataset.hpp"
#include "host/observables/averager.hpp"

namespace carom {

/// What an entry of an average takes on disk [bytes].
double average_bytes(const AverageInfo& info);

/// The elements of /observables that are averages over the run. Each has an entry per frame, the average up to then:
/// H5MD wants a time with each value, MDAnalysis an entry for each frame, and of a run that is killed the averages of
/// its last frame are there.
class AverageDatasets {
public:
    AverageDatasets(hid_t file, const std::vector<AverageInfo>& infos);

    /// Makes all of them frame + 1 long, and writes that entry.
    void append(std::size_t frame, double time, std::uint64_t step, const std::vector<AverageTable>& tables);

private:
    struct Element {
        AverageInfo info;
        GrowingDataset value, error, samples;
        std::optional<GrowingDataset> x, y;
    };
    std::vector<Element> elements_;
    std::optional<GrowingDataset> step_, time_;
};

/// Writes the names of the averages, which tell them from the other observables.
void write_average_order(hid_t parameters, const std::vector<AverageInfo>& infos);
/// None in a file from before there were any. \throws h5::Error  it is not there, or does not make sense
std::vector<AverageInfo> read_average_infos(hid_t file);
/// \throws h5::Error  there is no such frame
AverageTable read_average(hid_t file, const AverageInfo& info, std::size_t frame);

}  // namespace carom
