// SPDX-License-Identifier: Apache-2.0
// Gives commands RoleProcess, what one role needs in its own process: home, keys, blob service, ledger
// client, worker, strand.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "node/blob/blob_store.hpp"
#include "node/key/key_file.hpp"
#include "node/roles/following_role.hpp"
#include "node/rpc/tls.hpp"
#include "node/runtime/home.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {

enum class NeedsWorker : std::uint8_t { kNo, kYes };

struct RoleProcessOptions {
    std::string program;  ///< "assay miner run": named in the home's lock
    Home home;
    std::string node_address;            ///< host:port of the ledger node
    std::string listen = "127.0.0.1:0";  ///< of the blob service
    std::string announce;                ///< where others reach it; empty: where it listens
    bool outward = false;                ///< accepts no connection: peers ask over calls that it opens
    std::filesystem::path traffic;       ///< file for what it sent and received, at its end; empty: none
    std::optional<TlsFiles> tls;
    std::optional<std::filesystem::path> genesis;  ///< kept in the home at the first start
    PassphraseSource passphrase;
    NeedsWorker needs_worker = NeedsWorker::kYes;
    WorkerOptions worker;
    /// Devices, each with its own worker. With more than one, `worker.device` is ignored.
    std::vector<std::string> devices = {};
    std::optional<std::uint64_t> store_quota;  ///< bytes of all blobs; nothing: the default of
                                               ///< BlobStoreOptions
    /// How often every kernel target is checked: before open() is done, and while the role runs. Nothing:
    /// never; the worker checks the target that it uses when it starts.
    std::optional<std::chrono::milliseconds> self_check;
};

/// Prepares everything that a role needs, in two phases. After open() everything is ready and nobody can
/// reach the process yet. Another process now has the owner sign what it must (node/cli/owner_step.hpp).
/// After serve() the blob port is open, and a role can be made from parts(). No code here opens the owner's
/// key.
class RoleProcess {
public:
    /// Errors: kKey, kNotFound (no key, no genesis), kUnreachable (ledger node), kVerification (another
    /// chain), kPreflight (worker), kFailure.
    static base::Outcome<std::unique_ptr<RoleProcess>> open(RoleProcessOptions options, std::stop_token stop);
    ~RoleProcess();

    /// Opens the blob port, unless it accepts no connection. kFailure when the port is taken.
    base::Outcome<void> serve();

    /// The address of the blob service, now or after serve(): the port is ours from open() on. For a process
    /// that accepts no connection, outward_endpoint().
    [[nodiscard]] std::string endpoint() const;
    [[nodiscard]] const ledger::Genesis& genesis() const;
    /// REQUIRES serve().
    [[nodiscard]] const RoleParts& parts() const;
    [[nodiscard]] BlobStore& blobs();

    /// Runs `role` until it is done or asked to stop, both of which succeed. kPreflight when a kernel target
    /// fails its check meanwhile; the role then stops at once. REQUIRES serve().
    base::Outcome<void> run(Role& role);

private:
    struct State;
    explicit RoleProcess(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// kKey when the home has no node key.
base::Outcome<void> check_node_key(const Home& home);

/// HOME/state: the ledger's state as the role of this home has verified it.
std::unique_ptr<ledger::KeyValueProvider> verified_state_store(const Home& home);

/// The genesis of a home: HOME/ledger/genesis.bin, written from `given` at the first start. kUsage when
/// `given` is another genesis than the home's; kNotFound when there is neither.
base::Outcome<ledger::Genesis> genesis_of(const Home& home,
                                          const std::optional<std::filesystem::path>& given);

}  // namespace assay::node
