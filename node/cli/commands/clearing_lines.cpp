// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/clearing_lines.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <ostream>

namespace assay::node {

void add_clearing_flags(CLI::App& verb, ClearingFlags& flags) {
    verb.add_option("--epoch", flags.wanted.epoch, "The clearing of this epoch alone")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
    verb.add_option("--genesis", flags.wanted.genesis,
                    "Genesis file, kept in the home: past clearings are found by executing the blocks again");
    verb.add_flag("--no-clearings", flags.none, "Only what stands now: no block is executed again");
}

base::Outcome<bool> find_clearings(const Context& context, const ChainSource& chain,
                                   const ClearingFlags& flags,
                                   const std::function<void(const ClearedMarket&)>& visit) {
    const bool was_asked = flags.wanted.epoch != 0 || !flags.wanted.genesis.empty();
    // Not CLI11's excludes(): it lists several in the order of their addresses, another one in each run.
    if (flags.none && was_asked)
        return base::fail(base::ErrorKind::kUsage,
                          "--no-clearings leaves out what --epoch and --genesis ask for",
                          "give one or the others");
    if (flags.none) return false;
    auto found = visit_clearings(context, chain, flags.wanted, visit);
    if (found.ok()) return true;
    if (was_asked || found.error().kind != base::ErrorKind::kNotFound) return base::failed(found.error());
    context.err << "Past clearings are left out: " << found.error().what << "; " << found.error().fix << '\n';
    return false;
}

}  // namespace assay::node
