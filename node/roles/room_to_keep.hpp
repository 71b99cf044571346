// SPDX-License-Identifier: Apache-2.0
// Gives miner and verifier the question whether their store holds what a job can make them keep until its
// last window closes, before they ask or enlist: whoever cannot keep it is silent in a game, and loses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "contracts/rules/tables.hpp"
#include "node/seams/blob_files.hpp"

namespace assay::node {

/// The name of the refusal, in the log.
inline constexpr std::string_view kNoRoomToKeep = "no_room_to_keep";

/// The most bytes that a job can make the node keep.
using MostKept = std::function<std::uint64_t(const contracts::Job& job)>;

/// Nothing: the store holds it. Else why not, in words: what is pinned, or what the other jobs that the node
/// works for, or asked for, can still make it keep, whichever is more, leaves too little.
std::optional<std::string> no_room_to_keep(const contracts::StateView& state, const contracts::Job& job,
                                           const base::PublicKey& node, const StoreRoom& room,
                                           const MostKept& most);

}  // namespace assay::node
