#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carom {

/// A file of results of `carom bench`, which may be anybody's, as those read it who draw or compare it: it has `rows`,
/// in each of which rates, counts of balls and of threads, dimensions and packing fractions are some that a
/// measurement can have.
/// \param file  as in messages
/// \throws InputError  it is none, or of another version; or a row has other numbers, which is named
nlohmann::json bench_results(const std::string& text, const std::string& file);

}  // namespace carom
