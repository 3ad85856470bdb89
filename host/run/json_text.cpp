#include "host/run/json_text.hpp"

#include <nlohmann/json.hpp>

namespace carom {

std::string json_text(const nlohmann::ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace carom
