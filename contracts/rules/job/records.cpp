// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/records.hpp"

#include <algorithm>
#include <limits>

namespace assay::contracts {

namespace {

std::uint64_t least(const std::vector<std::uint64_t>& speeds) {
    return speeds.empty() ? 0 : *std::min_element(speeds.begin(), speeds.end());
}

}  // namespace

std::uint64_t RosterEntry::speed() const { return least(speeds); }
std::uint64_t EnlistedVerifier::speed() const { return least(speeds); }

bool has_phase(const JobTerms& job, JobPhase phase) {
    switch (phase) {
        case JobPhase::kAskCommit:
        case JobPhase::kAskReveal:
        case JobPhase::kRefill: return !job.leases();
        case JobPhase::kWaiting: return job.leases();
        case JobPhase::kRounds:
        case JobPhase::kClosing:
        case JobPhase::kEnded: return true;
    }
    return false;
}

Amount whole_budget(const JobTerms& terms, const JobAdditions& additions) {
    const auto whole = terms.spec.market.budget.plus(additions.topped_up);
    ASSAY_CHECK(whole.has_value());
    return *whole;
}

std::uint64_t current_deadline(const JobTerms& terms, const JobAdditions& additions) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    return additions.extended > kLast - terms.deadline ? kLast : terms.deadline + additions.extended;
}

std::string_view to_text(JobPhase phase) {
    switch (phase) {
        case JobPhase::kAskCommit: return "ask_commit";
        case JobPhase::kAskReveal: return "ask_reveal";
        case JobPhase::kRounds: return "rounds";
        case JobPhase::kEnded: return "ended";
        case JobPhase::kRefill: return "refill";
        case JobPhase::kClosing: return "closing";
        case JobPhase::kWaiting: return "waiting";
    }
    return "unknown";
}

}  // namespace assay::contracts
