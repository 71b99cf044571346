// SPDX-License-Identifier: Apache-2.0
#include "node/roles/following_role.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/codec.hpp"
#include "contracts/rules/migration.hpp"
#include "ledger/store/block.hpp"
#include "node/roles/unsound_notes.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kTickNs = 500'000'000;
}

FollowingRole::FollowingRole(const RoleParts& parts)
    : parts_(parts),
      receipts_(parts.seams.disk, parts.genesis.chain_id, parts.genesis.validators),
      sender_(
          parts.seams.ledger, parts.seams.log, requests_, parts.node_key, parts.genesis.chain_id,
          [this](const base::Hash256& transaction, base::ByteView receipt) {
              const auto block = receipts_.block_of(transaction, receipt);
              if (block) keep_receipt(receipt);
              return block;
          },
          [this](const RefusedOffer& offer) { refused(offer); }) {}

// Evidence for later: no work depends on it, so a disk that does not take it stops nothing.
void FollowingRole::keep_receipt(base::ByteView encoded) {
    const auto kept = receipts_.keep(encoded);
    if (!kept) log().warn("the receipt is not kept: " + kept.error().what);
}

void FollowingRole::step_all(std::span<const RoleEvent> events) {
    bool plans = false;
    for (const RoleEvent& event : events) plans = take(event) || plans;
    if (!plans || failed_) return;
    // Acting on an old state would offer what is long done.
    if (height() < parts_.start_height) return;
    // An older program's records are nobody's to read until the ledger's next block migrates them.
    if (contracts::schema_of(state()) != contracts::kSchemaVersion) return;
    if (!std::exchange(plans_, true)) read_unsound_notes();
    forget_doubted();
    if (failed_) return;
    sender_.begin(height());
    plan();
    // The process goes on to the end of this call: what rests on a note that was not written must not be
    // sent.
    if (!failed_) sender_.pump(state(), height());
}

bool FollowingRole::take(const RoleEvent& event) {
    if (std::holds_alternative<Started>(event)) {
        start();
        return false;
    }
    if (std::holds_alternative<StopRequested>(event)) {
        parts_.finish(std::nullopt);
        return false;
    }
    if (const auto* block = std::get_if<BlockSeen>(&event)) follow(*block);
    if (const auto* done = std::get_if<SubmitDone>(&event)) requests_.answer(*done);
    if (const auto* asked = std::get_if<BlobAsked>(&event)) requests_.answer(*asked);
    if (const auto* blob = std::get_if<BlobArriving>(&event)) requests_.answer(*blob);
    if (const auto* blob = std::get_if<BlobFetched>(&event)) requests_.answer(*blob);
    if (const auto* frame = std::get_if<WorkerAnswered>(&event)) {
        requests_.answer(*frame);
        if (frame->spoiled) find_unsound(frame->device);
    }
    if (const auto* unsound = std::get_if<DeviceUnsound>(&event)) {
        find_unsound(unsound->device);
        return false;  // where it is the last device, the end follows
    }
    if (const auto* lost = std::get_if<LedgerLost>(&event)) log().warn("ledger lost: " + lost->why.what);
    if (std::holds_alternative<TimerFired>(event)) tick();
    return true;
}

void FollowingRole::start() {
    auto follower = parts_.state_store != nullptr ? Follower::open(parts_.genesis, *parts_.state_store)
                                                  : Follower::create(parts_.genesis);
    if (!follower.ok()) return parts_.finish(follower.error());
    follower_.emplace(std::move(follower).value());
    state_.emplace(
        follower_->state(), [this](base::ByteView key) { return follower_->history(key); },
        [this](const std::string& what) { log().warn(what + ": this home's history is damaged"); });
    log_store_notes();
    if (height() > parts_.start_height) {
        return parts_.finish(base::Error{
            base::ErrorKind::kVerification,
            "the ledger node has " + std::to_string(parts_.start_height) +
                " blocks, and this home has verified " + std::to_string(height()),
            "ask the ledger's operator what became of the others; to follow this ledger from its first "
            "block, move the folder state of this home away and start again"});
    }
    parts_.seams.ledger.subscribe(height() + 1);
    (void)parts_.seams.timers.at(parts_.seams.clock.mono_ns() + kTickNs);
}

