// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/endpoint.hpp"

#include <algorithm>
#include <cstdint>

#include "contracts/rules/state/limits.hpp"

namespace assay::contracts {

bool is_endpoint(std::string_view endpoint) {
    const std::size_t colon = endpoint.rfind(':');
    if (endpoint.size() > kMaxEndpointBytes || colon == std::string_view::npos || colon == 0) return false;
    const std::string_view host = endpoint.substr(0, colon);
    const std::string_view port = endpoint.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.front() == '0') return false;
    std::uint32_t number = 0;
    for (const char digit : port) {
        if (digit < '0' || digit > '9') return false;
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
    return number <= 65535 && std::all_of(host.begin(), host.end(), printable);
}

}  // namespace assay::contracts
