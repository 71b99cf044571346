// SPDX-License-Identifier: Apache-2.0
#include "node/views/json.hpp"

namespace assay::node {

std::string json_text(const std::string& schema, const Json& body, JsonLayout layout) {
    Json object;
    object["schema"] = schema;
    for (const auto& [key, value] : body.items()) object[key] = value;
    return object.dump(layout == JsonLayout::kIndented ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::node
