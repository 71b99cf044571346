// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench comm` the bytes that one job moves on a small metered network of real processes.
#pragma once

#include <filesystem>
#include <ostream>
#include <stop_token>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "node/devnet/plan.hpp"
#include "node/views/traffic_view.hpp"

namespace assay::node {

struct TrafficJob {
    std::filesystem::path home;  ///< made as by create_devnet()
    program::JobSpec spec;       ///< without its data; one honest miner for each slot
    std::filesystem::path manifest;
    std::filesystem::path program;  ///< `assay`; empty: the running program
    contracts::Params params = devnet_params();
};

/// Runs the job with three verifiers, as jobs need them. Nobody is a newcomer, so units are drawn at the
/// job's rate. A relay between any two processes counts the bytes of both sockets. The processes count their
/// messages by purpose; the rest of the relays' bytes is the row `framing`. Errors: those of Network and
/// JobRun; kVerification when the messages have more bytes than the relays passed on, or a slot was not paid;
/// kFailure when a process did not write its counts.
base::Outcome<StrategyTraffic> measure_traffic(const TrafficJob& job, std::ostream& progress,
                                               std::stop_token stop);

}  // namespace assay::node
