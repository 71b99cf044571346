// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/file_audits.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "node/views/printed_error.hpp"
#include "node/views/supply.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Rounds in which a cheat was caught or accused; the last one when there was none.
std::set<std::uint32_t> rounds_to_replay(const contracts::StateView& state, const contracts::Job& job) {
    std::set<std::uint32_t> rounds;
    for (std::uint32_t round = 0; round < job.rounds_done; ++round) {
        for (const auto& slot : contracts::list_slots(state, job.id, round)) {
            if (slot.verdict == contracts::Reason::kPaidAccused) rounds.insert(round);
        }
    }
    if (rounds.empty() && job.rounds_done > 0) rounds.insert(job.rounds_done - 1);
    return rounds;
}

// A copy of the ledger with one byte in the middle of its log turned over.
base::Outcome<fs::path> tampered_copy(const Devnet& net) {
    const fs::path copy = net.plan.home / "tampered";
    std::error_code error;
    fs::create_directories(copy / "ledger", error);
    for (const char* name : {"blocks.log", "genesis.bin"}) {
        fs::copy_file(net.sequencer.home.ledger() / name, copy / "ledger" / name,
                      fs::copy_options::overwrite_existing, error);
        if (error) return fail(ErrorKind::kFailure, "cannot copy the ledger: " + error.message());
    }
    const fs::path log = copy / "ledger" / "blocks.log";
    const auto middle = static_cast<std::streamoff>(fs::file_size(log) / 2);
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(middle);
    const int byte = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 0x01));
    file.close();
    if (!file) return fail(ErrorKind::kFailure, "cannot change " + log.string());
    return copy;
}

}  // namespace

struct FileAudits::Ran {
    nlohmann::json report;
    [[nodiscard]] std::uint64_t number(const char* name) const {
        return report.value(name, std::uint64_t{0});
    }
};

void FileAudits::add(Kind kind, std::vector<std::string> words, const Home& home) {
    const std::string name = "audit-" + std::to_string(commands_.size() + 1);
    commands_.push_back(
        {kind, std::move(words), home.logs() / (name + ".json"), home.logs() / (name + ".log")});
}

base::Outcome<FileAudits> FileAudits::start(const Devnet& net, const contracts::StateView& state,
                                            const contracts::Job& job) {
    FileAudits audits;
    const Home& home = net.sequencer.home;
    const std::string folder = home.root.string();
    audits.add(Kind::kLedger, {"ledger", "--home", folder}, home);
    audits.add(Kind::kPayouts, {"payouts", "--home", folder}, home);
    for (const contracts::Game& game : contracts::list_games(state, job.id)) {
        if (game.end != contracts::GameEnd::kJudged) continue;
        const std::string name = job.id.hex() + "/" + std::to_string(game.number);
        audits.add(Kind::kDispute, {"dispute", name, "--home", folder}, home);
    }
    for (const std::uint32_t round : rounds_to_replay(state, job)) {
        audits.add(Kind::kReplay,
                   {"replay", "--home", folder, "--job", job.id.brief(), "--round", std::to_string(round)},
                   home);
    }
    ASSAY_ASSIGN(const fs::path tampered, tampered_copy(net));
    audits.add(Kind::kTampered, {"ledger", "--home", tampered.string()}, home);
    ASSAY_TRY(audits.launch_all(net));
    return audits;
}

