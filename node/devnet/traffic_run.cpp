// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/traffic_run.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>

#include "contracts/program/tensors.hpp"
#include "contracts/rules/tables.hpp"
#include "node/audit/run_record.hpp"
#include "node/blob/blob_store.hpp"
#include "node/config/job_file.hpp"
#include "node/devnet/demo_audit.hpp"
#include "node/devnet/job_run.hpp"
#include "node/rpc/traffic.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

constexpr std::uint32_t kVerifiers = 3;
constexpr std::string_view kWorkerLine = "worker ";

/// What a process wrote at its end.
struct ProcessTraffic {
    TrafficCounts counts;
    std::uint64_t worker_bytes = 0;
};

std::optional<ProcessTraffic> parse_file(const std::string& text) {
    const std::size_t split = text.rfind(kWorkerLine);
    if (split == std::string::npos) return std::nullopt;
    const auto counts = parse_traffic(std::string_view(text).substr(0, split));
    const std::string_view number = std::string_view(text).substr(split + kWorkerLine.size());
    ProcessTraffic found;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), found.worker_bytes);
    const auto rest = number.substr(static_cast<std::size_t>(end - number.data()));
    if (!counts || error != std::errc() || rest != "\n") return std::nullopt;
    found.counts = *counts;
    return found;
}

/// Of all who took part in the job.
Outcome<ProcessTraffic> read_counts(const Devnet& net) {
    std::vector<Participant> all = net.miners;
    all.insert(all.end(), net.verifiers.begin(), net.verifiers.end());
    all.push_back(net.buyer);
    ProcessTraffic sum;
    for (const Participant& one : all) {
        std::ifstream file(Network::traffic_file(one.home));
        const std::string text(std::istreambuf_iterator<char>(file), {});
        const auto read = parse_file(text);
        if (!read) {
            return fail(ErrorKind::kFailure, one.name + " did not write what it sent and received:\n" +
                                                 log_tail(one.home, one.name, 5));
        }
        sum.counts += read->counts;
        sum.worker_bytes += read->worker_bytes;
    }
    return sum;
}

/// The update files that slots named, by who holds each; reveals are on the ledger while a round is running.
class Contributions {
public:
    void see(const Follower& ledger, const contracts::Event& event) {
        if (event.kind != contracts::EventKind::kRoundPhase) return;
        const auto job = contracts::read_job(ledger.state(), event.job);
        if (!job) return;
        for (std::uint32_t slot = 0; slot < job->spec.slots; ++slot) {
            const auto record = contracts::read_slot(ledger.state(), event.job, event.round, slot);
            const auto reveal = contracts::read_reveal(ledger.state(), event.job, event.round, slot);
            if (record && reveal) blobs_[{event.round, slot}] = {record->miner, reveal->update_blob};
        }
    }

    /// Bytes of the largest that any miner holds.
    [[nodiscard]] Outcome<std::uint64_t> largest(const Devnet& net) const {
        std::uint64_t bytes = 0;
        for (const Participant& miner : net.miners) {
            BlobStoreOptions options;
            options.folder = miner.home.blobs();
            options.use = StoreUse::kBeside;
            ASSAY_ASSIGN(const auto store, BlobStore::open(options));
            for (const auto& [place, made] : blobs_) {
                if (made.first != miner.node || !store->has(made.second)) continue;
                ASSAY_ASSIGN(const std::uint64_t size, store->size(made.second));
                bytes = std::max(bytes, size);
            }
        }
        if (bytes == 0) return fail(ErrorKind::kFailure, "no miner holds an update that it handed in");
        return bytes;
    }

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<base::PublicKey, BlobId>> blobs_;
};

Outcome<std::filesystem::path> write_job_file(const TrafficJob& job) {
    JobFile file;
    file.spec = job.spec;
    file.manifest = job.manifest;
    const std::filesystem::path path = job.home / "job.toml";
    std::ofstream(path) << job_file_text(file);
    ASSAY_TRY(read_job_file(path));
    return path;
}

