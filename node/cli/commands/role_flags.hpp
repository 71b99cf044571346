// SPDX-License-Identifier: Apache-2.0
// Gives commands that run as a participant the flags that they share: miner run, verifier run, job submit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/cli/context.hpp"
#include "node/processes/role_process.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

struct RoleFlags {
    PassphraseFlags passphrase;
    std::string listen = "127.0.0.1:0";
    std::string announce;
    std::string traffic;
    std::string genesis;
    std::string owner_key;  ///< file; empty: the home's
    std::string log_level = "info";
    unsigned threads = 0;
    std::string memory;
    std::string device_memory;
    std::string device;
    std::string store_quota = "64GiB";
};

/// What a worker may take of the host's memory where neither --memory nor ASSAY_MEMORY says it.
enum class MemoryDefault : std::uint8_t {
    kUnlimited,
    kShareOfMachine,  ///< default_role_memory(): for roles that compute for pay
};

/// Adds the flags of a process that serves others: passphrase, --listen, --genesis, --log-level. Here and
/// below, `flags` must live as long as the app.
void add_service_flags(CLI::App& verb, RoleFlags& flags);
/// Adds the flags of a process with a worker: --threads, memory, --device. `memory` is for the help's text.
void add_compute_flags(CLI::App& verb, RoleFlags& flags, MemoryDefault memory);
/// Adds --genesis.
void add_genesis_flag(CLI::App& verb, RoleFlags& flags);
/// The same flag for another command of this program.
std::vector<std::string> genesis_words(const RoleFlags& flags);

/// Adds the flags of roles whose blobs others fetch: --announce, --traffic, --store-quota.
void add_peer_flags(CLI::App& verb, RoleFlags& flags);

/// Adds --owner-key, for commands whose owner's step opens that key.
void add_owner_key_flag(CLI::App& verb, RoleFlags& flags);

/// Adds --memory and --device-memory. set_memory() checks their values: kUsage when one is no amount of
/// memory.
void add_memory_flags(CLI::App& verb, std::string& memory, std::string& device_memory,
                      MemoryDefault otherwise = MemoryDefault::kUnlimited);
base::Outcome<void> set_memory(WorkerOptions& worker, const std::string& memory,
                               const std::string& device_memory);

/// Adds --device. The worker checks its value.
void add_device_flag(CLI::App& verb, std::string& device);

/// Adds --sponsor, the owner key whose account pays; nothing when it is not given. kUsage when it is no key.
void add_sponsor_flag(CLI::App& verb, std::string& sponsor);
base::Outcome<std::optional<base::PublicKey>> sponsor_flag(const std::string& text);

/// A public key as a flag or an argument of this name gives it; kUsage when `text` is none.
base::Outcome<base::PublicKey> key_flag(const std::string& name, const std::string& text);

/// An amount as a flag gives it; kUsage when `text` is none.
base::Outcome<base::Amount> amount_flag(const std::string& flag, const std::string& text);

/// Starts the log, asks for the passphrase (options.passphrase.read) and fills in the options. kKey when the
/// home has no node key. `program` is the name in the home's lock.
base::Outcome<RoleProcessOptions> role_options(const Context& context, const RoleFlags& flags,
                                               const std::string& program);

}  // namespace assay::node
