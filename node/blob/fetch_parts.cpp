// SPDX-License-Identifier: Apache-2.0
#include "node/blob/fetch_parts.hpp"

#include <algorithm>

#include "node/blob/parts.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;
using SteadyClock = std::chrono::steady_clock;

/// How long another verifier may give little before it is left for the next one. It is asked again.
constexpr std::chrono::milliseconds kPeerPatience{5'000};

class Attempt {
public:
    Attempt(BlobStore& store, const BlobId& id, const ConnectHolder& connect, const std::stop_token& stop,
            const FetchTerms& terms)
        : store_(store), id_(id), connect_(connect), stop_(stop), terms_(terms) {}

    /// Its part, which it alone can owe us.
    FetchEnd ask_owner(const Endpoint& owner, HolderReport& report) {
        ASSAY_ASSIGN(const auto holder, connect_(owner));
        ASSAY_ASSIGN(const BlobDescription description, holder->describe(id_));
        ASSAY_TRY(check_described(id_, description, terms_));
        ASSAY_TRY(begin(description));
        by_owner_ = true;
        const ChunkRange mine = part_of(partial_->chunks(), *terms_.share);
        return take(*holder, mine, {}, report);
    }
    /// Whatever it has of what is lacking.
    FetchEnd ask_peer(const Endpoint& peer, HolderReport& report) {
        ASSAY_ASSIGN(const auto holder, connect_(peer));
        ASSAY_ASSIGN(const BlobDescription description, holder->describe(id_));
        ASSAY_TRY(check_described(id_, description, terms_));
        // The owner's word on what it owes stands. Of the others each is judged by its own description, until
        // the own part is here.
        const bool other = partial_ && !partial_->is_of(description);
        if (other && (by_owner_ || has_own_part())) {
            return base::fail(ErrorKind::kVerification, "it describes other chunks than the blob has",
                              "another verifier is asked");
        }
        if (!partial_ || other) ASSAY_TRY(begin(description));
        if (!description.held.empty() && description.held.size() != partial_->chunks()) {
            return base::fail(ErrorKind::kVerification, "it has other chunks than the blob",
                              "another verifier is asked");
        }
        patience_from_ = SteadyClock::now();
        const auto end = take(*holder, {0, partial_->chunks()}, description.held, report);
        patience_from_.reset();
        return end;
    }

    [[nodiscard]] bool begun() const { return partial_ != nullptr; }
    [[nodiscard]] bool whole() const { return partial_ && !partial_->next_missing(); }
    [[nodiscard]] bool has_own_part() const {
        // A part may be empty, and how many chunks there are nobody knows by a description alone.
        if (!partial_ || (!by_owner_ && !has_any())) return false;
        const ChunkRange mine = part_of(partial_->chunks(), *terms_.share);
        for (std::uint64_t i = mine.first; i < mine.end; ++i) {
            if (!partial_->has(i)) return false;
        }
        return true;
    }
    FetchEnd finish() { return end_download(store_, id_, *partial_); }

private:
    [[nodiscard]] bool has_any() const {
        for (std::uint64_t i = 0; i < partial_->chunks(); ++i) {
            if (partial_->has(i)) return true;
        }
        return false;
    }
    FetchEnd begin(const BlobDescription& description) {
        partial_.reset();
        auto begun = store_.begin(id_, description, terms_.pin, Showing::kShown);
        if (!begun.ok()) return base::failed(by_store(begun.error()));
        partial_ = std::move(begun).value();
        return {};
    }

    // The runs of chunks in `range` that are lacking here and held there; of an empty `held` all are.
    FetchEnd take(BlobService& holder, const ChunkRange& range, const std::vector<bool>& held,
                  HolderReport& report) {
        const auto wanted = [&](std::uint64_t i) {
            return i < range.end && !partial_->has(i) && (held.empty() || held[i]);
        };
        for (std::uint64_t at = range.first; at < range.end; ++at) {
            if (!wanted(at)) continue;
            Outcome<void> added;
            bool slow = false;
            const auto ended = holder.fetch(id_, at, [&](std::uint64_t index, base::ByteView chunk) {
                if (stop_.stop_requested() || store_.has(id_)) return false;
                added = partial_->add(index, chunk);
                if (added) ++report.chunks;
                slow = is_slow(report.chunks);
                return added.ok() && !slow && wanted(index + 1);
            });
            if (store_.has(id_)) return {};
            if (stop_.stop_requested()) return stopped();
            if (!added.ok()) return base::failed(by_store(added.error()));
            if (!partial_->has(at)) {
                ASSAY_TRY(ended);
                return base::fail(ErrorKind::kUnreachable, "it ended the transfer early",
                                  "another holder is asked");
            }
            if (slow) {
                return base::fail(ErrorKind::kUnreachable,
                                  "it gave " + std::to_string(report.chunks) + " MiB slowly",
                                  "the next holder is asked");
            }
        }
        return {};
    }
    [[nodiscard]] bool is_slow(std::uint64_t chunks) const {
        if (!patience_from_) return false;
        const auto taken = SteadyClock::now() - *patience_from_;
        return taken > std::min(kPeerPatience, terms_.patience) &&
               taken > terms_.pace * static_cast<std::int64_t>(chunks);
    }

    BlobStore& store_;
    const BlobId& id_;
    const ConnectHolder& connect_;
    const std::stop_token& stop_;
    const FetchTerms& terms_;
    std::unique_ptr<PartialBlob> partial_;
    bool by_owner_ = false;  ///< whether `partial_` is what the owner described
    std::optional<SteadyClock::time_point> patience_from_;  ///< of a peer; the owner is left at no pace
};

bool is_our_own(const FetchEnd& end) {
    return !end.ok() && end.error().fault != FetchFault::kNotServed && end.error().fault != FetchFault::kBusy;
}

}  // namespace

FetchEnd fetch_parts(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                     const ConnectHolder& connect, const std::stop_token& stop,
                     std::vector<HolderReport>* reports, const FetchTerms& terms) {
    Attempt attempt(store, id, connect, stop, terms);
    std::string told;  // what others gave that was wrong, or did not give though they had it
    const auto ask = [&](const Endpoint& at, bool owner) -> FetchEnd {
        if (stop.stop_requested()) return stopped();
        HolderReport report{at, 0, std::nullopt};
        FetchEnd end = owner ? attempt.ask_owner(at, report) : attempt.ask_peer(at, report);
        if (!end.ok()) report.failure = end.error();
        if (reports != nullptr) reports->push_back(report);
        if (!end.ok() && !owner && end.error().kind != ErrorKind::kNotFound) {
            told += "; " + at + ": " + end.error().what;
        }
        return end;
    };
    const FetchEnd of_owner = ask(holders.back(), true);
    if (is_our_own(of_owner)) return of_owner;
    for (std::size_t i = 0; i + 1 < holders.size() && !attempt.whole() && !store.has(id); ++i) {
        const FetchEnd of_peer = ask(holders[i], false);
        if (is_our_own(of_peer)) return of_peer;
    }
    if (store.has(id)) return {};
    if (attempt.whole()) return attempt.finish();
    if (!of_owner.ok() && !attempt.has_own_part()) {
        FetchFailure failure = of_owner.error();
        failure.what = holders.back() + ": " + failure.what + told;
        return base::failed(failure);
    }
    return base::failed(FetchFailure(
        {ErrorKind::kNotFound, "parts of blob " + id.hex() + " that others fetch are lacking" + told,
         "they are asked again, and who owes it later"},
        FetchFault::kPartsLacking));
}

}  // namespace assay::node
