// SPDX-License-Identifier: Apache-2.0
// A second engine for tests: it decides on the blocks that a script gives it and drives an application
// through the calls that CometBFT makes, rejected proposals and repeated calls included. It can be killed
// before and after each of its calls, as well as in the application's store.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ledger/application/application.hpp"
#include "tests/support/faulty_disk.hpp"

namespace assay::ledger::testing {

/// What every node must agree on after a block.
struct Roots {
    Hash256 results_root;
    Hash256 app_hash;
    friend bool operator==(const Roots&, const Roots&) = default;
};

class ScriptedEngine {
public:
    /// `blocks` are what the network decides on, the first at height 1. All arguments outlive the engine.
    ScriptedEngine(const std::vector<std::vector<Bytes>>& blocks, const StateMachine& machine,
                   const Genesis& genesis, MemoryProvider& store, Faults& faults)
        : blocks_(blocks), machine_(machine), genesis_(genesis), store_(store), faults_(faults) {}

    /// A process: opens the application, executes again what it lacks, and goes on with the script. False
    /// when it was killed; what it decided on and what the store holds are there for the next one.
    bool run();

    /// What executing each height gave, whenever it was executed.
    [[nodiscard]] const std::map<std::uint64_t, Roots>& roots() const { return roots_; }
    /// What the application got wrong, one sentence each. Empty: nothing.
    [[nodiscard]] const std::vector<std::string>& faults_found() const { return found_; }
    [[nodiscard]] std::uint64_t restarts_behind() const { return restarts_behind_; }

private:
    /// Counts a point at which the process can die; `call` happens unless it dies before.
    template <class Call>
    bool step(const Call& call);
    bool start(std::unique_ptr<Application>& application);
    bool propose(Application& application, std::uint64_t height);
    bool finish(Application& application, std::uint64_t height);
    bool execute(Application& application, std::uint64_t height);
    void note(std::uint64_t height, const Executed& executed);
    void expect(bool truth, const std::string& what);
    [[nodiscard]] ProposedBlock at(std::uint64_t height) const { return {height, blocks_[height - 1]}; }
    static Hash256 name_of(std::uint64_t height);

    const std::vector<std::vector<Bytes>>& blocks_;
    const StateMachine& machine_;
    const Genesis& genesis_;
    MemoryProvider& store_;
    Faults& faults_;
    std::uint64_t decided_ = 0;  // durable: the engine's own block store
    std::map<std::uint64_t, Roots> roots_;
    std::vector<std::string> found_;
    std::uint64_t restarts_behind_ = 0;
};

}  // namespace assay::ledger::testing
