// SPDX-License-Identifier: Apache-2.0
// Gives local networks DevnetPlan: who takes part, with what money, and where the homes are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/state/params.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/store/genesis.hpp"
#include "node/roles/miner.hpp"
#include "node/runtime/home.hpp"

namespace assay::node {

/// How a demo miner behaves.
enum class Behaviour : std::uint8_t { kHonest, kLazy, kOneUlp };
std::string_view to_text(Behaviour behaviour);

struct MinerPlan {
    Behaviour behaviour = Behaviour::kHonest;
    base::Amount ask;
    std::vector<PlannedDrill> drills;
    std::vector<Misconduct> conducts;
    bool outward = false;                 ///< accepts no connection
    std::string device = {};              ///< its --device; empty: none
    std::vector<std::string> flags = {};  ///< more of `assay miner run`
};

/// The rules' parameters for a network on one machine: windows of minutes instead of hours, so that a missing
/// party does not hold up a job for long, and time for slow starts while bidding.
contracts::Params devnet_params();

struct DevnetPlan {
    std::filesystem::path home;
    std::uint64_t seed = 0;  ///< of the chain's name only: keys are random
    std::vector<MinerPlan> miners;
    std::uint32_t verifiers = 3;
    /// Misconduct of dishonest verifiers, by their place. The accomplice of those that collude is the first
    /// miner.
    std::map<std::size_t, Misconduct> verifier_misconducts;
    /// More flags of `assay verifier run`, by place.
    std::map<std::size_t, std::vector<std::string>> verifier_flags = {};
    std::vector<Misconduct> buyer_conducts;  ///< of the job's buyer; empty: it is honest
    /// In a network of two verifiers, two owners are enough, whatever is set here.
    contracts::Params params = devnet_params();
    contracts::MarketParams market = {};
    std::uint32_t more_buyers = 0;  ///< in addition to the one that every network has
    std::uint64_t block_interval_ms = 80;
    std::int64_t clock_offset_ms = 0;  ///< how far the ledger node's clock is off
    /// The verifier, by place, whose every other move in disputes the ledger node leaves out.
    std::optional<std::size_t> drops_moves_of = std::nullopt;
    std::string listen = "127.0.0.1:0";  ///< of the ledger node
    std::filesystem::path program;       ///< `assay`; empty: the running program
    bool metered = false;                ///< every server is behind a relay that counts bytes (relay.hpp)
};

/// The demo's miners: four honest ones, a lazy one, and one that is off by one ulp in one number of one
/// operator of one step. They are one more than its job has slots.
DevnetPlan demo_plan(const std::filesystem::path& home, std::uint64_t seed, const program::JobSpec& spec);

/// A participant's folder and keys.
struct Participant {
    std::string name;  ///< "miner-1"
    Home home;
    base::PublicKey owner;
    base::PublicKey node;
};

struct Devnet {
    DevnetPlan plan;
    std::filesystem::path passphrase;  ///< file that opens every key of the network
    ledger::Genesis genesis;
    Participant sequencer;  ///< its home is the network's
    Participant buyer;
    std::vector<Participant> more_buyers;
    std::vector<Participant> miners;
    std::vector<Participant> verifiers;
};

inline constexpr const char* kDevnetMarker = "assay-devnet";

/// Makes the folder, keys and genesis. Empties a folder that an earlier network of ours made. kUsage when the
/// folder holds anything else, kFailure when that network still runs.
base::Outcome<Devnet> create_devnet(const DevnetPlan& plan);

}  // namespace assay::node
