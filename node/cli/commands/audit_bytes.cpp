// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/audit_bytes.hpp"

#include "contracts/program/state_head.hpp"
#include "node/blob/fetch.hpp"

namespace assay::node {

namespace {

frames::SharedDescriptor open_in(const BlobStore& store, const base::Hash256& blob) {
    const auto path = store.path(blob);
    if (!path.ok()) return nullptr;
    const auto file = worker::open_file(path->string());
    return file.ok() ? *file : nullptr;
}

void add_small(const BlobStore& store, std::vector<base::Hash256>& out) {
    for (const BlobInfo& blob : store.list())
        if (blob.size <= program::kMaxHeadBytes) out.push_back(blob.id);
}

std::optional<base::Error> failure_of_ours(const FetchFailure& failure) {
    if (failure.fault == FetchFault::kOwnStore)
        return base::Error{base::ErrorKind::kFailure, "the audit has no room for a blob: " + failure.what,
                           "free space, or set TMPDIR to a folder with more room"};
    if (failure.fault == FetchFault::kOwnMachine)
        return base::Error{base::ErrorKind::kFailure,
                           "this machine has no descriptor left to fetch a blob with: " + failure.what,
                           "end other programs, or raise the limit of open files (ulimit -n)"};
    return std::nullopt;
}

}  // namespace

base::Outcome<std::unique_ptr<BytesAtHand>> BytesAtHand::make(std::unique_ptr<BlobStore> home,
                                                              HolderClient client, std::uint64_t quota) {
    ASSAY_ASSIGN(ScratchFolder folder, ScratchFolder::make("assay-audit"));
    BlobStoreOptions options;
    options.folder = folder.path() / "blobs";
    options.quota_bytes = quota;
    ASSAY_ASSIGN(auto scratch, BlobStore::open(options));
    return std::unique_ptr<BytesAtHand>(
        new BytesAtHand(std::move(home), std::move(folder), std::move(scratch), std::move(client)));
}

frames::SharedDescriptor BytesAtHand::find(const base::Hash256& blob) {
    if (blob.is_zero()) return nullptr;
    if (const auto given = files_.find(blob); given != files_.end()) return given->second;
    if (home_ != nullptr) {
        if (auto file = open_in(*home_, blob); file != nullptr) return file;
    }
    if (auto file = open_in(*scratch_, blob); file != nullptr) return file;
    if (holders_.empty() || not_served_.contains(blob) || own_failure_) return nullptr;
    const ConnectHolder connect = [this](const Endpoint& holder) { return connect_blobs(client_(holder)); };
    const FetchEnd fetched = fetch_blob(*scratch_, blob, holders_, connect);
    if (fetched.ok()) return open_in(*scratch_, blob);
    const FetchFault fault = fetched.error().fault;
    own_failure_ = failure_of_ours(fetched.error());
    // Who is busy now may serve it when it is asked for again.
    if (fault == FetchFault::kNotServed) not_served_.insert(blob);
    return nullptr;
}

AuditBytes BytesAtHand::bytes() {
    return {.find = [this](const base::Hash256& blob) { return find(blob); },
            .small =
                [this] {
                    std::vector<base::Hash256> all;
                    if (home_ != nullptr) add_small(*home_, all);
                    add_small(*scratch_, all);
                    return all;
                },
            .keep = [this](base::ByteView bytes) -> base::Outcome<void> {
                ASSAY_TRY(scratch_->put(bytes));
                return {};
            }};
}

}  // namespace assay::node
