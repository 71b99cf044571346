// SPDX-License-Identifier: Apache-2.0
#include "node/blob/fetch.hpp"

#include "node/blob/fetch_parts.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

// The store refuses false bytes, which is their holder's fault, and what it cannot keep, which is its own.
FetchFailure by_store(const base::Error& error) {
    const bool false_bytes = error.kind == ErrorKind::kVerification;
    return {error, false_bytes ? FetchFault::kNotServed : FetchFault::kOwnStore};
}

base::Failed<FetchFailure> stopped() {
    return base::failed(
        FetchFailure({ErrorKind::kInterrupted, "the transfer was stopped", {}}, FetchFault::kStopped));
}

Outcome<void> check_described(const BlobId& id, const BlobDescription& description, const FetchTerms& terms) {
    const bool other = terms.size && description.size != *terms.size;
    const bool more = terms.most && description.size > *terms.most;
    if (!other && !more) return check_description(description, id);
    return fail(ErrorKind::kVerification,
                "blob " + id.hex() + " is said to have " + std::to_string(description.size) +
                    " bytes, and what it is wanted for has " +
                    (other ? std::to_string(*terms.size) : "at most " + std::to_string(*terms.most)),
                "whoever named the blob named the wrong one, or this holder lies");
}

FetchEnd end_download(const BlobStore& store, const BlobId& id, PartialBlob& download) {
    if (store.has(id)) return {};
    if (download.next_missing()) {
        return fail(ErrorKind::kUnreachable,
                    "blob " + id.hex() + " came from elsewhere and was dropped before it could be read",
                    "fetch it again; the store needs more room");
    }
    // Every chunk was right when it came: what fails from here on is our own disk.
    const auto finished = download.finish();
    if (finished.ok()) return {};
    return base::failed(FetchFailure(finished.error(), FetchFault::kOwnStore));
}

namespace {

using SteadyClock = std::chrono::steady_clock;

/// How long a holder may take.
class Pace {
public:
    explicit Pace(const FetchTerms& terms) : terms_(terms), began_(SteadyClock::now()) {}
    [[nodiscard]] bool too_slow(std::uint64_t chunks) const {
        const auto taken = SteadyClock::now() - began_;
        return taken > terms_.patience && taken > terms_.pace * static_cast<std::int64_t>(chunks);
    }

private:
    const FetchTerms& terms_;
    SteadyClock::time_point began_;
};

/// Whether a slow holder is worth waiting for.
enum class Others : bool { kLeft, kNone };

base::Failed<base::Error> slow(const HolderReport& report) {
    return fail(ErrorKind::kUnreachable,
                report.holder + " gave " + std::to_string(report.chunks) + " MiB slowly",
                "the next holder is asked");
}

// What one holder gives towards the blob. Success only when nothing is missing any more, or when the blob
// came from elsewhere meanwhile.
FetchEnd take_from(BlobStore& store, const BlobId& id, BlobService& holder, const FetchTerms& terms,
                   Others others, std::unique_ptr<PartialBlob>& partial, const std::stop_token& stop,
                   HolderReport& report) {
    const Pace pace(terms);
    // Each holder is judged by its own description: a false one would make all that is right look wrong.
    ASSAY_ASSIGN(const BlobDescription description, holder.describe(id));
    ASSAY_TRY(check_described(id, description, terms));
    if (!partial || !partial->is_of(description)) {
        partial.reset();  // what is on disk counts as far as it has these hashes
        auto begun = store.begin(id, description, terms.pin);
        if (!begun.ok()) return base::failed(by_store(begun.error()));
        partial = std::move(begun).value();
    }
    while (const auto wanted = partial->next_missing()) {
        Outcome<void> added;
        bool too_slow = false;
        const auto ended = holder.fetch(id, *wanted, [&](std::uint64_t index, base::ByteView chunk) {
            if (stop.stop_requested() || store.has(id)) return false;
            added = partial->add(index, chunk);
            if (added) ++report.chunks;
            too_slow = others == Others::kLeft && pace.too_slow(report.chunks) && partial->next_missing();
            return added.ok() && !too_slow;
        });
        if (store.has(id)) return {};
        if (!added.ok()) return base::failed(by_store(added.error()));
        ASSAY_TRY(ended);
        if (stop.stop_requested()) return stopped();
        if (too_slow) return slow(report);
        if (partial->next_missing() == wanted) {
            return fail(ErrorKind::kUnreachable, report.holder + " ended the transfer early",
                        "try another holder");
        }
    }
    return {};
}

}  // namespace

FetchEnd fetch_blob(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                    const ConnectHolder& connect, std::stop_token stop, std::vector<HolderReport>* reports,
                    const FetchTerms& terms) {
    if (store.has(id)) return {};
    if (terms.share && !holders.empty()) {
        return fetch_parts(store, id, holders, connect, stop, reports, terms);
    }
    FetchFailure last({ErrorKind::kNotFound, "no holder of blob " + id.hex() + " is known",
                       "wait until one registers, or ask the job's buyer"});
    std::unique_ptr<PartialBlob> partial;
    bool busy = false;
    for (std::size_t i = 0; i < holders.size(); ++i) {
        if (stop.stop_requested()) return stopped();
        const Others others = i + 1 < holders.size() ? Others::kLeft : Others::kNone;
        HolderReport report{holders[i], 0, std::nullopt};
        const auto attempt = [&]() -> FetchEnd {
            ASSAY_ASSIGN(const auto holder, connect(holders[i]));
            ASSAY_TRY(take_from(store, id, *holder, terms, others, partial, stop, report));
            return end_download(store, id, *partial);
        };
        const FetchEnd result = attempt();
        if (!result) report.failure = result.error();
        if (reports != nullptr) reports->push_back(report);
        if (result) return result;
        const FetchFault fault = result.error().fault;
        if (fault != FetchFault::kNotServed && fault != FetchFault::kBusy) return result;
        busy = busy || fault == FetchFault::kBusy;
        // A holder that lacks the blob says less than one that had it and failed.
        if (result.error().kind != ErrorKind::kNotFound || last.kind == ErrorKind::kNotFound)
            last = result.error();
    }
    // One that may serve later is worth waiting for, whatever the others said.
    if (busy) last.fault = FetchFault::kBusy;
    return base::failed(last);
}

}  // namespace assay::node
