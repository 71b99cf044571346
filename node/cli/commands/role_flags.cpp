// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/role_flags.hpp"

#include <CLI/CLI.hpp>

#include "node/cli/commands.hpp"
#include "node/runtime/log.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::node {

namespace {
constexpr const char* kNoLimit = "no limit";
constexpr const char* kShareOfMachine =
    "three eighths of what the machine or its container has, divided by the devices";
}  // namespace

void add_service_flags(CLI::App& verb, RoleFlags& flags) {
    add_passphrase_flags(verb, flags.passphrase);
    verb.add_option("--listen", flags.listen, "HOST:PORT of this process's service (port 0: any)")
        ->capture_default_str();
    add_genesis_flag(verb, flags);
    verb.add_option("--log-level", flags.log_level, "trace, debug, info, warn, error or off")
        ->capture_default_str();
}

void add_compute_flags(CLI::App& verb, RoleFlags& flags, MemoryDefault memory) {
    verb.add_option("--threads", flags.threads, "Worker threads (0: ASSAY_THREADS, else 1)");
    add_memory_flags(verb, flags.memory, flags.device_memory, memory);
    add_device_flag(verb, flags.device);
}

void add_genesis_flag(CLI::App& verb, RoleFlags& flags) {
    verb.add_option("--genesis", flags.genesis, "The ledger's genesis file; needed at the first start only");
}

std::vector<std::string> genesis_words(const RoleFlags& flags) {
    if (flags.genesis.empty()) return {};
    return {"--genesis", flags.genesis};
}

void add_sponsor_flag(CLI::App& verb, std::string& sponsor) {
    verb.add_option(
        "--sponsor", sponsor,
        "Owner key of the sponsor whose account pays, if the home's owner is a member of its team");
}

base::Outcome<std::optional<base::PublicKey>> sponsor_flag(const std::string& text) {
    if (text.empty()) return std::optional<base::PublicKey>();
    ASSAY_ASSIGN(const base::PublicKey key, key_flag("--sponsor", text));
    return std::optional(key);
}

base::Outcome<base::PublicKey> key_flag(const std::string& name, const std::string& text) {
    const auto key = base::parse_public_key(text);
    if (!key)
        return base::fail(base::ErrorKind::kUsage, name + " '" + text + "' is not a public key",
                          "a key is 64 hexadecimal digits in lower case");
    return *key;
}

base::Outcome<base::Amount> amount_flag(const std::string& flag, const std::string& text) {
    const auto amount = base::parse_amount(text);
    if (!amount) {
        return base::fail(base::ErrorKind::kUsage, flag + " " + text + " is not an amount",
                          "write ASY with at most six decimals (12.5) or base units (12500000u)");
    }
    return *amount;
}

void add_peer_flags(CLI::App& verb, RoleFlags& flags) {
    verb.add_option("--announce", flags.announce,
                    "HOST:PORT at which others reach the blob service (default: where it listens)");
    verb.add_option("--traffic", flags.traffic, "At the end, write the bytes sent and received to this file");
    verb.add_option("--store-quota", flags.store_quota,
                    "Most that the home's blobs take, like 2TiB; no job is worked for that can take more")
        ->capture_default_str();
}

void add_owner_key_flag(CLI::App& verb, RoleFlags& flags) {
    verb.add_option("--owner-key", flags.owner_key,
                    "File of the owner's key, which only registering opens, with the same passphrase "
                    "(default: HOME/keys/owner.key)");
}

void add_memory_flags(CLI::App& verb, std::string& memory, std::string& device_memory,
                      MemoryDefault otherwise) {
    verb.add_option(
        "--memory", memory,
        std::string("Memory of the worker: a training step and what a round holds beside it, like "
                    "2GiB; 0: no limit (default: ASSAY_MEMORY, "
                    "else ") +
            (otherwise == MemoryDefault::kUnlimited ? kNoLimit : kShareOfMachine) + ")");
    verb.add_option("--device-memory", device_memory,
                    "Memory of a card for a training step (default: ASSAY_DEVICE_MEMORY, else what is free, "
                    "less a sixteenth)");
}

void add_device_flag(CLI::App& verb, std::string& device) {
    verb.add_option(
        "--device", device,
        "What computes: cpu (default), cuda:N for an NVIDIA card, or reference, the law itself, which "
        "is slow");
}

base::Outcome<void> set_memory(WorkerOptions& worker, const std::string& memory,
                               const std::string& device_memory) {
    for (const auto& [flag, text] :
         {std::pair("--memory", &memory), std::pair("--device-memory", &device_memory)}) {
        if (text->empty()) continue;
        auto bytes = trainer::parse_memory_limit(*text);
        if (bytes.ok()) continue;
        return base::fail(bytes.error().kind, std::string(flag) + ": " + bytes.error().what,
                          bytes.error().fix);
    }
    worker.memory = memory;
    worker.device_memory = device_memory;
    return {};
}

namespace {

/// Others are told one of them: it must be an address that one can connect to.
base::Outcome<void> check_told_address(const RoleFlags& flags) {
    if (!flags.announce.empty()) {
        ASSAY_ASSIGN(const HostPort announced, parse_host_port(flags.announce));
        if (announced.port == 0) {
            return base::fail(base::ErrorKind::kUsage,
                              "--announce " + flags.announce + " has port 0, which nobody can reach",
                              "give the port that leads to --listen");
        }
        if (!is_any_address(announced.host)) return {};
        return base::fail(
            base::ErrorKind::kUsage,
            "--announce " + flags.announce + " is every address of a machine, and none to connect to",
            "give the one at which others reach this machine");
    }
    ASSAY_ASSIGN(const HostPort listens, parse_host_port(flags.listen));
    if (!is_any_address(listens.host)) return {};
    return base::fail(base::ErrorKind::kUsage,
                      "--listen " + flags.listen + " says no address at which others reach this machine",
                      "add --announce HOST:PORT with the one that they reach, or listen at that one");
}

}  // namespace

base::Outcome<RoleProcessOptions> role_options(const Context& context, const RoleFlags& flags,
                                               const std::string& program) {
    ASSAY_TRY(check_told_address(flags));
    ASSAY_TRY(start_log(flags.log_level, program));
    RoleProcessOptions options;
    options.program = "assay " + program;
    options.home = context.home();
    options.node_address = context.settings.node;
    options.listen = flags.listen;
    options.announce = flags.announce;
    options.traffic = flags.traffic;
    options.tls = context.settings.tls;
    if (!flags.genesis.empty()) options.genesis = flags.genesis;
    ASSAY_TRY(check_node_key(options.home));
    forbid_core_dumps();
    ASSAY_ASSIGN(const PassphraseSource source, flags.passphrase.source());
    ASSAY_ASSIGN(Passphrase passphrase, read_passphrase(source, PromptKind::kOpen));
    options.passphrase.read = std::make_shared<const Passphrase>(std::move(passphrase));
    options.worker.threads = flags.threads;
    ASSAY_TRY(set_memory(options.worker, flags.memory, flags.device_memory));
    options.worker.device = flags.device;
    auto quota = trainer::parse_memory(flags.store_quota);
    if (!quota.ok())
        return base::fail(quota.error().kind, "--store-quota: '" + flags.store_quota + "' is not a size",
                          quota.error().fix);
    options.store_quota = *quota;
    return options;
}

}  // namespace assay::node
