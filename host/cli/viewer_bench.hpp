#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "host/bench/request.hpp"

namespace carom {

/// What `carom bench --viewer` found.
struct ViewerBench {
    nlohmann::ordered_json json;
    std::string text;  ///< as a table
};

/// \param request  dimensions, sizes, threads and quickness of it
/// \param backend  "auto" | "cpu" | "cuda"
/// \throws SystemError  this build draws no pictures; no EGL with OpenGL 4.5; no CUDA device where one is asked for
ViewerBench run_viewer_bench(const BenchRequest& request, const std::string& backend,
                             const std::function<void(const std::string&)>& tell,
                             const std::function<int()>& interrupted);

}  // namespace carom
