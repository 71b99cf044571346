// SPDX-License-Identifier: Apache-2.0
#include "node/blob/fetch.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

// What one holder gives towards the blob. Success only when nothing is missing any more.
Outcome<void> take_from(BlobStore& store, const BlobId& id, BlobService& holder, const FetchTerms& terms,
                        std::unique_ptr<PartialBlob>& partial, const std::stop_token& stop,
                        HolderReport& report) {
    if (!partial) {
        ASSAY_ASSIGN(const BlobDescription description, holder.describe(id));
        if (terms.size && description.size != *terms.size) {
            return fail(ErrorKind::kVerification,
                        "blob " + id.hex() + " is said to have " + std::to_string(description.size) +
                            " bytes, and what it is wanted for has " + std::to_string(*terms.size),
                        "whoever named the blob named the wrong one, or this holder lies");
        }
        ASSAY_ASSIGN(partial, store.begin(id, description, terms.pin));
    }
    while (const auto wanted = partial->next_missing()) {
        Outcome<void> added;
        const auto ended = holder.fetch(id, *wanted, [&](std::uint64_t index, base::ByteView chunk) {
            if (stop.stop_requested()) return false;
            added = partial->add(index, chunk);
            if (added) ++report.chunks;
            return added.ok();
        });
        ASSAY_TRY(added);
        ASSAY_TRY(ended);
        if (stop.stop_requested()) return fail(ErrorKind::kInterrupted, "the transfer was stopped");
        if (partial->next_missing() == wanted) {
            return fail(ErrorKind::kUnreachable, report.holder + " ended the transfer early",
                        "try another holder");
        }
    }
    return {};
}

}  // namespace

Outcome<void> fetch_blob(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                         const ConnectHolder& connect, std::stop_token stop,
                         std::vector<HolderReport>* reports, const FetchTerms& terms) {
    if (store.has(id)) return {};
    base::Error last{ErrorKind::kNotFound, "no holder of blob " + id.hex() + " is known",
                     "wait until one registers, or ask the job's buyer"};
    std::unique_ptr<PartialBlob> partial;
    for (const Endpoint& endpoint : holders) {
        if (stop.stop_requested()) return fail(ErrorKind::kInterrupted, "the transfer was stopped");
        HolderReport report{endpoint, 0, std::nullopt};
        const auto attempt = [&]() -> Outcome<void> {
            ASSAY_ASSIGN(const auto holder, connect(endpoint));
            ASSAY_TRY(take_from(store, id, *holder, terms, partial, stop, report));
            return partial->finish();
        };
        const auto result = attempt();
        if (!result) report.failure = result.error();
        if (reports != nullptr) reports->push_back(report);
        if (result) return {};
        // A holder that lacks the blob says less than one that had it and failed.
        if (result.error().kind != ErrorKind::kNotFound || last.kind == ErrorKind::kNotFound)
            last = result.error();
    }
    return base::failed(last);
}

}  // namespace assay::node
