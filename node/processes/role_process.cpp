// SPDX-License-Identifier: Apache-2.0
#include "node/processes/role_process.hpp"

#include <fstream>

#include "ledger/store/posix_disk.hpp"
#include "node/processes/connect.hpp"
#include "node/processes/role_worker.hpp"
#include "node/processes/store_files.hpp"
#include "node/processes/worker_port.hpp"
#include "node/roles/unsound_notes.hpp"
#include "node/rpc/outward.hpp"
#include "node/rpc/port.hpp"
#include "node/rpc/self_probe.hpp"
#include "node/rpc/server.hpp"
#include "node/rpc/traffic.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/log.hpp"
#include "node/runtime/loop.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

base::Outcome<ledger::Genesis> genesis_of(const Home& home,
                                          const std::optional<std::filesystem::path>& given) {
    ledger::PosixDisk disk;
    const std::string kept = (home.ledger() / "genesis.bin").string();
    if (given) {
        ASSAY_ASSIGN(const ledger::Genesis genesis, ledger::read_genesis(disk, given->string()));
        ASSAY_TRY(disk.make_directories(home.ledger().string()));
        ASSAY_TRY(ledger::write_genesis(disk, kept, genesis));
    }
    auto genesis = ledger::read_genesis(disk, kept);
    if (!genesis.ok() && genesis.error().kind == ErrorKind::kNotFound) {
        return fail(ErrorKind::kNotFound, "no genesis in " + kept,
                    "pass --genesis FILE once; the ledger's operator publishes it");
    }
    return genesis;
}

base::Outcome<void> check_node_key(const Home& home) {
    if (std::filesystem::exists(home.node_key())) return {};
    return fail(ErrorKind::kKey, "no node key in " + home.node_key().string(),
                "make one with `assay key new --home " + home.root.string() + "`");
}

std::unique_ptr<ledger::KeyValueProvider> verified_state_store(const Home& home) {
    // It can always be verified anew: waiting for the disk at every block would buy nothing.
    return ledger::leveldb_provider(home.state().string(),
                                    {.durability = ledger::Durability::kInOrder, .name = "verified state"});
}

namespace {

/// A role that nobody reaches works, seals, and loses what it has bonded because it does not serve.
base::Outcome<void> warn_of_loopback(const RoleProcessOptions& options, const std::string& listens) {
    ASSAY_ASSIGN(const HostPort node, parse_host_port(options.node_address));
    const std::string& told = options.announce.empty() ? listens : options.announce;
    ASSAY_ASSIGN(const HostPort own, parse_host_port(told));
    if (is_loopback(node.host) || !is_loopback(own.host)) return {};
    log_warn("others are told to fetch from " + told +
             ", which is this machine alone, and the ledger node is on a network: give --listen and "
             "--announce, or --outward to a miner that accepts no connection");
    return {};
}

}  // namespace

struct RoleProcess::State {
    RoleProcessOptions options;
    std::stop_token stop;
    std::optional<HomeLock> lock;
    ledger::Genesis genesis;
    std::optional<base::SecretKey> node_key;
    std::optional<ReservedPort> port;  ///< until serve(); none of a process that accepts no connection
    std::unique_ptr<BlobStore> store;
    std::unique_ptr<BlobFiles> files;
    std::unique_ptr<OutwardDesk> desk;  ///< of a process that accepts connections
    std::unique_ptr<RpcServer> blob_server;
    std::unique_ptr<SelfProbe> probe;
    std::unique_ptr<LedgerService> ledger;
    std::unique_ptr<RoleWorker> worker;
    std::unique_ptr<Loop> loop;
    std::unique_ptr<OutwardLinks> links;  ///< of a process that accepts none
    std::unique_ptr<LedgerPort> ledger_port;
    std::unique_ptr<BlobPort> blob_port;
    std::unique_ptr<DiskPort> disk_port;
    std::unique_ptr<LoopWorkerPort> worker_port;
    std::unique_ptr<ledger::KeyValueProvider> state_store;
    std::optional<RoleParts> parts;
    std::optional<base::Error> error;
    bool finished = false;

