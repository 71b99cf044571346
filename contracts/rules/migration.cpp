// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/migration.hpp"

#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/dispute/queue.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/market/kept_window.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

/// From 10 to 11: what is open of claims is found by claimant, by the end of its window, and from each claim
/// its games.
void index_claims(State& state) {
    for (const auto& [key, value] : state.scan(table_prefix(Table::kClaim))) {
        const ClaimId id = required(claim_of(key));
        const auto claim = stored<Claim>(value);
        state.put(claim_of_key(claim.node, id), {});
        const auto end = end_of_window(state, id, claim);
        if (end && state.get(deadline_key({*end, DueKind::kWindows, id.job})))
            state.put(window_end_key(id, *end), {});
    }
    for (const auto& [key, value] : state.scan(table_prefix(Table::kGame))) {
        const auto game = stored<Game>(value);
        const ClaimId id = game.claim_id(base::hash_from(ByteView(key).subspan(1, 32)));
        if (state.get(claim_key(id))) state.put(game_about_key(id, game.number), {});
    }
}

/// From 12 to 13: the age of the moments that a slot goes on with stands beside its reveal. Until then it was
/// counted from the rounds in which the slot was accepted before.
void note_shown_ages(State& state) {
    std::vector<std::pair<Bytes, std::uint64_t>> ages;
    state.for_each(table_prefix(Table::kReveal), table_prefix(Table::kReveal), [&](ByteView key, ByteView) {
        const Hash256 job = base::hash_from(key.subspan(1, 32));
        const ByteView place = key.subspan(33);
        const auto round = static_cast<std::uint32_t>(number_in(place.first(4)));
        const auto slot = static_cast<std::uint32_t>(number_in(place.subspan(4, 4)));
        const std::uint32_t steps = required(read_job_terms(state, job)).spec.train.inner_steps;
        std::uint64_t age = 0;
        for (std::uint32_t at = round; !carried_in(state, job, at, slot).nothing(); --at) age += steps;
        if (age > 0) ages.emplace_back(shown_age_key(job, round, slot), age);
        return true;
    });
    for (const auto& [key, age] : ages) store(state, key, age);
}

/// From 13 to 14: the games that a claimant plays are one record, and those that wait stand in the queues of
/// their challengers' owners. Until then one index held all that were open, by claimant, height and name.
void queue_games(State& state) {
    for (const auto& [key, value] : state.scan(table_prefix(Table::kPlayedGames))) {
        constexpr std::size_t kName = 1 + 32 + 8;
        ASSAY_CHECK(key.size() == kName + 32 + 4);
        state.erase(key);
        const Hash256 job = base::hash_from(ByteView(key).subspan(kName, 32));
        const auto number = static_cast<std::uint32_t>(number_in(ByteView(key).subspan(kName + 32)));
        const auto game = required(load<Game>(state, game_key(job, number)));
        if (game.phase == GamePhase::kRunning) {
            note_played(state, job, game);
        } else {
            enqueue_game(state, job, game);
        }
    }
}

/// From 13 to 14: a job that waits for its first round does so for a claim window behind its enlistment, and
/// is due then. Until then it was due at its deadline.
void shorten_first_waits(State& state) {
    for (const Hash256& id : list_active_jobs(state)) {
        JobProgress progress = required(read_job_progress(state, id));
        if (progress.phase != JobPhase::kWaiting || progress.round > 0) continue;
        const JobTerms terms = required(read_job_terms(state, id));
        const std::uint64_t last =
            last_of_first_wait(params_of(state, terms), terms, kept_window(read_market_params(state)));
        if (progress.phase_deadline <= last) continue;
        progress.phase_deadline = last;
        schedule(state, id, progress, last);
        store(state, job_progress_key(id), progress);
    }
}

}  // namespace

std::optional<std::uint32_t> schema_of(const StateView& state) {
    const auto meta = state.get(meta_key());
    if (!meta || meta->size() < sizeof(std::uint32_t)) return std::nullopt;
    const auto schema = base::decode<std::uint32_t>(ByteView(*meta).first(sizeof(std::uint32_t)));
    return schema ? std::optional(*schema) : std::nullopt;
}

base::Result<void, std::string> check_schema(const StateView& state) {
    const auto schema = schema_of(state);
    if (!schema) return base::failed(std::string("the state names no schema"));
    if (*schema >= kOldestSchema && *schema <= kSchemaVersion) return {};
    std::string known = std::to_string(kSchemaVersion);
    if (kOldestSchema < kSchemaVersion) known = std::to_string(kOldestSchema) + " to " + known;
    return base::failed("the state has schema " + std::to_string(*schema) + "; this program reads " + known);
}

void migrate(State& state) {
    if (schema_of(state) == kSchemaVersion) return;
    ASSAY_CHECK(check_schema(state).ok());
    // A step for each schema from the oldest on stands here.
    if (schema_of(state) == 10U) index_claims(state);
    // From 11 to 12: the market between jobs, of which nothing stands yet.
    if (schema_of(state) < 12U) store(state, market_params_key(), MarketParams{});
    if (schema_of(state) < 13U) note_shown_ages(state);
    if (schema_of(state) < 14U) {
        queue_games(state);
        shorten_first_waits(state);
    }
    Meta meta = read_meta(state);
    meta.schema = kSchemaVersion;
    store(state, meta_key(), meta);
}

}  // namespace assay::contracts
