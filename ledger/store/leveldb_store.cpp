// SPDX-License-Identifier: Apache-2.0
// The only file that includes LevelDB. LevelDB keeps accepting writes after a failed one and loses them all
// (ENOSPC trap), so the first refusal latches here.
#include <fcntl.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "ledger/store/key_value_store.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

leveldb::Slice slice(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

ByteView view(const leveldb::Slice& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

// Corruption alone is damage. A full disk, a quota, a process without a free descriptor and a disk that does
// not answer are IOError: what is stored may be sound.
base::Failed<base::Error> refused(const std::string& name, const std::string& doing,
                                  const leveldb::Status& status) {
    const std::string what = name + ": cannot " + doing + ": " + status.ToString();
    if (status.IsCorruption()) {
        return fail(ErrorKind::kVerification, what,
                    "start again: the " + name + " is rebuilt if the blocks give it again");
    }
    return fail(
        ErrorKind::kFailure, what,
        "make room on the disk, raise the limit of open files or check the disk, whichever it names, "
        "and start again: the " +
            name + " is left as it is; if nothing helps, move its folder away, and the blocks give it again");
}

/// Who uses the store. LevelDB has a lock too, but says only in words that it is taken.
class StoreLock {
public:
    /// kUsage when somebody holds it, in this process or another, and when it cannot be known.
    static Outcome<std::unique_ptr<StoreLock>> take(const std::string& name, const std::string& directory) {
        const std::string path = directory + ".lock";
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return cannot(name, "open", path);
        auto lock = std::unique_ptr<StoreLock>(new StoreLock(file));
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
        if (errno != EWOULDBLOCK) return cannot(name, "lock", path);
        return fail(ErrorKind::kUsage, name + ": " + directory + " is used by another process",
                    "stop the other process that uses this home");
    }
    ~StoreLock() { ::close(file_); }
    StoreLock(const StoreLock&) = delete;
    StoreLock& operator=(const StoreLock&) = delete;

private:
    explicit StoreLock(int file) : file_(file) {}
    static base::Failed<base::Error> cannot(const std::string& name, const char* doing,
                                            const std::string& path) {
        return fail(ErrorKind::kUsage,
                    name + ": cannot " + doing + " " + path + ": " + std::generic_category().message(errno),
                    "check that the folder can be written");
    }
    int file_;
};

class LevelDbStore final : public KeyValueStore {
public:
    LevelDbStore(std::unique_ptr<StoreLock> lock, std::unique_ptr<leveldb::DB> database,
                 const LevelDbOptions& options)
        : lock_(std::move(lock)), database_(std::move(database)), name_(options.name) {
        read_.verify_checksums = true;
        write_.sync = options.durability == Durability::kEveryWrite;
    }

    Outcome<std::optional<Bytes>> get(ByteView key) const override {
        std::string value;
        const leveldb::Status status = database_->Get(read_, slice(key), &value);
        if (status.IsNotFound()) return std::optional<Bytes>{};
        if (!status.ok()) return refused(name_, "read", status);
        return std::optional<Bytes>(base::to_bytes(base::as_bytes(value)));
    }

    Outcome<void> scan(ByteView prefix, const std::function<void(ByteView, ByteView)>& visit) const override {
        const std::unique_ptr<leveldb::Iterator> at(database_->NewIterator(read_));
        for (at->Seek(slice(prefix)); at->Valid() && at->key().starts_with(slice(prefix)); at->Next())
            visit(view(at->key()), view(at->value()));
        if (!at->status().ok()) return refused(name_, "read", at->status());
        return {};
    }

    Outcome<void> write(const Batch& batch) override {
        if (stopped_)
            return fail(ErrorKind::kFailure, name_ + ": an earlier write failed, nothing more is accepted");
        leveldb::WriteBatch writes;
        for (const auto& [key, value] : batch) {
            if (value) {
                writes.Put(slice(key), slice(*value));
            } else {
                writes.Delete(slice(key));
            }
        }
        const leveldb::Status status = database_->Write(write_, &writes);
        if (status.ok()) return {};
        stopped_ = true;
        return refused(name_, "write", status);
    }

private:
    std::unique_ptr<StoreLock> lock_;  // before the database, so that it goes after it
    std::unique_ptr<leveldb::DB> database_;
    std::string name_;
    leveldb::ReadOptions read_;
    leveldb::WriteOptions write_;
    bool stopped_ = false;
};

class LevelDbProvider final : public KeyValueProvider {
public:
    LevelDbProvider(std::string directory, LevelDbOptions options)
        : directory_(std::move(directory)), options_(std::move(options)) {}

    Outcome<std::unique_ptr<KeyValueStore>> open() override {
        leveldb::Options options;
        options.create_if_missing = true;
        options.paranoid_checks = true;
        // Whoever opens in vain deletes the files: that of a store in use would be a crime.
        ASSAY_ASSIGN(auto lock, StoreLock::take(options_.name, directory_));
        leveldb::DB* database = nullptr;
        const leveldb::Status status = leveldb::DB::Open(options, directory_, &database);
        if (!status.ok()) return refused(options_.name, "open", status);
        return std::unique_ptr<KeyValueStore>(std::make_unique<LevelDbStore>(
            std::move(lock), std::unique_ptr<leveldb::DB>(database), options_));
    }

    Outcome<void> destroy() override {
        // Not leveldb::DestroyDB: it leaves files that it does not recognise, damaged ones among them.
        std::error_code error;
        std::filesystem::remove_all(directory_, error);
        if (error) return fail(ErrorKind::kFailure, "cannot delete " + directory_ + ": " + error.message());
        return {};
    }

private:
    std::string directory_;
    LevelDbOptions options_;
};

}  // namespace

std::unique_ptr<KeyValueProvider> leveldb_provider(const std::string& directory,
                                                   const LevelDbOptions& options) {
    return std::make_unique<LevelDbProvider>(directory, options);
}

}  // namespace assay::ledger
