// SPDX-License-Identifier: Apache-2.0
#include "tests/ledger/scripted_engine.hpp"

#include <utility>

namespace assay::ledger::testing {

template <class Call>
bool ScriptedEngine::step(const Call& call) {
    const auto verdict = faults_.next();
    if (verdict == Faults::Verdict::kFail) return false;
    // Killed after the call: what it does to the store still happens.
    const bool killed_after = std::exchange(faults_.dead, false);
    const bool done = call();
    faults_.dead = faults_.dead || killed_after;
    return done && !faults_.dead;
}

void ScriptedEngine::expect(bool truth, const std::string& what) {
    if (!truth) found_.push_back(what);
}

Hash256 ScriptedEngine::name_of(std::uint64_t height) {
    return base::Hasher("test/scripted block").add_u64(height).finish();
}

void ScriptedEngine::note(std::uint64_t height, const Executed& executed) {
    const Roots roots{executed.results_root, executed.app_hash};
    const auto [known, first] = roots_.emplace(height, roots);
    expect(first || known->second == roots,
           "block " + std::to_string(height) + " executed again gives other roots");
}

bool ScriptedEngine::run() {
    std::unique_ptr<Application> application;
    if (!start(application)) return false;
    for (std::uint64_t height = decided_ + 1; height <= blocks_.size(); ++height) {
        if (!propose(*application, height)) return false;
        if (!step([&] { return decided_ = height, true; })) return false;
        if (!finish(*application, height)) return false;
    }
    return true;
}

// The handshake of a process that starts: the application stands at the last decided block or one before it.
bool ScriptedEngine::start(std::unique_ptr<Application>& application) {
    auto opened = Application::open(store_, machine_, genesis_);
    if (!opened) return false;
    application = *std::move(opened);
    if (!application->begun()) {
        expect(decided_ == 0, "a store that was begun is not usable any more");
        if (!application->begin()) return false;
    }
    const ApplicationInfo info = application->info();
    expect(info.height == decided_ || info.height + 1 == decided_,
           "the store stands at " + std::to_string(info.height) + ", not at the last commit or the next");
    if (info.height > 0) {
        expect(info.block == name_of(info.height), "the store names another block");
        expect(info.app_hash == roots_.at(info.height).app_hash, "the store holds another state");
    } else {
        expect(info.block == genesis_.hash(), "the store names another genesis");
    }
    if (info.height < decided_) ++restarts_behind_;
    for (std::uint64_t height = info.height + 1; height <= decided_; ++height) {
        if (!finish(*application, height)) return false;
    }
    return true;
}

// Two rounds of proposals: one that holds a refused transaction, and the one that is decided on.
bool ScriptedEngine::propose(Application& application, std::uint64_t height) {
    const bool rejected = step([&] {
        ProposedBlock bad = at(height);
        bad.transactions.push_back(Bytes(40, 0xee));
        const auto verdict = application.process(bad);
        const bool named = verdict && !*verdict && verdict->error().fault == BlockFault::kRefusedTransaction;
        expect(named, "a block with a refused transaction is not rejected");
        return true;
    });
    if (!rejected) return false;
    return step([&] {
        const auto prepared = application.prepare(at(height).transactions);
        expect(prepared && prepared->transactions == at(height).transactions,
               "a right block is not prepared");
        const auto verdict = application.process(at(height));
        expect(verdict && *verdict, "a right block is rejected");
        return true;
    });
}

bool ScriptedEngine::execute(Application& application, std::uint64_t height) {
    return step([&] {
        const auto executed = application.execute(at(height));
        expect(executed.ok(), "a decided block is not executed");
        if (executed) note(height, *executed);
        return executed.ok();
    });
}

bool ScriptedEngine::finish(Application& application, std::uint64_t height) {
    if (!execute(application, height)) return false;
    // A replayed FinalizeBlock, and a query between it and Commit.
    if (height % 2 == 0 && !execute(application, height)) return false;
    const auto answer = application.query({"state", Bytes{1}, 0});
    expect(answer && answer->height == height - 1 && answer->proof &&
               answer->app_hash == application.info().app_hash,
           "a query sees a block that is not committed");
    return step([&] { return application.commit(name_of(height), 0).ok(); });
}

}  // namespace assay::ledger::testing
