// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/embedded.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <utility>

#include "ledger/store/header_time.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {
/// How often a proposer that waits for its clock looks at it: it may be put right.
constexpr std::uint64_t kLookAtClockMs = 1'000;

/// "2026-12-01 12:30:00 UTC".
std::string date_text(std::uint64_t unix_ms) {
    const auto seconds = static_cast<std::time_t>(unix_ms / 1'000);
    std::tm parts{};
    std::array<char, 64> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        return std::to_string(unix_ms) + " ms";
    return text.data();
}

Outcome<Answer> refusal(contracts::Reason reason) { return Answer(base::failed(reason)); }

// At a start there is nothing to measure a jump by but the last header.
Outcome<void> check_clock(const Chain& chain, const EngineParts& parts) {
    const std::uint64_t wall = parts.clock.wall_ms();
    const std::uint64_t tip = chain.time_ms();
    if (chain.height() == 0 || wall <= tip || wall - tip <= kFarClockMs) return {};
    if (parts.accepts_far_clock) return {};
    constexpr std::uint64_t kDayMs = 24 * 3'600'000;
    return fail(ErrorKind::kUsage,
                "this machine's clock, " + date_text(wall) + ", is " + std::to_string((wall - tip) / kDayMs) +
                    " days after block " + std::to_string(chain.height()) + ", " + date_text(tip) +
                    ": a block of that time, if it is wrong, stops the chain until then",
                "set this machine's clock right; if it is right, start the node once with --accept-clock");
}
}  // namespace

Outcome<std::unique_ptr<LedgerEngine>> EmbeddedEngine::open(const EngineParts& parts) {
    ChainOptions options;
    options.log = parts.log;
    ASSAY_ASSIGN(auto chain, Chain::open(parts.disk, parts.provider, parts.machine, parts.home, options));
    // It orders alone: opening the chain refused any other set.
    if (chain->sequencer() != parts.key.public_key()) {
        return fail(ErrorKind::kKey,
                    "this key is not the sequencer's of the chain '" + chain->genesis().chain_id + "'",
                    "give the key " + chain->sequencer().brief() + "…, which the genesis file names");
    }
    ASSAY_TRY(check_clock(*chain, parts));
    return std::unique_ptr<LedgerEngine>(new EmbeddedEngine(std::move(chain), parts));
}

EmbeddedEngine::EmbeddedEngine(std::unique_ptr<Chain> chain, const EngineParts& parts)
    : EmbeddedEngine(*chain, parts.key, parts.clock, {.block_interval_ms = parts.block_interval_ms}) {
    own_chain_ = std::move(chain);
}

EmbeddedEngine::EmbeddedEngine(Chain& chain, const base::SecretKey& key, EngineClock& clock,
                               const EmbeddedOptions& options)
    : chain_(chain), key_(key), clock_(clock), options_(options), mempool_(options.mempool) {
    ASSAY_CHECK(key.public_key() == chain.sequencer());
    options_.block_interval_ms = std::max(options_.block_interval_ms, chain.genesis().block_interval_ms);
}

void EmbeddedEngine::submit(Bytes transaction, Done done) {
    if (chain_.stopped()) {
        return done(fail(ErrorKind::kFailure, "the ledger stopped after an earlier failure",
                         "start the node again: it keeps every acknowledged block"));
    }
    const auto checked = chain_.application().check(transaction);
    if (!checked) return done(base::failed(checked.error()));
    if (!*checked) return done(refusal(checked->error()));
    const Admission& admission = **checked;
    const Hash256 id = admission.info.id;
    // A client that lost the answer asks again: it gets the same receipt, not a complaint about the nonce.
    if (admission.place) {
        auto receipt = receipt_of(*admission.place, id);
        if (!receipt) return done(base::failed(receipt.error()));
        return done(Answer(*std::move(receipt)));
    }
    if (auto added = mempool_.add(admission.info, admission.next_nonce, std::move(transaction)); !added)
        return done(refusal(added.error()));
    waiting_.insert_or_assign(id, std::move(done));
}

bool EmbeddedEngine::wanted() const {
    return mempool_.size() > 0 || chain_.application().next_deadline().has_value();
}

Outcome<std::optional<std::uint64_t>> EmbeddedEngine::tick() {
    using Wait = std::optional<std::uint64_t>;
    if (!wanted()) return Wait{};
    const std::uint64_t now = clock_.monotonic_ms();
    if (last_block_ms_ && now < *last_block_ms_ + options_.block_interval_ms)
        return Wait{*last_block_ms_ + options_.block_interval_ms - now};
    last_look_ = believed_clock_.look(chain_.time_ms());
    if (last_look_.jump_ms > 0) return Wait{kLookAtClockMs};
    if (const std::uint64_t ahead = ahead_of_clock(last_look_.wall_ms); ahead > kProposedAheadMs)
        return Wait{std::min<std::uint64_t>(ahead - kProposedAheadMs, kLookAtClockMs)};
    last_block_ms_ = now;
    ASSAY_TRY(make_block(last_look_.wall_ms));
    return wanted() ? Wait{options_.block_interval_ms} : Wait{};
}