// The note comes first: before the first plan nothing is forgotten, since the state that says what counts may
// be an old one, and this process may be about to end.
void FollowingRole::find_unsound(const std::string& device) {
    if (!unsound_.insert(device).second) return;
    doubted_.insert(device);
    if (auto noted = note_unsound(parts_.seams.disk, device); !noted.ok())
        return fail_with(OwnFailure::kNotes, noted.error());
    if (plans_) forget_doubted();
}

void FollowingRole::read_unsound_notes() {
    const auto noted = noted_unsound(parts_.seams.disk);
    if (!noted.ok()) return fail_with(OwnFailure::kNotes, noted.error());
    doubted_.insert(noted->begin(), noted->end());
}

void FollowingRole::forget_doubted() {
    for (const std::string& device : std::exchange(doubted_, {})) {
        if (!forget_work_of(device)) return;
        if (auto removed = remove_unsound_note(parts_.seams.disk, device); !removed.ok())
            return fail_with(OwnFailure::kNotes, removed.error());
    }
}

void FollowingRole::log_store_notes() {
    for (const std::string& note : follower_->take_notes()) log().warn(note);
}

RoleTime FollowingRole::time() const {
    constexpr std::uint64_t kNanosecondsInMs = 1'000'000;
    const std::int64_t wall = parts_.seams.clock.wall_ms();
    return {parts_.seams.clock.mono_ns() / kNanosecondsInMs, wall > 0 ? static_cast<std::uint64_t>(wall) : 0};
}

bool FollowingRole::may_follow(std::uint64_t block, std::uint64_t time_ms) {
    const auto not_yet = live_.judge(block, time_ms, time());
    if (!not_yet) {
        if (std::exchange(held_, 0) == block)
            log().info("block " + std::to_string(block) + " is followed now");
        return true;
    }
    if (std::exchange(held_, block) != block)
        log().error(
            {base::ErrorKind::kVerification, not_yet->why,
             "compare this machine's clock with another; the block is asked for again until the clock has "
             "come near, and nothing is done meanwhile"});
    parts_.seams.ledger.subscribe_again(block, not_yet->ask_in_ms);
    return false;
}

void FollowingRole::follow(const BlockSeen& event) {
    if (event.height <= height()) return;
    // They were under way when a block before them was put off, and come again behind it.
    if (held_ == height() + 1 && event.height > held_) return;
    ledger::Header header;
    base::Decoder decoder(event.block);
    decoder(header);
    // A block that does not decode is the follower's to refuse.
    if (!decoder.error() && !may_follow(event.height, header.time_ms)) return;
    auto events = follower_->apply(event.block);
    log_store_notes();
    if (!events.ok()) return parts_.finish(events.error());
    live_.followed(header.time_ms, time());
    for (const contracts::Event& seen : *events) observe(seen);
}

std::string_view to_text(OwnFailure why) {
    switch (why) {
        case OwnFailure::kNotes: return "this role's own files";
        case OwnFailure::kUnsound: return "what computes for it";
    }
    return "unknown";
}

void FollowingRole::fail_with(OwnFailure why, const base::Error& error) {
    failed_ = true;
    log().error("the role ends for " + std::string(to_text(why)));
    parts_.finish(error);
}

void FollowingRole::tick() {
    if (const auto line = store_watch_.look(parts_.files.percent_full())) log().warn(*line);
    sender_.tick();
    (void)parts_.seams.timers.at(parts_.seams.clock.mono_ns() + kTickNs);
}

void FollowingRole::refused(const RefusedOffer& offer) {
    // Others would look for this node's blobs where it is not: somebody must act.
    if (offer.type == contracts::TxType::kEndpointUpdate && offer.retry != contracts::Retry::kSoon) {
        const base::Error error =
            rejected(offer.refusal, "'" + offer.name + "'", "see docs/reference/reasons.md");
        return log().error(
            {error.kind, error.what + " This node cannot work until that is put right.", error.fix});
    }
    const std::string text = offer.name + " refused: " + describe(offer.refusal);
    // One offer of many, and the plan goes on without it.
    if (offer.retry == contracts::Retry::kNever) return log().info(text + " It is dropped.");
    if (offer.retry == contracts::Retry::kSoon) return log().debug(text);
    log().warn(text + " It is tried again.");
}

