// SPDX-License-Identifier: Apache-2.0
#include "node/cli/state_source.hpp"

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

base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from) {
    std::unique_ptr<contracts::StateView> state;
    if (from == StateFrom::kNode) {
        ASSAY_ASSIGN(auto ledger, context.ledger());
        return state_of(std::move(ledger));
    }
    ASSAY_ASSIGN(auto report, ledger::audit_ledger(ledger::rules_machine(), context.home().root.string()));
    if (!report.ok())
        return base::fail(ErrorKind::kVerification,
                          report.failures.front().where + ": " + report.failures.front().what,
                          "run: assay audit ledger --home " + context.home().root.string());
    ASSAY_TRY(ledger::recover_records(report.state));
    state = std::make_unique<contracts::MemoryState>(std::move(report.state));
    return state;
}

base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text) {
    std::vector<base::Hash256> fits;
    for (const JobSummary& job : jobs_of(state).jobs)
        if (!text.empty() && (begins(job.id.hex(), text) || job.name == text)) fits.push_back(job.id);
    if (fits.size() == 1) {
        if (auto job = contracts::read_job(state, fits.front())) return *std::move(job);
        return base::fail(ErrorKind::kVerification,
                          "the records of job " + fits.front().hex() + " are missing");
    }
    if (fits.empty())
        return base::fail(ErrorKind::kNotFound, "no job '" + text + "' on this ledger",
                          "see: assay job list");
    return base::fail(ErrorKind::kUsage, "'" + text + "' fits " + std::to_string(fits.size()) + " jobs",
                      "give more digits of the id; see: assay job list");
}

base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text) {
    std::vector<base::PublicKey> fits;
    for (const auto& [key, miner] : contracts::list_miners(state))
        if (!text.empty() && begins(key.hex(), text)) fits.push_back(key);
    if (fits.size() == 1) return fits.front();
    if (fits.empty())
        return base::fail(ErrorKind::kNotFound, "no miner '" + text + "' on this ledger",
                          "give the beginning of its node key; see: assay miner list");
    return base::fail(ErrorKind::kUsage, "'" + text + "' fits " + std::to_string(fits.size()) + " miners",
                      "give more digits of the node key");
}

}  // namespace assay::node
