// SPDX-License-Identifier: Apache-2.0
#include "node/cli/state_source.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/evidence.hpp"
#include "node/views/job_view.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

bool begins(const std::string& whole, const std::string& part) {
    return whole.compare(0, part.size(), part) == 0;
}

}  // namespace

namespace {

/// The home's ledger, executed again, with the records of its ended jobs.
base::Outcome<ledger::AuditReport> execute_files(const Context& context) {
    ASSAY_ASSIGN(auto report, ledger::audit_ledger(ledger::rules_machine(), context.home().root.string()));
    if (!report.ok())
        return base::fail(ErrorKind::kVerification,
                          report.failures.front().where + ": " + report.failures.front().what,
                          "run: assay audit ledger --home " + context.home().root.string());
    ASSAY_TRY(ledger::recover_records(report.state));
    return report;
}

base::Outcome<ledger::Block> block_of(LedgerService& node, std::uint64_t height) {
    ASSAY_ASSIGN(const base::Bytes bytes, node.block(height));
    auto block = base::decode<ledger::Block>(bytes);
    if (!block)
        return base::fail(ErrorKind::kVerification,
                          "the node's block " + std::to_string(height) + " cannot be read",
                          "ask another --node, or one of this program's version");
    return *std::move(block);
}

}  // namespace

base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from) {
    if (from == StateFrom::kNode) {
        ASSAY_ASSIGN(auto ledger, context.ledger());
        return state_of(std::move(ledger));
    }
    ASSAY_ASSIGN(auto report, execute_files(context));
    std::unique_ptr<contracts::StateView> state =
        std::make_unique<contracts::MemoryState>(std::move(report.state));
    return state;
}

bool read_after_act(const Context& context, const std::function<base::Outcome<void>()>& read) {
    const auto outcome = [&]() -> base::Outcome<void> {
        try {
            return read();
        } catch (const StateReadError& error) {
            return base::failed(error.error());
        }
    }();
    if (!outcome.ok())
        context.err << "warning: it is done, and the node does not say what came of it: "
                    << outcome.error().what << '\n';
    return outcome.ok();
}

base::Outcome<ChainSource> open_chain(const Context& context, StateFrom from) {
    ChainSource chain;
    if (from == StateFrom::kNode) {
        ASSAY_ASSIGN(chain.state, open_state(context, from));
        ASSAY_ASSIGN(auto ledger, context.ledger());
        const std::shared_ptr<LedgerService> node = std::move(ledger);
        ASSAY_ASSIGN(const LedgerStatus status, node->status());
        chain.height = status.height;
        chain.blocks = [node]() -> base::Outcome<ledger::BlockReader> {
            return ledger::BlockReader([node](std::uint64_t height) { return block_of(*node, height); });
        };
        return chain;
    }
    ASSAY_ASSIGN(auto report, execute_files(context));
    const std::string home = context.home().root.string();
    ASSAY_TRY(ledger::recover_evidence(report.state, home));
    chain.height = report.height;
    chain.state = std::make_unique<contracts::MemoryState>(std::move(report.state));
    chain.blocks = [home] { return ledger::block_reader(home); };
    return chain;
}

std::optional<double> block_pace_ms(const ChainSource& chain) {
    constexpr std::uint64_t kBlocks = 20;
    const auto read = chain.blocks();
    if (!read.ok()) return std::nullopt;
    std::vector<double> gaps;
    std::optional<std::uint64_t> before;
    for (std::uint64_t height = chain.height > kBlocks ? chain.height - kBlocks : 1; height <= chain.height;
         ++height) {
        const auto block = (*read)(height);
        if (!block.ok()) return std::nullopt;
        const std::uint64_t time = block->header.time_ms;
        if (before) gaps.push_back(static_cast<double>(time - *before));
        before = time;
    }
    if (gaps.empty()) return std::nullopt;
    std::sort(gaps.begin(), gaps.end());
    return gaps[gaps.size() / 2];
}

