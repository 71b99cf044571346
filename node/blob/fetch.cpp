// SPDX-License-Identifier: Apache-2.0
#include "node/blob/fetch.hpp"

namespace assay::node {
namespace {

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

// What one holder gives towards the blob. Success only when nothing is missing any more.
FetchEnd take_from(BlobStore& store, const BlobId& id, BlobService& holder, const FetchTerms& terms,
                   std::unique_ptr<PartialBlob>& partial, const std::stop_token& stop, HolderReport& report) {
    if (!partial) {
        ASSAY_ASSIGN(const BlobDescription description, holder.describe(id));
        if (terms.size && description.size != *terms.size) {
            return fail(ErrorKind::kVerification,
                        "blob " + id.hex() + " is said to have " + std::to_string(description.size) +
                            " bytes, and what it is wanted for has " + std::to_string(*terms.size),
                        "whoever named the blob named the wrong one, or this holder lies");
        }
        auto begun = store.begin(id, description, terms.pin);
        if (!begun.ok()) return base::failed(by_store(begun.error()));
        partial = std::move(begun).value();
    }
    while (const auto wanted = partial->next_missing()) {
        Outcome<void> added;
        const auto ended = holder.fetch(id, *wanted, [&](std::uint64_t index, base::ByteView chunk) {
            if (stop.stop_requested()) return false;
            added = partial->add(index, chunk);
            if (added) ++report.chunks;
            return added.ok();
        });
        if (!added.ok()) return base::failed(by_store(added.error()));
        ASSAY_TRY(ended);
        if (stop.stop_requested()) return stopped();
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
    FetchFailure last({ErrorKind::kNotFound, "no holder of blob " + id.hex() + " is known",
                       "wait until one registers, or ask the job's buyer"});
    std::unique_ptr<PartialBlob> partial;
    for (const Endpoint& endpoint : holders) {
        if (stop.stop_requested()) return stopped();
        HolderReport report{endpoint, 0, std::nullopt};
        const auto attempt = [&]() -> FetchEnd {
            ASSAY_ASSIGN(const auto holder, connect(endpoint));
            ASSAY_TRY(take_from(store, id, *holder, terms, partial, stop, report));
            // Every chunk was right when it came: what fails from here on is our own disk.
            const auto finished = partial->finish();
            if (finished.ok()) return {};
            return base::failed(FetchFailure(finished.error(), FetchFault::kOwnStore));
        };
        const FetchEnd result = attempt();
        if (!result) report.failure = result.error();
        if (reports != nullptr) reports->push_back(report);
        if (result || result.error().fault != FetchFault::kNotServed) return result;
        // A holder that lacks the blob says less than one that had it and failed.
        if (result.error().kind != ErrorKind::kNotFound || last.kind == ErrorKind::kNotFound)
            last = result.error();
    }
    return base::failed(last);
}

}  // namespace assay::node
