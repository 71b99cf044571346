// SPDX-License-Identifier: Apache-2.0
// assay team grant|revoke|list
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/owner_transaction.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"
#include "node/views/team_view.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct TeamFlags {
    std::string member;
    std::string sponsor;  ///< list: whose team; empty: the home's owner key
    std::string per_job, per_day, total;
    std::uint64_t day = 0;
    std::string genesis;
    bool offline = false;
    PassphraseFlags passphrase;
};

Outcome<void> grant(const Context& context, const TeamFlags& flags) {
    contracts::TeamGrant tx;
    ASSAY_ASSIGN(tx.member, key_flag("member", flags.member));
    ASSAY_ASSIGN(tx.caps.per_job, amount_flag("--per-job", flags.per_job));
    ASSAY_ASSIGN(tx.caps.per_day, amount_flag("--per-day", flags.per_day));
    ASSAY_ASSIGN(tx.caps.total, amount_flag("--total", flags.total));
    tx.caps.day = flags.day;
    ASSAY_ASSIGN(const auto sent, submit_as_owner(context, flags.passphrase, flags.genesis, tx, "the grant",
                                                  "see your team with: assay team list"));
    if (context.json()) {
        JsonFields body;
        body("sponsor", sent.owner);
        body("member", tx.member);
        body("per_job", tx.caps.per_job);
        body("per_day", tx.caps.per_day);
        body("day", tx.caps.day);
        body("total", tx.caps.total);
        body("height", sent.reply.height);
        context.print_json("assay.team.grant/v1", body.take());
        return {};
    }
    context.out << "member " << tx.member.brief() << " may take " << base::to_text(tx.caps.per_job)
                << " a job, " << base::to_text(tx.caps.per_day) << " in " << tx.caps.day << " blocks and "
                << base::to_text(tx.caps.total)
                << " in all\nit submits with: assay job submit JOB.toml --sponsor " << sent.owner.hex()
                << '\n';
    return {};
}

Outcome<void> revoke(const Context& context, const TeamFlags& flags) {
    ASSAY_ASSIGN(const base::PublicKey member, key_flag("member", flags.member));
    ASSAY_ASSIGN(const auto sent, submit_as_owner(context, flags.passphrase, flags.genesis,
                                                  contracts::TeamRevoke{.member = member}, "the revocation",
                                                  "see your team with: assay team list"));
    if (context.json()) {
        JsonFields body;
        body("sponsor", sent.owner);
        body("member", member);
        body("height", sent.reply.height);
        context.print_json("assay.team.revoke/v1", body.take());
        return {};
    }
    context.out << "member " << member.brief()
                << " submits nothing more; its jobs go on, and `assay job cancel` ends them\n";
    return {};
}

Outcome<void> list(const Context& context, const TeamFlags& flags) {
    base::PublicKey sponsor;
    if (flags.sponsor.empty()) {
        ASSAY_ASSIGN(const auto info, inspect_key_file(context.home().owner_key()));
        sponsor = info.public_key;
    } else {
        ASSAY_ASSIGN(sponsor, key_flag("--sponsor", flags.sponsor));
    }
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const TeamView team = team_view(*chain.state, sponsor, chain.height + 1);
    if (context.json()) {
        context.print_json("assay.team.list/v1", json_of(team));
        return {};
    }
    TextTable table({{"member"},
                     {"a job", Align::kRight},
                     {"a day", Align::kRight},
                     {"day", Align::kRight},
                     {"in all", Align::kRight},
                     {"taken today", Align::kRight},
                     {"taken", Align::kRight},
                     {"state"}});
    for (const TeamMemberView& member : team.members)
        table.row({member.member.hex(), base::to_text(member.caps.per_job),
                   base::to_text(member.caps.per_day), std::to_string(member.caps.day),
                   base::to_text(member.caps.total), base::to_text(member.taken_in_day),
                   base::to_text(member.taken), member.revoked ? "revoked" : "member"});
    table.print(context.out);
    return {};
}

}  // namespace

void add_team_commands(CLI::App& app, Context& context) {
    CLI::App& team = noun(app, "team", "Who may submit jobs that your account pays, and up to what");
    const auto flags = std::make_shared<TeamFlags>();
    CLI::App& granting = verb(team, "grant", "Make a key a member with hard caps, or change its caps",
                              context, [&context, flags] { return grant(context, *flags); });
    CLI::App& revoking = verb(team, "revoke", "End a membership; the member's jobs go on", context,
                              [&context, flags] { return revoke(context, *flags); });
    CLI::App& listing = verb(team, "list", "Members, caps, and what was taken of them", context,
                             [&context, flags] { return list(context, *flags); });
    for (CLI::App* command : {&granting, &revoking}) {
        command->add_option("member", flags->member, "The member's owner key")->required();
        command->add_option("--genesis", flags->genesis, "The ledger's genesis file; needed once per home");
        add_passphrase_flags(*command, flags->passphrase);
    }
    granting.add_option("--per-job", flags->per_job, "The most for one job: budget, link bond, fee, top-ups")
        ->required();
    granting.add_option("--per-day", flags->per_day, "The most in any --day blocks in a row")->required();
    granting.add_option("--day", flags->day, "Blocks of a day")->required()->check(CLI::PositiveNumber);
    granting.add_option("--total", flags->total, "The most in all, less what comes back from ended jobs")
        ->required();
    listing.add_option("--sponsor", flags->sponsor, "Whose team; default: the home's owner key");
    listing.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
}

}  // namespace assay::node
