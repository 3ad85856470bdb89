#include "host/run/averaged_number.hpp"

#include <limits>

namespace carom {

std::vector<std::string> number_names(const AverageInfo& average) {
    if (!average.x.label.empty()) return {};
    if (average.components.empty()) return {average.name};
    std::vector<std::string> names;
    for (const std::string& component : average.components) names.push_back(average.name + "." + component);
    return names;
}

std::vector<AveragedNumber> averaged_numbers(std::span<const AverageInfo> infos, std::span<const AverageTable> tables) {
    std::vector<AveragedNumber> numbers;
    for (std::size_t k = 0; k < infos.size(); ++k) {
        const std::vector<std::string> names = number_names(infos[k]);
        const bool telling = tables[k].samples >= kLeastSamplesForError;
        for (std::size_t component = 0; component < names.size(); ++component) {
            numbers.push_back(
                {.name = names[component],
                 .kind = infos[k].kind,
                 .unit = infos[k].unit,
                 .mean = tables[k].values[component],
                 .error = telling ? tables[k].errors[component] : std::numeric_limits<double>::quiet_NaN(),
                 .samples = tables[k].samples});
        }
    }
    return numbers;
}

}  // namespace carom
