// SPDX-License-Identifier: Apache-2.0
// A disk and a key-value store in memory that can be killed at any call, forget or tear what was not synced,
// and run out of space. One Faults object counts the calls of both, so that a test can stop at each of them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "ledger/store/disk.hpp"
#include "ledger/store/key_value_store.hpp"

namespace assay::ledger::testing {

enum class Fault : std::uint8_t {
    kKillBefore,  ///< the process dies before the call does anything: every later call fails as well
    kKillAfter,   ///< it dies after the call took effect, before the caller hears of it
    kNoSpace,     ///< this one call fails half done; later calls work
    kIoError,     ///< this one call fails half done; later calls work
};

/// Counts the calls that change something and decides which one fails.
struct Faults {
    std::uint64_t calls = 0;
    std::optional<std::uint64_t> at;  ///< fails at the call of this number, the first is 1
    Fault fault = Fault::kKillBefore;
    bool dead = false;

    enum class Verdict : std::uint8_t { kWork, kFail, kFailHalfDone, kFailDone };
    Verdict next() {
        if (dead) return Verdict::kFail;
        if (++calls != at) return Verdict::kWork;
        dead = fault == Fault::kKillBefore || fault == Fault::kKillAfter;
        if (fault == Fault::kKillAfter) return Verdict::kFailDone;
        return fault == Fault::kKillBefore ? Verdict::kFail : Verdict::kFailHalfDone;
    }
    [[nodiscard]] base::Failed<base::Error> error() const {
        const char* what = fault == Fault::kNoSpace ? "No space left on device" : "Input/output error";
        return base::fail(base::ErrorKind::kFailure, dead ? "killed" : what);
    }
    void restart() {
        dead = false;
        at.reset();
    }
};

/// What happens to bytes that were written but not synced when the process and the machine go down.
enum class Unsynced : std::uint8_t {
    kKeep,     ///< only the process died: the system still writes them (what kill -9 alone tests)
    kDrop,     ///< power loss: gone
    kTear,     ///< a random beginning of them is kept
    kGarbage,  ///< the length is kept, from a random place on the bytes are zero or random
};

class FaultyDisk final : public Disk {
public:
    explicit FaultyDisk(Faults& faults) : faults_(faults) {}

    struct File {
        Bytes now, durable;
        bool name_durable = false;
    };

    Outcome<std::unique_ptr<LogFile>> open(const std::string& path) override {
        if (faults_.dead) return faults_.error();
        auto& file = files_[path];
        if (!file) file = std::make_shared<File>();
        return std::unique_ptr<LogFile>(std::make_unique<OpenFile>(*this, file));
    }
    Outcome<std::unique_ptr<LogFile>> open_to_read(const std::string& path) override {
        if (faults_.dead) return faults_.error();
        if (!files_.contains(path)) return base::fail(base::ErrorKind::kNotFound, "there is no file " + path);
        return open(path);
    }
    Outcome<bool> exists(const std::string& path) override {
        if (faults_.dead) return faults_.error();
        return files_.contains(path);
    }
    Outcome<void> make_directories(const std::string&) override {
        if (faults_.dead) return faults_.error();
        return {};
    }
    Outcome<void> sync_directory(const std::string& path) override {
        const auto verdict = faults_.next();
        if (verdict == Faults::Verdict::kWork || verdict == Faults::Verdict::kFailDone) {
            for (auto& [name, file] : files_) {
                if (name.substr(0, name.rfind('/')) == path) file->name_durable = true;
            }
        }
        if (verdict != Faults::Verdict::kWork) return faults_.error();
        return {};
    }
    Outcome<std::uint64_t> free_bytes(const std::string&) override {
        if (faults_.dead) return faults_.error();
        return free_;
    }

    /// The machine goes down and comes back. `random` chooses where a tail is torn.
    void crash(Unsynced mode, std::mt19937_64& random) {
        for (auto it = files_.begin(); it != files_.end();) {
            File& file = *it->second;
            if (mode != Unsynced::kKeep && !file.name_durable) {
                it = files_.erase(it);
                continue;
            }
            file.now = survivor(file, mode, random);
            file.durable = file.now;
            ++it;
        }
    }
    Bytes& bytes(const std::string& path) { return files_.at(path)->now; }
    void set_free(std::uint64_t free) { free_ = free; }

private:
    static Bytes survivor(const File& file, Unsynced mode, std::mt19937_64& random) {
        if (mode == Unsynced::kKeep) return file.now;
        const bool extends = file.now.size() >= file.durable.size() &&
                             std::equal(file.durable.begin(), file.durable.end(), file.now.begin());
        if (mode == Unsynced::kDrop || !extends) return file.durable;
        const std::size_t unsynced = file.now.size() - file.durable.size();
        const std::size_t kept = unsynced == 0 ? 0 : static_cast<std::size_t>(random() % (unsynced + 1));
        Bytes out(file.now.begin(),
                  file.now.begin() + static_cast<std::ptrdiff_t>(file.durable.size() + kept));
        if (mode == Unsynced::kGarbage) {
            const bool zero = random() % 2 == 0;
            while (out.size() < file.now.size())
                out.push_back(zero ? std::uint8_t{0} : static_cast<std::uint8_t>(random()));
        }
        return out;
    }