DisputeSources dispute_sources(const ChainSource& chain, const base::Hash256& job,
                               const contracts::Game& game, bool times) {
    DisputeSources sources{.transaction = std::nullopt, .referee_us = std::nullopt, .height = chain.height};
    if (game.is_open()) return sources;
    const ledger::DisputeName name{job, game.number};
    const auto clock = [] {
        const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(now.count());
    };
    if (times) {
        const auto read = chain.blocks();
        if (!read.ok()) return sources;
        const auto report = ledger::audit_dispute(*chain.state, name, *read, clock);
        if (report.ok() && report->ok()) {
            sources.transaction = report->transaction;
            if (report->referee_ns) sources.referee_us = static_cast<double>(*report->referee_ns) / 1e3;
            return sources;
        }
    }
    // A node's state has no evidence of rounds whose windows are over: the last block says less.
    const auto read = chain.blocks();
    if (!read.ok()) return sources;
    const auto block = (*read)(game.ended_at);
    if (block.ok()) sources.transaction = ledger::ending_transaction(*block, name);
    return sources;
}

base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text) {
    std::vector<base::Hash256> fits;
    for (const JobSummary& job : jobs_of(state).jobs)
        if (!text.empty() && (begins(job.id.hex(), text) || job.name == text)) fits.push_back(job.id);
    if (fits.size() == 1) {
        if (auto job = contracts::read_job(state, fits.front())) return *std::move(job);
        return base::fail(ErrorKind::kVerification,
                          "the records of job " + fits.front().hex() + " are missing",
                          "ask another --node, or check the ledger with: assay audit ledger");
    }
    if (fits.empty())
        return base::fail(ErrorKind::kNotFound, "no job '" + text + "' on this ledger",
                          "see: assay job list");
    return base::fail(ErrorKind::kUsage, "'" + text + "' fits " + std::to_string(fits.size()) + " jobs",
                      "give more digits of the id; see: assay job list");
}

namespace {

base::Outcome<base::PublicKey> find_key(const std::set<base::PublicKey>& keys, const std::string& text,
                                        const std::string& kind, const std::string& fix) {
    std::vector<base::PublicKey> fits;
    for (const base::PublicKey& key : keys)
        if (!text.empty() && begins(key.hex(), text)) fits.push_back(key);
    if (fits.size() == 1) return fits.front();
    if (fits.empty())
        return base::fail(ErrorKind::kNotFound, "no " + kind + " '" + text + "' on this ledger", fix);
    return base::fail(ErrorKind::kUsage,
                      "'" + text + "' fits " + std::to_string(fits.size()) + " " + kind + "s",
                      "give more digits of the node key");
}

std::set<base::PublicKey> miners_of(const contracts::StateView& state) {
    std::set<base::PublicKey> keys;
    for (const auto& [key, miner] : contracts::list_miners(state)) keys.insert(key);
    return keys;
}

std::set<base::PublicKey> verifier_keys(const contracts::StateView& state) {
    std::set<base::PublicKey> keys;
    for (const auto& [key, verifier] : contracts::list_verifiers(state)) keys.insert(key);
    return keys;
}

}  // namespace

base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text) {
    return find_key(miners_of(state), text, "miner",
                    "give the beginning of its node key; see: assay miner list");
}

base::Outcome<base::PublicKey> find_verifier(const contracts::StateView& state, const std::string& text) {
    return find_key(verifier_keys(state), text, "verifier",
                    "give the beginning of its node key; see: assay verifier list");
}

base::Outcome<base::PublicKey> find_party(const contracts::StateView& state, const std::string& text) {
    std::set<base::PublicKey> keys = miners_of(state);
    keys.merge(verifier_keys(state));
    return find_key(keys, text, "miner or verifier",
                    "give the beginning of its node key; see: assay miner list, assay verifier list");
}

std::function<base::Outcome<std::string>(std::uint64_t height)> days_of(const ChainSource& chain) {
    const auto known = std::make_shared<std::map<std::uint64_t, std::string>>();
    return [&chain, known](std::uint64_t height) -> base::Outcome<std::string> {
        if (const auto found = known->find(height); found != known->end()) return found->second;
        ASSAY_ASSIGN(const ledger::BlockReader read, chain.blocks());
        ASSAY_ASSIGN(const ledger::Block block, read(height));
        const auto seconds = static_cast<std::time_t>(block.header.time_ms / 1000);
        std::tm date{};
        char text[16];
        if (gmtime_r(&seconds, &date) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%d", &date) == 0)
            return base::fail(base::ErrorKind::kVerification,
                              "block " + std::to_string(height) + " has a time that is no date",
                              "check the ledger with: assay audit ledger");
        return known->emplace(height, text).first->second;
    };
}

}  // namespace assay::node
