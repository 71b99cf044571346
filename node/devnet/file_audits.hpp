// SPDX-License-Identifier: Apache-2.0
// Gives the demo FileAudits, its audits: commands that anybody could run on the files of its home, as
// separate processes, all at the same time.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "node/devnet/report.hpp"
#include "node/runtime/process.hpp"

namespace assay::node {

class FileAudits {
public:
    /// Starts `assay audit ledger`, `payouts`, `dispute` (of every game that was judged) and `replay` (of
    /// every round with a cheat) on the home's files, and `assay audit ledger` on a copy with one byte
    /// flipped (HOME/tampered stays). `state` is the ledger's, recomputed. They share the machine's threads.
    /// The destructor kills those that have not ended. REQUIRES the main thread, and files that nobody
    /// writes.
    static base::Outcome<FileAudits> start(const Devnet& net, const contracts::StateView& state,
                                           const contracts::Job& job);

    /// Waits for all of them and prints each command, how it ended and what it found, in the order above.
    /// kVerification when one ends with a wrong exit code.
    base::Outcome<AuditOutcome> finish(const contracts::StateView& state, std::ostream& progress);

private:
    enum class Kind : std::uint8_t { kLedger, kPayouts, kDispute, kReplay, kTampered };
    struct Command {
        Kind kind;
        std::vector<std::string> words;  ///< after `assay audit`
        std::filesystem::path out;       ///< of its report
        std::filesystem::path log;       ///< of its other output
    };
    /// What a command printed on both streams, and how it ended.
    struct Ran;

    void add(Kind kind, std::vector<std::string> words, const Home& home);
    base::Outcome<void> launch_all(const Devnet& net);
    base::Outcome<Ran> wait_for(std::size_t number, std::ostream& progress);

    std::vector<Command> commands_;
    std::vector<Process> processes_;
};

}  // namespace assay::node
