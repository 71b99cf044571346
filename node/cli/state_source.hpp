// SPDX-License-Identifier: Apache-2.0
// Gives commands that only read the ledger its state, from a running node or from the files of a home.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/dispute_audit.hpp"
#include "node/cli/context.hpp"
#include "node/views/dispute_view.hpp"
#include "node/views/node_state.hpp"

namespace assay::node {

enum class StateFrom : std::uint8_t {
    kNode,   ///< trusts the node
    kFiles,  ///< executes HOME/ledger again; trusts nobody
};

/// kNode: every read is a question to the node, and throws StateReadError when it does not answer.
/// kFiles: kVerification when a block does not check, kNotFound when there is no ledger.
base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from);

/// Runs reads that follow an act which is done. False, with a warning, when the node does not answer them:
/// the act must not look as if it had failed, or it would be done a second time.
bool read_after_act(const Context& context, const std::function<base::Outcome<void>()>& read);

/// A state, and the blocks that it came from.
struct ChainSource {
    std::unique_ptr<contracts::StateView> state;  ///< for kFiles with its evidence (evidence.hpp)
    std::uint64_t height = 0;                     ///< of the state
    /// Makes a new reader of blocks, from any height on. kUnreachable, kVerification.
    std::function<base::Outcome<ledger::BlockReader>()> blocks;
};

/// Returns a function that gives the UTC day on which the block of a height was made: "2026-11-26". Heights
/// may come in any order; each block is read once. kUnreachable, kVerification. `chain` must outlive it.
std::function<base::Outcome<std::string>(std::uint64_t height)> days_of(const ChainSource& chain);

/// As open_state.
base::Outcome<ChainSource> open_chain(const Context& context, StateFrom from);

/// Median time between neighbouring blocks of the last 20, in milliseconds. Nothing when there are fewer than
/// two blocks, or they cannot be read.
std::optional<double> block_pace_ms(const ChainSource& chain);

/// For a game that has ended: the transaction that ended it and, if `times` is set and the evidence is at
/// hand, how long the referee computes on this machine. A field is empty when the blocks do not tell it.
DisputeSources dispute_sources(const ChainSource& chain, const base::Hash256& job,
                               const contracts::Game& game, bool times);

/// The job that `text` names: by its id, by a beginning of it that fits only one job, or by its name if only
/// one job has it. kNotFound when none fits, kUsage when several fit.
base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text);

/// The miner that `text` names: a public key in hexadecimal, or a beginning of it that fits only one
/// registered miner.
base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text);
/// The same for verifiers.
base::Outcome<base::PublicKey> find_verifier(const contracts::StateView& state, const std::string& text);
/// The same for miners and verifiers.
base::Outcome<base::PublicKey> find_party(const contracts::StateView& state, const std::string& text);

}  // namespace assay::node
