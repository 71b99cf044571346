// SPDX-License-Identifier: Apache-2.0
// The transactions about a job outside its rounds, for the rules' entry points: the read-only check of each,
// and the change that it makes. A change REQUIRES that its check passed on this very state. Internal to the
// rules.
#pragma once

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/job/transactions.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// check.cpp
/// Checks that c.owner may decide about the job: it is the buyer, or the member of the buyer's team that
/// submitted the job.
Checked check_decides(const Case& c, const JobTerms& terms);
Checked check(const Case& c, const EndpointUpdate& tx);
Checked check(const Case& c, const JobSubmit& tx);
Checked check(const Case& c, const TeamSubmit& tx);
Checked check(const Case& c, const JobCancel& tx);
Checked check(const Case& c, const JobTopUp& tx);
Checked check(const Case& c, const JobExtend& tx);
Checked check(const Case& c, const AskCommit& tx);
Checked check(const Case& c, const AskReveal& tx);
Checked check(const Case& c, const VerifierEnlist& tx);
Checked check(const Case& c, const ValidatorEnlist& tx);
Checked check(const Case& c, const JobJoin& tx);

// apply.cpp
void carry_out(Work& work, const Sent& sent, const EndpointUpdate& tx);
void carry_out(Work& work, const Sent& sent, const JobSubmit& tx);
void carry_out(Work& work, const Sent& sent, const TeamSubmit& tx);
void carry_out(Work& work, const Sent& sent, const JobCancel& tx);
void carry_out(Work& work, const Sent& sent, const JobTopUp& tx);
void carry_out(Work& work, const Sent& sent, const JobExtend& tx);
void carry_out(Work& work, const Sent& sent, const AskCommit& tx);
void carry_out(Work& work, const Sent& sent, const AskReveal& tx);
void carry_out(Work& work, const Sent& sent, const VerifierEnlist& tx);
void carry_out(Work& work, const Sent& sent, const ValidatorEnlist& tx);
void carry_out(Work& work, const Sent& sent, const JobJoin& tx);

}  // namespace assay::contracts