    class OpenFile final : public LogFile {
    public:
        OpenFile(FaultyDisk& disk, std::shared_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
        Outcome<void> append(ByteView bytes) override {
            const auto verdict = disk_.faults_.next();
            std::size_t done = bytes.size();
            if (verdict == Faults::Verdict::kFail) done = 0;
            if (verdict == Faults::Verdict::kFailHalfDone) done = bytes.size() / 2;
            const ByteView part = bytes.first(done);
            file_->now.insert(file_->now.end(), part.begin(), part.end());
            return verdict == Faults::Verdict::kWork ? Outcome<void>() : disk_.faults_.error();
        }
        Outcome<void> sync() override {
            const auto verdict = disk_.faults_.next();
            if (verdict == Faults::Verdict::kWork || verdict == Faults::Verdict::kFailDone)
                file_->durable = file_->now;
            return verdict == Faults::Verdict::kWork ? Outcome<void>() : disk_.faults_.error();
        }
        Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const override {
            if (disk_.faults_.dead) return disk_.faults_.error();
            if (offset >= file_->now.size()) return Bytes{};
            const ByteView rest = ByteView(file_->now).subspan(static_cast<std::size_t>(offset));
            return base::to_bytes(rest.first(std::min(size, rest.size())));
        }
        Outcome<std::uint64_t> size() const override { return std::uint64_t{file_->now.size()}; }
        Outcome<void> truncate(std::uint64_t size) override {
            const auto verdict = disk_.faults_.next();
            if (verdict == Faults::Verdict::kWork || verdict == Faults::Verdict::kFailDone)
                file_->now.resize(static_cast<std::size_t>(size));
            return verdict == Faults::Verdict::kWork ? Outcome<void>() : disk_.faults_.error();
        }

    private:
        FaultyDisk& disk_;
        std::shared_ptr<File> file_;
    };

    Faults& faults_;
    std::map<std::string, std::shared_ptr<File>> files_;
    std::uint64_t free_ = 1ULL << 40U;
};

/// A key-value store whose writes are atomic and durable, or do not happen. Outlives the stores it opens.
class MemoryProvider final : public KeyValueProvider {
public:
    explicit MemoryProvider(Faults& faults) : faults_(faults) {}

    Outcome<std::unique_ptr<KeyValueStore>> open() override {
        if (faults_.dead || read_fails()) return faults_.error();
        if (refuse_to_open)
            return base::fail(base::ErrorKind::kVerification, "index: cannot open: corruption");
        return std::unique_ptr<KeyValueStore>(std::make_unique<Store>(*this));
    }
    Outcome<void> destroy() override {
        const auto verdict = faults_.next();
        if (verdict == Faults::Verdict::kWork || verdict == Faults::Verdict::kFailDone) {
            values.clear();
            refuse_to_open = false;
        }
        return verdict == Faults::Verdict::kWork ? Outcome<void>() : faults_.error();
    }

    std::map<Bytes, Bytes> values;
    bool refuse_to_open = false;  ///< until destroy()
    /// The open or read of this number from now on fails once, with kFailure; 0: none does.
    std::uint64_t failing_read = 0;

private:
    bool read_fails() { return failing_read > 0 && --failing_read == 0; }

    class Store final : public KeyValueStore {
    public:
        explicit Store(MemoryProvider& provider) : provider_(provider) {}
        Outcome<std::optional<Bytes>> get(ByteView key) const override {
            if (provider_.faults_.dead || provider_.read_fails()) return provider_.faults_.error();
            const auto found = provider_.values.find(base::to_bytes(key));
            if (found == provider_.values.end()) return std::optional<Bytes>{};
            return std::optional<Bytes>(found->second);
        }
        Outcome<void> scan(ByteView prefix,
                           const std::function<void(ByteView, ByteView)>& visit) const override {
            if (provider_.faults_.dead || provider_.read_fails()) return provider_.faults_.error();
            const Bytes from = base::to_bytes(prefix);
            for (auto it = provider_.values.lower_bound(from); it != provider_.values.end(); ++it) {
                if (it->first.size() < from.size() ||
                    !std::equal(from.begin(), from.end(), it->first.begin()))
                    break;
                visit(it->first, it->second);
            }
            return {};
        }
        Outcome<void> write(const Batch& batch) override {
            const auto verdict = provider_.faults_.next();
            if (verdict == Faults::Verdict::kWork || verdict == Faults::Verdict::kFailDone) {
                for (const auto& [key, value] : batch) {
                    if (value) {
                        provider_.values.insert_or_assign(key, *value);
                    } else {
                        provider_.values.erase(key);
                    }
                }
            }
            return verdict == Faults::Verdict::kWork ? Outcome<void>() : provider_.faults_.error();
        }

    private:
        MemoryProvider& provider_;
    };

    Faults& faults_;
};

}  // namespace assay::ledger::testing
