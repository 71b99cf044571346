// SPDX-License-Identifier: Apache-2.0
// Gives both ends of a blob service the description of a blob as its message. Internal to node/rpc.
#pragma once

#include "assay.pb.h"
#include "node/rpc/wire.hpp"
#include "node/seams/blob_service.hpp"

namespace assay::node {

inline void write_description(const BlobDescription& description, v1::DescribeResponse& out) {
    out.set_size(description.size);
    for (const base::Hash256& leaf : description.leaves) out.mutable_leaves()->append(wire_text(leaf.view()));
    std::string& bits = *out.mutable_held();
    bits.assign((description.held.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < description.held.size(); ++i) {
        const unsigned before = static_cast<unsigned char>(bits[i / 8]);
        if (description.held[i]) bits[i / 8] = static_cast<char>(before | (1U << (i % 8)));
    }
}

/// Reads the bits of `chunks` chunks. Nothing when `bits` has another length, or a bit after the end is set.
inline std::optional<std::vector<bool>> read_held(const std::string& bits, std::size_t chunks) {
    std::vector<bool> held;
    if (bits.empty()) return held;
    if (bits.size() != (chunks + 7) / 8) return std::nullopt;
    for (std::size_t i = 0; i < 8 * bits.size(); ++i) {
        const unsigned byte = static_cast<unsigned char>(bits[i / 8]);
        const bool set = ((byte >> (i % 8)) & 1U) != 0;
        if (i >= chunks && set) return std::nullopt;
        if (i < chunks) held.push_back(set);
    }
    return held;
}

}  // namespace assay::node
