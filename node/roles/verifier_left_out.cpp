// SPDX-License-Identifier: Apache-2.0
// What a verifier leaves out of its seal, and when it seals without it.
#include <algorithm>
#include <utility>

#include "node/roles/verifier.hpp"

namespace assay::node {

namespace {

// Heights kept back for the seal to come into a block, at most; a window below the least keeps back none.
constexpr std::uint64_t kSealingBlocks = 20;
constexpr std::uint64_t kLeastWindow = 4;

}  // namespace

// Kept back is an eighth of the window.
bool VerifierRole::must_seal(const contracts::Job& job, const contracts::AuditPosting& posting) const {
    const auto round = contracts::read_round_progress(state(), job.id, job.round);
    if (!round) return false;
    const std::uint64_t window = round->phase_deadline - std::min(round->phase_deadline, posting.called_at);
    if (window < kLeastWindow) return false;
    return height() + std::min(std::max<std::uint64_t>(1, window / 8), kSealingBlocks) >=
           round->phase_deadline;
}

void VerifierRole::leave_out_rest(Audit& audit, const contracts::Job& job) {
    while (!audit.todo.empty()) leave_out(audit, job, "it was not computed in time");
}

void VerifierRole::leave_out(Audit& audit, const contracts::Job& job, const std::string& why) {
    log().error(round_name(job.id, job.round) + " slot " + std::to_string(audit.slot().slot) +
                " is left out of our audit, which costs what a lost accusation costs: " + why);
    audit.todo.pop_front();
}

void VerifierRole::let_others_go_first(Audit& audit) {
    audit.todo.push_back(std::move(audit.todo.front()));
    audit.todo.pop_front();
}

}  // namespace assay::node
