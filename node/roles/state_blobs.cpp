// SPDX-License-Identifier: Apache-2.0
#include "node/roles/state_blobs.hpp"

#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::node {

namespace {

/// Of a blob that is here, is small enough to be a head, and is one.
std::optional<program::StateHead> head_in(BlobFiles& files, const BlobId& id) {
    if (!files.has(id)) return std::nullopt;
    const auto bytes = files.read(id, program::kMaxHeadBytes);
    if (!bytes.ok()) return std::nullopt;
    auto head = program::decode_state_head(*bytes);
    if (!head.ok()) return std::nullopt;
    return std::move(head).value();
}

StateFiles open_all(BlobFiles& files, const BlobId& head, std::vector<BlobId> arrays) {
    arrays.insert(arrays.begin(), head);
    StateFiles all;
    for (const BlobId& one : arrays) {
        auto file = files.open(one);
        if (!file.ok()) return {};
        all.push_back(std::move(file).value());
    }
    return all;
}

}  // namespace

StateTerms slot_terms(const program::JobSpec& spec, std::span<const program::StateArray> wanted,
                      Traffic traffic) {
    const program::FileSizes sizes = program::file_sizes(spec);
    return {.head_bytes = sizes.slot_head,
            .array_bytes = sizes.array,
            .arrays = program::strategy_of(spec).lane_arrays,
            .wanted = wanted,
            .aged = program::carries_state(spec),
            .traffic = traffic};
}

std::vector<BlobId> named_arrays(BlobFiles& files, const BlobId& id, const StateTerms& terms) {
    const auto head = head_in(files, id);
    std::vector<BlobId> blobs;
    if (!head || !program::fits(*head, terms.arrays, terms.aged)) return blobs;
    for (const program::StatePart& part : head->parts) {
        const bool wanted =
            std::find(terms.wanted.begin(), terms.wanted.end(), part.array) != terms.wanted.end();
        if (wanted) blobs.push_back(part.blob);
    }
    return blobs;
}

std::vector<BlobId> arrays_of(BlobFiles& files, const BlobId& id) {
    const auto head = head_in(files, id);
    std::vector<BlobId> blobs;
    if (!head) return blobs;
    for (const program::StatePart& part : head->parts) blobs.push_back(part.blob);
    return blobs;
}

void add_arrays(BlobFiles& files, std::set<BlobId>& ids) {
    std::set<BlobId> arrays;
    for (const BlobId& id : ids) {
        for (const BlobId& array : arrays_of(files, id)) arrays.insert(array);
    }
    ids.merge(arrays);
}

void drop_states(BlobFiles& files, std::set<BlobId> dropped, std::set<BlobId> kept) {
    if (dropped.empty()) return;
    add_arrays(files, dropped);
    add_arrays(files, kept);
    for (const BlobId& blob : dropped) {
        if (!kept.contains(blob)) files.drop(blob);
    }
}

bool has_whole(BlobFiles& files, const BlobId& id) {
    const std::vector<BlobId> arrays = arrays_of(files, id);
    return files.has(id) &&
           std::all_of(arrays.begin(), arrays.end(), [&](const BlobId& array) { return files.has(array); });
}

StateFiles open_state(BlobFiles& files, const BlobId& id, const StateTerms& terms) {
    const std::vector<BlobId> arrays = named_arrays(files, id, terms);
    return arrays.empty() ? StateFiles{} : open_all(files, id, arrays);
}

StateFiles open_whole(BlobFiles& files, const BlobId& id) {
    return open_all(files, id, arrays_of(files, id));
}

}  // namespace assay::node
