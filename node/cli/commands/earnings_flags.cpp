// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/earnings_flags.hpp"

#include <CLI/CLI.hpp>

#include "node/cli/csv.hpp"

namespace assay::node {

EarningsBy EarningsFlags::rows() const {
    for (const EarningsBy one : {EarningsBy::kJob, EarningsBy::kDay})
        if (by == to_text(one)) return one;
    return EarningsBy::kRound;
}

void add_earnings_flags(CLI::App& verb, Context& context, EarningsFlags& flags) {
    allow_csv(verb, context);
    verb.add_option("--by", flags.by, "A row for each round, job, or day of settlements, UTC")
        ->check(CLI::IsMember({"round", "job", "day"}))
        ->capture_default_str();
    add_key_flag(verb, flags);
    add_offline_flag(verb, flags);
}

}  // namespace assay::node
