// SPDX-License-Identifier: Apache-2.0
// assay miner list|status|why, assay verifier status
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "contracts/program/names.hpp"
#include "contracts/rules/job/costs.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/settlement_lines.hpp"
#include "node/cli/table.hpp"

namespace assay::node {
namespace {

using base::Outcome;
using Json = nlohmann::ordered_json;

struct PartyFlags {
    std::string key;  ///< node key or a beginning; empty: the home's node key
    bool offline = false;
};

StateFrom from(const PartyFlags& flags) { return flags.offline ? StateFrom::kFiles : StateFrom::kNode; }

Outcome<base::PublicKey> own_node_key(const Context& context) {
    ASSAY_ASSIGN(const auto info, inspect_key_file(context.home().node_key()));
    return info.public_key;
}

Outcome<base::PublicKey> miner_of(const Context& context, const contracts::StateView& state,
                                  const PartyFlags& flags) {
    if (!flags.key.empty()) return find_miner(state, flags.key);
    return own_node_key(context);
}

base::Failed<base::Error> not_registered(const base::PublicKey& key, const std::string& role) {
    return base::fail(base::ErrorKind::kNotFound, key.brief() + " is not a registered " + role,
                      "start it once with: assay " + role + " run");
}

/// "gpt2 f32 32-63": family, profile, work units of a slot.
std::string class_name(const contracts::WorkClass& kind) {
    const std::uint64_t first = std::uint64_t{1} << (std::max<int>(kind.scale, 1) - 1);
    return std::string(program::to_text(kind.family)) + " " + std::string(program::to_text(kind.profile)) +
           " " + std::to_string(first) + "-" + std::to_string(2 * first - 1);
}

/// Work found right since it last lost its standing, of all classes.
std::uint64_t verified_work(const contracts::StateView& state, const base::PublicKey& key) {
    std::uint64_t sum = 0;
    for (const auto& [kind, work] : contracts::list_standing(state, key)) sum += work;
    return sum;
}

/// What each job that is open for asks can lock of this miner's stake.
std::vector<std::pair<contracts::Job, contracts::MinerLock>> open_locks(const contracts::StateView& state,
                                                                        const contracts::Stake& stake) {
    std::vector<std::pair<contracts::Job, contracts::MinerLock>> found;
    const base::Amount whole = stake.free.plus(stake.bonded).value_or(stake.free);
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        auto job = contracts::read_job(state, id);
        if (!job || job->phase != contracts::JobPhase::kAskCommit) continue;
        auto lock = contracts::most_locked(contracts::params_of(state, *job), job->spec, job->slot_work);
        if (!lock) continue;
        lock->round = std::min(lock->round, whole);
        found.emplace_back(std::move(*job), *lock);
    }
    return found;
}

Json miner_json(const contracts::StateView& state, const base::PublicKey& key,
                const contracts::Miner& miner) {
    const contracts::Stake stake = contracts::read_stake(state, key);
    Json body;
    body["miner"] = key.hex();
    body["owner"] = miner.owner.hex();
    body["endpoint"] = miner.endpoint;
    Json standing = Json::array();
    for (const auto& [kind, work] : contracts::list_standing(state, key))
        standing.push_back(Json{{"class", class_name(kind)}, {"verified_work", work}});
    body["standing"] = standing;
    body["verified_work"] = verified_work(state, key);
    body["stake"] = std::to_string(stake.free.units());
    body["bonded"] = std::to_string(stake.bonded.units());
    body["earned"] = std::to_string(miner.earned.units());
    body["forfeited"] = std::to_string(miner.forfeited.units());
    return body;
}

Outcome<void> list_miners(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, from(flags)));
    const auto miners = contracts::list_miners(*state);
    if (context.json()) {
        Json list = Json::array();
        for (const auto& [key, miner] : miners) list.push_back(miner_json(*state, key, miner));
        Json body;
        body["miners"] = list;
        context.print_json("assay.miner.list/v1", body);
        return {};
    }
    Table table({{"miner"},
                 {"endpoint"},
                 {"verified work", Align::kRight},
                 {"earned", Align::kRight},
                 {"forfeited", Align::kRight}});
    for (const auto& [key, miner] : miners)
        table.row({key.brief(), miner.endpoint, std::to_string(verified_work(*state, key)),
                   base::to_text(miner.earned), base::to_text(miner.forfeited)});
    table.print(context.out);
    return {};
}

