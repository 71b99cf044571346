// SPDX-License-Identifier: Apache-2.0
#include "node/seams/outward.hpp"

namespace assay::node {
namespace {
constexpr std::string_view kSuffix = ".outward.invalid:1";
}  // namespace

Endpoint outward_endpoint(const base::PublicKey& node) { return node.hex() + std::string(kSuffix); }

std::optional<base::PublicKey> outward_node(std::string_view endpoint) {
    if (!endpoint.ends_with(kSuffix)) return std::nullopt;
    endpoint.remove_suffix(kSuffix.size());
    const auto node = base::parse_public_key(endpoint);
    // One spelling alone names a key.
    if (!node || node->hex() != endpoint) return std::nullopt;
    return node;
}

}  // namespace assay::node