DevnetPlan plan_of(const TrafficJob& job) {
    DevnetPlan plan;
    plan.home = job.home;
    plan.program = job.program;
    plan.metered = true;
    plan.verifiers = kVerifiers;
    plan.params = job.params;
    plan.params.probation_rounds = 0;
    for (std::uint32_t i = 0; i < job.spec.slots; ++i) {
        plan.miners.push_back(
            {.behaviour = Behaviour::kHonest, .ask = *base::Amount::of(1'000 + 50 * i), .drills = {}});
    }
    return plan;
}

Outcome<void> check_paid(const contracts::StateView& state, const contracts::Job& job) {
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, round)) {
            if (slot.verdict == contracts::Reason::kPaid) continue;
            return fail(ErrorKind::kVerification,
                        "slot " + std::to_string(slot.slot) + " of round " + std::to_string(round) +
                            " ended " + std::string(contracts::to_text(slot.verdict)) +
                            ": these are not the bytes of an honest job",
                        "run it again on a machine that is less busy");
        }
    }
    return {};
}

/// Rows that sum up to the bytes on the sockets.
Outcome<void> fill_rows(StrategyTraffic& traffic, const TrafficCounts& counts) {
    const double tokens = static_cast<double>(traffic.tokens);
    std::uint64_t counted = 0;
    const auto row = [&](std::string purpose, std::uint64_t bytes, bool derived) {
        traffic.rows.push_back(
            {std::move(purpose), bytes, tokens > 0 ? static_cast<double>(bytes) / tokens : 0, derived});
    };
    for (std::uint8_t i = 0; i < kTrafficKinds; ++i) {
        const ByteCount& one = counts.by_kind[i];
        row(std::string(to_text(static_cast<Traffic>(i))), one.sent + one.received, false);
        counted += one.sent + one.received;
    }
    if (counted > traffic.socket_bytes) {
        return fail(ErrorKind::kVerification,
                    "the processes count " + std::to_string(counted) + " bytes of messages, and only " +
                        std::to_string(traffic.socket_bytes) + " passed the sockets");
    }
    row("framing", traffic.socket_bytes - counted, true);
    traffic.socket_bytes_per_token = tokens > 0 ? static_cast<double>(traffic.socket_bytes) / tokens : 0;
    return {};
}

}  // namespace

Outcome<StrategyTraffic> measure_traffic(const TrafficJob& job, std::ostream& progress,
                                         std::stop_token stop) {
    ASSAY_ASSIGN(const Devnet net, create_devnet(plan_of(job)));
    ASSAY_ASSIGN(const auto job_file, write_job_file(job));
    StrategyTraffic traffic;
    Contributions contributions;
    base::Hash256 id;
    {
        ASSAY_ASSIGN(Network network, Network::start(net));
        JobRun run(net, network, progress);
        run.on_event(
            [&](const Follower& ledger, const contracts::Event& event) { contributions.see(ledger, event); });
        const auto outcome = run.run(job_file, std::move(stop));
        network.stop();
        ASSAY_TRY(outcome);
        id = run.job();
        const RelayCounts ledger = network.relayed_to_ledger();
        const RelayCounts blobs = network.relayed_to_blobs();
        traffic.socket_bytes = ledger.to_target + ledger.from_target + blobs.to_target + blobs.from_target;
        traffic.connections = ledger.connections + blobs.connections;
    }
    ASSAY_ASSIGN(const auto state, final_state(net));
    const auto ended = contracts::read_job(state, id);
    ASSAY_CHECK(ended.has_value());
    ASSAY_TRY(check_paid(state, *ended));
    ASSAY_ASSIGN(const ProcessTraffic counted, read_counts(net));
    ASSAY_ASSIGN(traffic.coded_bytes, contributions.largest(net));
    traffic.parameters = program::parameter_count(ended->spec.model);
    traffic.rounds = ended->rounds_done;
    traffic.slots = ended->spec.slots;
    traffic.inner_steps = ended->spec.train.inner_steps;
    traffic.tokens = merged_tokens(state, *ended);
    traffic.uncoded_bytes = 4 * traffic.parameters * traffic.inner_steps;
    traffic.factor = static_cast<double>(traffic.uncoded_bytes) / static_cast<double>(traffic.coded_bytes);
    traffic.worker_bytes = counted.worker_bytes;
    ASSAY_TRY(fill_rows(traffic, counted.counts));
    return traffic;
}

}  // namespace assay::node