std::uint64_t EmbeddedEngine::ahead_of_clock(std::uint64_t wall_ms) const {
    return next_header_time(chain_.genesis(), chain_.time_ms(), wall_ms) - wall_ms;
}

std::string EmbeddedEngine::doubted_clock() const {
    const std::string what = "this machine's clock is not believed: it shows " +
                             date_text(last_look_.wall_ms) + ", and has jumped " +
                             std::to_string(last_look_.jump_ms / 1'000) +
                             " s ahead of what passed by its monotonic clock; no block is made until it is "
                             "right again, or ";
    if (last_look_.is_far()) return what + "the node is started again with --accept-clock";
    return what + "has stayed so for " + std::to_string((last_look_.left_ms + 999) / 1'000) + " s more";
}

std::string EmbeddedEngine::held_up() const {
    if (wanted() && last_look_.jump_ms > 0) return doubted_clock();
    const std::uint64_t wall = clock_.wall_ms();
    const bool ahead = chain_.time_ms() > wall && chain_.time_ms() - wall > kProposedAheadMs;
    if (!wanted() || !ahead)
        return not_stored_.empty() ? std::string() : "the last block is not stored: " + not_stored_;
    return "no block is made: the time of block " + std::to_string(chain_.height()) + ", " +
           std::to_string(chain_.time_ms()) + " ms, is " + std::to_string(chain_.time_ms() - wall) +
           " ms ahead of this machine's clock, " + std::to_string(wall) + " ms";
}

Outcome<void> EmbeddedEngine::make_block(std::uint64_t wall_ms) {
    const std::vector<Bytes> candidates =
        mempool_.first(options_.max_block_transactions, options_.max_block_bytes);
    const EmptyBlock empty = chain_.application().next_deadline() ? EmptyBlock::kMake : EmptyBlock::kSkip;
    const std::uint64_t time = next_header_time(chain_.genesis(), chain_.time_ms(), wall_ms);
    auto appended = chain_.append(candidates, empty, time, key_, {options_.max_block_bytes});
    if (!appended) {
        // Whatever the cause, the submitters hear of it; a disk that is too full is not the end of the node.
        fail_first(candidates.size(), appended.error());
        not_stored_ = appended.error().what;
        if (!chain_.stopped()) return {};
        refuse_all(appended.error());
        return base::failed(appended.error());
    }
    // What found no room stays in front.
    mempool_.drop(appended->decided);
    for (const TransactionResult& result : appended->refused)
        answer(result.id, refusal(static_cast<contracts::Reason>(result.code)));
    if (!appended->block) return {};
    not_stored_.clear();
    // A copy: a subscriber may unsubscribe itself.
    const auto subscribers = subscribers_;
    for (const auto& [id, subscriber] : subscribers) subscriber(*appended->block);
    const auto& results = appended->block->results.transactions;
    for (std::size_t i = 0; i < results.size(); ++i)
        answer(results[i].id, Answer(receipt_for(*appended->block, static_cast<std::uint32_t>(i))));
    return {};
}

Receipt EmbeddedEngine::receipt_for(const Committed& block, std::uint32_t index) const {
    const TransactionResult& result = block.results.transactions[index];
    Receipt receipt{result.id, block.header.height, index, result.code, block.hash, {}};
    sign_receipt(receipt, chain_.genesis().chain_id, key_);
    return receipt;
}

Outcome<Receipt> EmbeddedEngine::receipt_of(const TransactionPlace& place, const Hash256& id) const {
    ASSAY_ASSIGN(const Block block, chain_.block(place.height));
    Receipt receipt{id, place.height, place.index, place.code, block.header.hash(), {}};
    sign_receipt(receipt, chain_.genesis().chain_id, key_);
    return receipt;
}

void EmbeddedEngine::answer(const Hash256& id, Outcome<Answer> outcome) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    const Done done = std::move(found->second);
    waiting_.erase(found);
    done(std::move(outcome));
}

void EmbeddedEngine::fail_first(std::size_t count, const base::Error& error) {
    for (const Hash256& id : mempool_.drop(count)) answer(id, base::failed(error));
}

void EmbeddedEngine::refuse_all(const base::Error& error) {
    auto waiting = std::exchange(waiting_, {});
    for (auto& [id, done] : waiting) done(base::failed(error));
}

std::uint64_t EmbeddedEngine::subscribe(Subscriber subscriber) {
    subscribers_.emplace(next_subscriber_, std::move(subscriber));
    return next_subscriber_++;
}

void EmbeddedEngine::unsubscribe(std::uint64_t id) { subscribers_.erase(id); }

}  // namespace assay::ledger
