// SPDX-License-Identifier: Apache-2.0
// Gives roles the files of slot states among their blobs: a head, and an array for each name in it
// (contracts/program/state_head.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "contracts/program/state_head.hpp"
#include "node/seams/blob_files.hpp"

namespace assay::node {

/// A state's files in the order in which the worker takes them: the head, then the arrays in the order of the
/// strategy's row. A blob that is no head of the job's states comes alone.
using StateFiles = std::vector<SharedDescriptor>;

/// Which arrays of a state are wanted, and how large its files are.
struct StateTerms {
    std::uint64_t head_bytes = 0;
    std::uint64_t array_bytes = 0;
    std::span<const program::StateArray> arrays;  ///< all that the state has
    std::span<const program::StateArray> wanted;
    bool aged = false;
    Traffic traffic = Traffic::kAudit;  ///< what its bytes count as
    base::PublicKey owed_by = {};       ///< as FetchTerms say
    std::optional<BlobShare> share = {};
    Pin pin = Pin::kPinned;

    /// The terms for one of its files, of `bytes` bytes.
    [[nodiscard]] FetchTerms file_terms(std::uint64_t bytes) const {
        return {.size = bytes, .pin = pin, .traffic = traffic, .owed_by = owed_by, .share = share};
    }
};
/// Terms for these arrays of a slot's state.
StateTerms slot_terms(const program::JobSpec& spec, std::span<const program::StateArray> wanted,
                      Traffic traffic);

/// The blobs of the wanted arrays that the head in blob `id` names. Empty when it is not here, or is no head
/// of such a state.
std::vector<BlobId> named_arrays(BlobFiles& files, const BlobId& id, const StateTerms& terms);

/// The arrays that the blob names, if it is here and is a head.
std::vector<BlobId> arrays_of(BlobFiles& files, const BlobId& id);
/// Adds the arrays of every head among `ids`.
void add_arrays(BlobFiles& files, std::set<BlobId>& ids);
/// Drops these blobs, and the arrays that heads among them name. Equal arrays of two states are one blob, so
/// blobs in `kept`, and those that kept heads name, stay.
void drop_states(BlobFiles& files, std::set<BlobId> dropped, std::set<BlobId> kept);
/// Whether the blob is here, and for a head its arrays too.
bool has_whole(BlobFiles& files, const BlobId& id);
/// The head in blob `id` and the wanted arrays that it names; empty when one of them is not here, or the blob
/// is no head of such a state.
StateFiles open_state(BlobFiles& files, const BlobId& id, const StateTerms& terms);
/// All files of a state; empty when one of them is not here.
StateFiles open_whole(BlobFiles& files, const BlobId& id);

}  // namespace assay::node
