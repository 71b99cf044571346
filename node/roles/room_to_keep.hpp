// SPDX-License-Identifier: Apache-2.0
// Gives miner and verifier a check before they ask or enlist: whether their store has room for what a job can
// make them keep until its last window closes. A node that cannot keep it would be silent in a game, and
// lose.
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

/// Nothing when the store has room; else a text that says why not. Counts as taken what is pinned, or what
/// the node's other jobs (those that it works for or asked for) can still make it keep, whichever is more.
std::optional<std::string> no_room_to_keep(const contracts::StateView& state, const contracts::Job& job,
                                           const base::PublicKey& node, const StoreRoom& room,
                                           const MostKept& most);

}  // namespace assay::node