namespace {
// Where the ledger says this node key serves its blobs; nothing while it is not registered for the role.
std::optional<std::string> registered_endpoint(const contracts::StateView& state, WorkRole role,
                                               const base::PublicKey& node) {
    if (role == WorkRole::kMiner) {
        const auto miner = contracts::read_miner(state, node);
        return miner ? std::optional(miner->endpoint) : std::nullopt;
    }
    const auto verifier = contracts::read_verifier(state, node);
    return verifier ? std::optional(verifier->endpoint) : std::nullopt;
}
}  // namespace

bool FollowingRole::registered(WorkRole role) {
    const auto endpoint = registered_endpoint(state(), role, me());
    if (!endpoint) return false;
    if (*endpoint != parts_.endpoint) {
        offer("update endpoint", contracts::EndpointUpdate{.endpoint = parts_.endpoint});
    }
    return true;
}

void FollowingRole::plan_jobs(const std::function<void(const contracts::Job&)>& bidding,
                              const std::function<void(const contracts::Job&)>& round) {
    std::vector<contracts::Job> offered;
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        auto job = contracts::read_job(state(), id);
        if (job->phase == contracts::JobPhase::kRounds) {
            round(*job);
        } else if (!contracts::is_over(job->phase)) {
            offered.push_back(std::move(*job));
        }
    }
    for (const contracts::Job& job : offered) bidding(job);
}

base::Hash256 FollowingRole::random_hash() {
    base::Hash256 hash;
    parts_.seams.random.fill(hash.bytes);
    return hash;
}

std::string round_name(const base::Hash256& job, std::uint32_t round) {
    return "job " + job.brief() + " round " + std::to_string(round);
}

bool takes_part(const contracts::Job& job, const base::PublicKey& node) {
    return std::any_of(job.roster.begin(), job.roster.end(),
                       [&](const auto& entry) { return entry.node == node && !entry.dropped; }) ||
           std::any_of(job.verifiers.begin(), job.verifiers.end(),
                       [&](const auto& entry) { return entry.node == node; });
}

std::vector<Endpoint> holders_of_base(const contracts::StateView& state, const contracts::Job& job) {
    std::vector<Endpoint> holders;
    for (const contracts::EnlistedVerifier& enlisted : job.verifiers) {
        if (const auto verifier = contracts::read_verifier(state, enlisted.node)) {
            holders.push_back(verifier->endpoint);
        }
    }
    holders.push_back(job.buyer_endpoint);
    return holders;
}

std::vector<Endpoint> holders_of_stored(const contracts::StateView& state, const contracts::Job& job,
                                        const contracts::SlotRound& slot, const base::PublicKey& me) {
    std::vector<base::PublicKey> nodes = slot.verifiers;
    for (const contracts::EnlistedVerifier& enlisted : job.verifiers) {
        if (std::find(nodes.begin(), nodes.end(), enlisted.node) == nodes.end())
            nodes.push_back(enlisted.node);
    }
    std::vector<Endpoint> holders;
    for (const base::PublicKey& node : nodes) {
        const auto verifier = contracts::read_verifier(state, node);
        if (verifier && node != me) holders.push_back(verifier->endpoint);
    }
    const auto miner = contracts::read_miner(state, slot.miner);
    if (miner && slot.miner != me) holders.push_back(miner->endpoint);
    return holders;
}

std::vector<Endpoint> holders_of_carried(const contracts::StateView& state, const contracts::Job& job,
                                         std::uint32_t slot, const base::PublicKey& me) {
    const contracts::CarriedIn carried = contracts::carried_in(state, job.id, job.round, slot);
    if (carried.nothing()) return {};
    const auto before = contracts::read_slot(state, job.id, job.round - 1, slot);
    return before ? holders_of_stored(state, job, *before, me) : std::vector<Endpoint>{};
}

}  // namespace assay::node