Outcome<void> show_miner(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, from(flags)));
    ASSAY_ASSIGN(const auto key, miner_of(context, *state, flags));
    const auto miner = contracts::read_miner(*state, key);
    if (!miner) return not_registered(key, "miner");
    const contracts::Stake stake = contracts::read_stake(*state, key);
    if (context.json()) {
        Json body = miner_json(*state, key, *miner);
        Json open = Json::array();
        for (const auto& [job, lock] : open_locks(*state, stake))
            open.push_back(Json{{"job", job.id.hex()},
                                {"lock_slot", std::to_string(lock.slot.units())},
                                {"lock_job", std::to_string(lock.round.units())}});
        body["open_jobs"] = open;
        context.print_json("assay.miner.status/v1", body);
        return {};
    }
    std::vector<std::pair<std::string, std::string>> fields = {
        {"miner", key.hex()}, {"owner", miner->owner.hex()}, {"endpoint", miner->endpoint}};
    for (const auto& [kind, work] : contracts::list_standing(*state, key))
        fields.emplace_back("verified work", std::to_string(work) + " units of " + class_name(kind));
    fields.emplace_back("free stake", base::to_text(stake.free));
    fields.emplace_back("bonded", base::to_text(stake.bonded));
    fields.emplace_back("earned", base::to_text(miner->earned));
    fields.emplace_back("forfeited", base::to_text(miner->forfeited));
    for (const auto& [job, lock] : open_locks(*state, stake))
        fields.emplace_back("open job " + job.id.brief(), "can lock up to " + base::to_text(lock.slot) +
                                                              " a slot, " + base::to_text(lock.round) +
                                                              " in all");
    print_fields(context.out, fields);
    return {};
}

Outcome<void> why_unpaid(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, from(flags)));
    LineFilter filter;
    ASSAY_ASSIGN(filter.node, miner_of(context, *state, flags));
    if (!contracts::read_miner(*state, filter.node)) return not_registered(filter.node, "miner");
    filter.unpaid_only = true;
    print_lines(context, "assay.miner.why/v1", find_lines(*state, filter));
    return {};
}

Outcome<void> show_verifier(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, from(flags)));
    base::PublicKey key;
    if (flags.key.empty()) {
        ASSAY_ASSIGN(key, own_node_key(context));
    } else if (const auto given = base::parse_public_key(flags.key)) {
        key = *given;
    } else {
        return base::fail(base::ErrorKind::kUsage, "'" + flags.key + "' is not a public key",
                          "a key is 64 hexadecimal digits in lower case");
    }
    const auto verifier = contracts::read_verifier(*state, key);
    if (!verifier) return not_registered(key, "verifier");
    if (context.json()) {
        Json body;
        body["verifier"] = key.hex();
        body["owner"] = verifier->owner.hex();
        body["endpoint"] = verifier->endpoint;
        body["audited_units"] = verifier->audited_units;
        body["earned"] = std::to_string(verifier->earned.units());
        body["penalised"] = std::to_string(verifier->penalised.units());
        context.print_json("assay.verifier.status/v1", body);
        return {};
    }
    print_fields(context.out, {{"verifier", key.hex()},
                               {"owner", verifier->owner.hex()},
                               {"endpoint", verifier->endpoint},
                               {"audited units", std::to_string(verifier->audited_units)},
                               {"earned", base::to_text(verifier->earned)},
                               {"penalised", base::to_text(verifier->penalised)}});
    return {};
}

}  // namespace

void add_miner_queries(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<PartyFlags>();
    CLI::App& miner = noun(app, "miner", "Work for pay: train slots of jobs");
    CLI::App& listed = verb(miner, "list", "Every registered miner", context,
                            [&context, flags] { return list_miners(context, *flags); });
    CLI::App& shown = verb(miner, "status", "Stake, record and earnings of a miner", context,
                           [&context, flags] { return show_miner(context, *flags); });
    CLI::App& why = verb(miner, "why", "Every round in which it was not paid or lost something, and why",
                         context, [&context, flags] { return why_unpaid(context, *flags); });
    CLI::App& verifier = noun(app, "verifier", "Check for pay: recompute what was drawn");
    CLI::App& checked = verb(verifier, "status", "Record and earnings of a verifier", context,
                             [&context, flags] { return show_verifier(context, *flags); });
    for (CLI::App* command : {&listed, &shown, &why, &checked})
        command->add_flag("--offline", flags->offline,
                          "Read the home's ledger files instead of asking a node");
    for (CLI::App* command : {&shown, &why, &checked})
        command->add_option("--key", flags->key, "Node key; default: the home's");
}

}  // namespace assay::node
