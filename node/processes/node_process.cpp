// SPDX-License-Identifier: Apache-2.0
#include "node/processes/node_process.hpp"

#include <cstdlib>
#include <fstream>

#include "ledger/application/rules_machine.hpp"
#include "node/processes/role_process.hpp"
#include "node/processes/store_files.hpp"
#include "node/processes/worker_port.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/sequencer.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/self_probe.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/ledger_node.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

std::filesystem::path address_file(const Home& home) { return home.root / "node.address"; }

namespace {

base::Outcome<void> publish_address(const Home& home, const std::string& address) {
    const std::filesystem::path file = address_file(home);
    const std::filesystem::path fresh = file.string() + ".new";
    std::ofstream(fresh) << address << "\n";
    std::error_code error;
    std::filesystem::rename(fresh, file, error);
    if (error) return fail(ErrorKind::kFailure, "cannot write " + file.string() + ": " + error.message());
    return {};
}

// The sequencer follows its own ledger like everybody else and works on a strand of its own.
base::Outcome<void> run_sequencer(LedgerNode& node, const ledger::Genesis& genesis,
                                  const base::SecretKey& key, const Home& home, Loop& loop,
                                  std::stop_token stop) {
    BlobStoreOptions blob_options;
    blob_options.folder = home.blobs();
    ASSAY_ASSIGN(const auto store, BlobStore::open(blob_options));
    ASSAY_ASSIGN(const auto disk, make_disk_port(home.jobs()));
    const auto files = make_blob_files(*store);
    const auto ledger_port = make_ledger_port(node, loop);
    const auto blob_port = make_blob_port(
        *store,
        [](const Endpoint& holder, Traffic traffic) {
            ClientOptions client;
            client.address = holder;
            client.traffic = traffic;
            return connect_blobs(client);
        },
        loop);
    LoopWorkerPort worker(nullptr, loop);
    ASSAY_ASSIGN(const LedgerStatus status, node.status());
    const auto state_store = verified_state_store(home);
    std::optional<base::Error> error;
    const RoleParts parts{.seams = {.clock = system_clock(),
                                    .random = system_random(),
                                    .timers = loop.timers(),
                                    .ledger = *ledger_port,
                                    .blobs = *blob_port,
                                    .disk = *disk,
                                    .worker = worker,
                                    .log = process_log()},
                          .files = *files,
                          .genesis = genesis,
                          .node_key = key,
                          .endpoint = {},
                          .start_height = status.height,
                          .finish =
                              [&](std::optional<base::Error> why) {
                                  error = std::move(why);
                                  loop.stop();
                              },
                          .state_store = state_store.get()};
    SequencerRole sequencer(parts);
    loop.attach(sequencer);
    const std::stop_callback on_stop(stop, [&] { loop.post(RoleEvent{StopRequested{}}); });
    loop.run();
    node.stop_answering();  // the port waits for its submission, and a chain that is held up makes no block
    if (error) return base::failed(*error);
    return {};
}

}  // namespace

base::Outcome<void> run_ledger_node(const NodeProcessOptions& options, std::stop_token stop) {
    forbid_core_dumps();
    (void)raise_file_limit();
    ASSAY_TRY(create_home(options.home));
    ASSAY_ASSIGN(const HomeLock lock, HomeLock::take(options.home, "assay node run"));
    ASSAY_ASSIGN(const ledger::Genesis genesis, genesis_of(options.home, options.genesis));
    ASSAY_ASSIGN(const Passphrase passphrase, read_passphrase(options.passphrase, PromptKind::kOpen));
    ASSAY_ASSIGN(const base::SecretKey key,
                 open_key_file(options.home.node_key(), passphrase, KeyRole::kNode));
    Loop loop;
    LedgerNodeOptions node_options;
    node_options.home = options.home.root;
    node_options.engine = options.engine;
    node_options.block_interval_ms = options.block_interval_ms;
    if (options.clock_offset_ms != 0 || options.drops_moves_of) ASSAY_TRY(check_may_drill(genesis.chain_id));
    node_options.accepts_far_clock = options.accepts_far_clock;
    node_options.clock_offset_ms = options.clock_offset_ms;
    node_options.drops_moves_of = options.drops_moves_of;
    node_options.on_left_out = [](const std::string& what) { log_info(what); };
    node_options.on_held = [](const std::string& why) {
        if (why.empty()) return log_info("blocks are made again");
        log_error(
            {ErrorKind::kFailure, why,
             "set this machine's clock right, or make room on its disk, whichever it says; blocks are then "
             "made again"});
    };
    node_options.server.listen = options.listen;
    node_options.server.tls = options.tls;
    node_options.version = options.version;
    node_options.on_stopped = [&](const base::Error& why) {
        // What is on disk is decided when the chain is opened again: nothing here may go on.
        log_error(why);
        std::_Exit(static_cast<int>(ErrorKind::kFailure));
    };
    ASSAY_ASSIGN(const auto node, LedgerNode::start(node_options, key, ledger::rules_machine()));
    for (const std::string& note : node->notes()) log_warn(note);
    SelfProbeOptions probing;
    // Deafness is for ever, an overloaded machine is not: half a minute tells them apart.
    probing.interval = std::chrono::seconds(5);
    probing.timeout = std::chrono::seconds(5);
    probing.failures_allowed = 5;
    probing.client.address = node->address();
    probing.client.tls = options.tls;
    const auto probe = start_self_probe(probing, [] { exit_deaf(); });
    ASSAY_TRY(publish_address(options.home, node->address()));
    log_info("chain " + genesis.chain_id + " served at " + node->address());
    const auto ended = run_sequencer(*node, genesis, key, options.home, loop, std::move(stop));
    std::error_code ignored;
    std::filesystem::remove(address_file(options.home), ignored);
    return ended;
}

}  // namespace assay::node