    base::Outcome<void> open_key();
    base::Outcome<void> open_store_and_worker();
    base::Outcome<void> open_worker();
    base::Outcome<void> open_services();
    ClientOptions ledger_client() const;
    base::Outcome<void> open_ledger();
    base::Outcome<void> assemble();
    void take_apart();
    base::Outcome<void> run(Role& role);
    [[nodiscard]] std::string endpoint() const {
        if (options.outward) return outward_endpoint(node_key->public_key());
        if (!options.announce.empty()) return options.announce;
        return blob_server ? blob_server->address() : port->address();
    }
    void write_traffic() const;
};

base::Outcome<void> RoleProcess::State::open_key() {
    const Home& home = options.home;
    ASSAY_TRY(check_node_key(home));
    ASSAY_ASSIGN(const Passphrase passphrase, read_passphrase(options.passphrase, PromptKind::kOpen));
    ASSAY_ASSIGN(node_key, open_key_file(home.node_key(), passphrase, KeyRole::kNode));
    options.passphrase = {};  // it opens the owner's key too, and nothing here needs it again
    return {};
}

base::Outcome<void> RoleProcess::State::open_store_and_worker() {
    BlobStoreOptions blob_options;
    blob_options.folder = options.home.blobs();
    if (options.store_quota) blob_options.quota_bytes = *options.store_quota;
    ASSAY_ASSIGN(store, BlobStore::open(blob_options));
    if (!store->is_own())
        process_log().warn("another process holds " + (options.home.blobs() / "lock").string() +
                           ": nothing gives way in the store while this one runs; end that and start again");
    files = make_blob_files(*store);
    // Before the owner is asked to stake: whoever has staked is asked to work within seconds.
    if (options.needs_worker == NeedsWorker::kYes) return open_worker();
    return {};
}

// A device with other bits may have worked for processes of this home before. The role forgets that, this
// process's or, where there is no device left to begin with, the next one's.
base::Outcome<void> RoleProcess::State::open_worker() {
    std::vector<std::string> unsound;
    base::Outcome<void> opened;
    if (auto started = RoleWorker::start(options.worker, options.devices); started.ok()) {
        worker = std::move(started).value();
        if (options.self_check) opened = worker->check(stop);
        unsound = worker->unsound();
    } else {
        opened = base::failed(started.error());
        if (started.error().kind == ErrorKind::kPreflight)
            unsound = RoleWorker::unsound_of(options.worker, options.devices);
    }
    for (const std::string& device : unsound) ASSAY_TRY(note_unsound(*disk_port, device));
    return opened;
}

base::Outcome<void> RoleProcess::State::open_services() {
    if (options.outward) {
        OutwardOptions outward;
        outward.chain_id = genesis.chain_id;
        outward.tls = options.tls;
        links = std::make_unique<OutwardLinks>(*store, *node_key, process_log(), std::move(outward));
        return {};
    }
    desk = std::make_unique<OutwardDesk>(genesis.chain_id, node_key->public_key(), system_random());
    ServerOptions server;
    server.listen = port->address();
    server.tls = options.tls;
    server.limits.receive_bytes = 4 << 20;
    server.limits.memory_bytes = 256ULL << 20;
    ASSAY_ASSIGN(blob_server, serve_blobs(*store, server, desk.get()));
    port.reset();
    SelfProbeOptions probing;
    // Deafness is for ever, an overloaded machine is not: half a minute tells them apart.
    probing.interval = std::chrono::seconds(5);
    probing.timeout = std::chrono::seconds(5);
    probing.failures_allowed = 5;
    probing.client.address = blob_server->address();
    probing.client.tls = options.tls;
    probe = start_self_probe(probing, [] { exit_deaf(); });
    return {};
}