base::Outcome<void> FileAudits::launch_all(const Devnet& net) {
    ProcessOptions options;
    if (net.plan.program.empty()) {
        ASSAY_ASSIGN(options.program, own_program());
    } else {
        options.program = net.plan.program;
    }
    // Only replays compute for longer than a moment.
    const auto replays = static_cast<std::size_t>(std::count_if(
        commands_.begin(), commands_.end(), [](const Command& one) { return one.kind == Kind::kReplay; }));
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t each = std::max<std::size_t>(1, threads / std::max<std::size_t>(1, replays));
    options.environment = {{"ASSAY_THREADS", std::to_string(each)}};
    std::vector<std::size_t> replaying;
    for (const Command& command : commands_) {
        if (command.kind == Kind::kReplay) {
            if (replaying.size() >= threads) (void)processes_[replaying[replaying.size() - threads]].wait();
            replaying.push_back(processes_.size());
        }
        options.arguments = {"audit"};
        options.arguments.insert(options.arguments.end(), command.words.begin(), command.words.end());
        options.arguments.insert(options.arguments.end(), {"-o", "json"});
        options.stdout_file = command.out;
        options.stderr_file = command.log;
        ASSAY_ASSIGN(Process process, Process::spawn(options));
        processes_.push_back(std::move(process));
    }
    return {};
}

base::Outcome<FileAudits::Ran> FileAudits::wait_for(std::size_t number, std::ostream& progress) {
    const Command& command = commands_[number];
    const ExitStatus status = processes_[number].wait();
    std::string shown = "$ assay audit";
    for (const std::string& word : command.words) shown += " " + word;
    progress << shown << "\n";
    const std::string said = text_of(command.log);
    if (status.signal != 0) {
        return fail(ErrorKind::kFailure,
                    shown + " ended with " + to_text(status) + ": " + why_it_ended(said));
    }
    Ran ran{nlohmann::json::parse(text_of(command.out), nullptr, false)};
    const int expected = command.kind == Kind::kTampered ? static_cast<int>(ErrorKind::kVerification) : 0;
    if (status.code != expected || !ran.report.is_object()) {
        const std::string code = std::to_string(status.code);
        const std::string ended = "assay audit " + command.words.front() + " ended with exit code " + code;
        const std::string what = status.code != expected ? ended + ", not " + std::to_string(expected)
                                                         : ended + " and without a report";
        const std::string report = ran.report.is_object() ? "; it reported " + ran.report.dump() : "";
        return fail(ErrorKind::kVerification, what + ": " + why_it_ended(said) + report,
                    "what it said stands in " + command.log.string());
    }
    progress << "  exit code " << status.code;
    return ran;
}

base::Outcome<AuditOutcome> FileAudits::finish(const contracts::StateView& state, std::ostream& progress) {
    AuditOutcome outcome;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
        ASSAY_ASSIGN(const Ran ran, wait_for(i, progress));
        const auto checked = ran.report.value("checked", nlohmann::json::object());
        const auto failures = ran.report.value("failures", nlohmann::json::array());
        switch (commands_[i].kind) {
            case Kind::kLedger:
                outcome.ledger = ran.report.value("ok", false);
                progress << ": " << ran.number("height")
                         << " blocks executed again, every signature and root checks\n";
                break;
            case Kind::kPayouts:
                outcome.payouts = ran.report.value("ok", false);
                outcome.supply_delta = supply_delta(contracts::read_supply(state));
                progress << ": every payment follows from its rule; money made or lost: "
                         << outcome.supply_delta << "\n";
                break;
            case Kind::kDispute:
                ++outcome.disputes;
                progress << ": the ledger's own computation again, and the same loser\n";
                break;
            case Kind::kReplay:
                outcome.replayed += checked.value("slots", std::uint64_t{0});
                progress << ": " << checked.value("equal", 0) << " slots equal bit for bit, "
                         << "cheats confirmed: " << checked.value("cheats_confirmed", 0) << "\n";
                break;
            case Kind::kTampered:
                if (failures.empty())
                    return fail(ErrorKind::kVerification, "the audit of a changed ledger named no block");
                outcome.flipped_byte_where = failures.front().value("where", "");
                outcome.flipped_byte_found = true;
                progress << ", as it must: one byte of that copy was flipped; " << outcome.flipped_byte_where
                         << ": " << failures.front().value("what", "") << "\n";
                break;
        }
    }
    return outcome;
}

}  // namespace assay::node
