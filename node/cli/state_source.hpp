// SPDX-License-Identifier: Apache-2.0
// Gives commands that only read the ledger's state: from a running node, or from the files of a home.
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
    kNode,   ///< believes what the node says
    kFiles,  ///< executes HOME/ledger again; believes nothing
};

/// kNode: every read is a question to the node, and throws StateReadError when it does not answer.
/// kFiles: kVerification when a block does not check, kNotFound when there is no ledger.
base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from);

/// A state, and the blocks that it came from.
struct ChainSource {
    std::unique_ptr<contracts::StateView> state;  ///< of kFiles with its evidence (evidence.hpp)
    std::uint64_t height = 0;                     ///< of the state
    /// A reader of blocks, from any height on; each call gives a new one. kUnreachable, kVerification.
    std::function<base::Outcome<ledger::BlockReader>()> blocks;
};

/// Says of a height on which day, UTC, its block was made: "2026-11-26". For heights in any order; each is
/// read once. kUnreachable, kVerification. `chain` outlives it.
std::function<base::Outcome<std::string>(std::uint64_t height)> days_of(const ChainSource& chain);

/// As open_state.
base::Outcome<ChainSource> open_chain(const Context& context, StateFrom from);

/// Median time between neighbouring blocks of the last 20, in milliseconds. Nothing where there are no two
/// blocks, or they cannot be read.
std::optional<double> block_pace_ms(const ChainSource& chain);

/// Of a game that has ended: the transaction that ended it and, where `times` and the evidence is at hand,
/// how long the referee computes on this machine. Nothing in a field where the blocks do not say it.
DisputeSources dispute_sources(const ChainSource& chain, const base::Hash256& job,
                               const contracts::Game& game, bool times);

/// The job that `text` names: its id, a beginning of it that fits one job only, or its name when only one job
/// has it. kNotFound, kUsage when several fit.
base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text);

/// A public key in hexadecimal, or a beginning of it that fits one registered miner only.
base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text);
/// The same of miners and verifiers.
base::Outcome<base::PublicKey> find_party(const contracts::StateView& state, const std::string& text);

}  // namespace assay::node