ClientOptions RoleProcess::State::ledger_client() const {
    ClientOptions client;
    client.address = options.node_address;
    client.tls = options.tls;
    // A submission answers only when its block is on disk.
    client.deadline = std::chrono::milliseconds(60'000);
    return client;
}

base::Outcome<void> RoleProcess::State::open_ledger() {
    ASSAY_ASSIGN(ledger, connect_to_chain(ledger_client(), genesis));
    return {};
}

base::Outcome<void> RoleProcess::State::assemble() {
    ASSAY_ASSIGN(const LedgerStatus status, ask_status(*ledger, ledger_client()));
    loop = std::make_unique<Loop>();
    ledger_port = make_ledger_port(*ledger, *loop);
    blob_port = make_blob_port(
        *store,
        [tls = options.tls](const Endpoint& holder, Traffic traffic) {
            ClientOptions client;
            client.address = holder;
            client.tls = tls;
            client.traffic = traffic;
            return connect_blobs(client);
        },
        *loop, desk.get(), links.get());
    worker_port = std::make_unique<LoopWorkerPort>(worker ? &worker->client() : nullptr, *loop);
    state_store = verified_state_store(options.home);
    parts.emplace(RoleParts{.seams = {.clock = system_clock(),
                                      .random = system_random(),
                                      .timers = loop->timers(),
                                      .ledger = *ledger_port,
                                      .blobs = *blob_port,
                                      .disk = *disk_port,
                                      .worker = *worker_port,
                                      .log = process_log()},
                            .files = *files,
                            .genesis = genesis,
                            .node_key = *node_key,
                            .endpoint = endpoint(),
                            .start_height = status.height,
                            .finish =
                                [this](std::optional<base::Error> why) {
                                    if (finished) return;
                                    finished = true;
                                    error = std::move(why);
                                    loop->stop();
                                },
                            .state_store = state_store.get()});
    return {};
}

void RoleProcess::State::take_apart() {
    // What feeds the strand goes first: nothing posts to a loop that is gone.
    parts.reset();
    worker_port.reset();
    ledger_port.reset();
    blob_port.reset();
    links.reset();
    state_store.reset();
    loop.reset();
}

base::Outcome<void> RoleProcess::State::run(Role& role) {
    loop->attach(role);
    const std::stop_callback on_stop(stop, [this] { loop->post(RoleEvent{StopRequested{}}); });
    if (worker != nullptr && options.self_check) {
        worker->watch(*options.self_check,
                      [this](const std::string& device, const std::optional<base::Error>& end) {
                          loop->post(RoleEvent{DeviceUnsound{device}});
                          if (end) loop->post([this, why = *end] { parts->finish(why); });
                      });
    }
    loop->run();
    if (worker != nullptr) worker->stop_watching();
    if (error) return base::failed(*error);
    return {};
}

void RoleProcess::State::write_traffic() const {
    if (options.traffic.empty()) return;
    std::ofstream file(options.traffic);
    file << to_text(traffic_counts()) << "worker " << WorkerProcess::socket_bytes() << "\n";
    file.flush();
    if (!file) log_error({ErrorKind::kFailure, "cannot write " + options.traffic.string(), {}});
}

RoleProcess::RoleProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}

RoleProcess::~RoleProcess() {
    state_->worker.reset();
    state_->take_apart();
    state_->probe.reset();
    if (state_->blob_server) state_->blob_server->stop();
    state_->write_traffic();
}

base::Outcome<std::unique_ptr<RoleProcess>> RoleProcess::open(RoleProcessOptions options,
                                                              std::stop_token stop) {
    auto state = std::make_unique<State>();
    state->options = std::move(options);
    state->stop = std::move(stop);
    forbid_core_dumps();
    (void)raise_file_limit();
    ASSAY_TRY(create_home(state->options.home));
    ASSAY_ASSIGN(state->lock, HomeLock::take(state->options.home, state->options.program));
    ASSAY_ASSIGN(state->genesis, genesis_of(state->options.home, state->options.genesis));
    ASSAY_TRY(state->open_key());
    ASSAY_ASSIGN(state->disk_port, make_disk_port(state->options.home.jobs()));
    ASSAY_TRY(state->open_store_and_worker());
    if (!state->options.outward) {
        ASSAY_ASSIGN(state->port, ReservedPort::take(state->options.listen));
        ASSAY_TRY(warn_of_loopback(state->options, state->port->address()));
    }
    ASSAY_TRY(state->open_ledger());
    return std::unique_ptr<RoleProcess>(new RoleProcess(std::move(state)));
}

base::Outcome<void> RoleProcess::serve() {
    ASSAY_TRY(state_->open_services());
    return state_->assemble();
}

std::string RoleProcess::endpoint() const { return state_->endpoint(); }
const ledger::Genesis& RoleProcess::genesis() const { return state_->genesis; }
const RoleParts& RoleProcess::parts() const { return *state_->parts; }
BlobStore& RoleProcess::blobs() { return *state_->store; }

base::Outcome<void> RoleProcess::run(Role& role) {
    if (state_->stop.stop_requested()) return {};
    ASSAY_CHECK(state_->parts.has_value());
    return state_->run(role);
}

}  // namespace assay::node
