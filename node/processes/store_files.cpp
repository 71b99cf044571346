// SPDX-License-Identifier: Apache-2.0
#include "node/processes/store_files.hpp"

#include "contracts/worker/frames.hpp"

namespace assay::node {

namespace {

// A miner that wins a job can store every file of it, and its worker reads it.
static_assert(kMaxBlobBytes >= worker::kMaxBulk);

class StoreFiles final : public BlobFiles {
public:
    explicit StoreFiles(BlobStore& store) : store_(store) {}

    base::Outcome<BlobId> put(const SharedDescriptor& file, Serving serving) override {
        ASSAY_ASSIGN(const auto mapping, worker::Mapping::of(*file, worker::kMaxBulk));
        return store_.put(mapping.bytes(), serving);
    }
    base::Outcome<void> serve(const BlobId& id) override { return store_.serve(id); }
    base::Outcome<SharedDescriptor> open(const BlobId& id) override {
        ASSAY_ASSIGN(const auto path, store_.path(id));
        return worker::open_file(path.string());
    }
    base::Outcome<base::Bytes> read(const BlobId& id, std::size_t limit) override {
        ASSAY_ASSIGN(const auto file, open(id));
        return worker::read_all(*file, limit);
    }
    [[nodiscard]] bool has(const BlobId& id) const override { return store_.has(id); }
    void drop(const BlobId& id) override { (void)store_.remove(id); }
    [[nodiscard]] std::vector<BlobId> evictable() const override {
        std::vector<BlobId> ids;
        for (const BlobInfo& blob : store_.list()) {
            if (blob.pin == Pin::kEvictable) ids.push_back(blob.id);
        }
        return ids;
    }
    [[nodiscard]] bool is_evictable(const BlobId& id) const override { return store_.is_evictable(id); }
    base::Outcome<void> set_pin(const BlobId& id, Pin pin) override { return store_.set_pin(id, pin); }
    base::Outcome<void> pin_only(const std::set<BlobId>& ids) override { return store_.pin_only(ids); }
    [[nodiscard]] bool is_intact(const BlobId& id) const override { return store_.verify(id).ok(); }
    [[nodiscard]] unsigned percent_full() const override { return store_.percent_full(); }
    [[nodiscard]] StoreRoom room() const override { return {store_.bytes_for_pins(), store_.bytes_pinned()}; }

private:
    BlobStore& store_;
};

}  // namespace

std::unique_ptr<BlobFiles> make_blob_files(BlobStore& store) { return std::make_unique<StoreFiles>(store); }

}  // namespace assay::node
