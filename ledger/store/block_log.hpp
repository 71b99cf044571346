// SPDX-License-Identifier: Apache-2.0
// BlockLog is the truth of a ledger, for engines and auditors. It is one append-only file:
//   file header   "ABLOGS01" ‖ genesis hash (32) ‖ crc32c of those 40 bytes (u32)
//   frame         magic "AFRM" ‖ payload length u32 ‖ crc32c(payload) u32 ‖ crc32c of the 12 bytes before u32
//                 ‖ payload = encode(Block)
// All integers little-endian. The n-th frame holds the block of height n. The header's own checksum
// distinguishes a damaged length from a missing tail.
//
// Fail-stop: after the first failed write or sync every further append is refused, because it is unknown what
// reached the disk. The process must end; open() decides at the next start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/store/block.hpp"
#include "ledger/store/disk.hpp"

namespace assay::ledger {

inline constexpr std::size_t kLogHeaderSize = 44;
inline constexpr std::size_t kFrameHeaderSize = 16;
inline constexpr std::uint32_t kMaxBlockBytes = 16U << 20U;

/// Why there is no valid frame at a place in a log.
enum class FrameFault : std::uint8_t {
    kEnd = 1,      ///< no byte is left: the regular end
    kShort = 2,    ///< the file ends inside the frame
    kHeader = 3,   ///< frame header damaged
    kPayload = 4,  ///< payload checksum wrong
};

struct Frame {
    std::uint64_t offset = 0;  ///< of the frame header
    std::uint32_t length = 0;  ///< of the payload
};

/// Reads the frame at `offset`. Writes the payload to `payload` when it is complete and its checksum is
/// right.
Outcome<base::Result<Frame, FrameFault>> read_frame(const LogFile& file, std::uint64_t offset,
                                                    Bytes& payload);

Bytes log_header(const Hash256& genesis);
Bytes make_frame(ByteView payload);

/// A log keeps the place of every so many frames in memory, and walks over the headers of those between: at
/// ten blocks a second all places would take 5 GB a year, these take 10 MB.
inline constexpr std::uint64_t kMarkEvery = 256;

struct LogOptions {
    /// An append is refused when the file system has less than this left, so that the machine can still be
    /// repaired. The refusal changes nothing on disk, and later appends are tried again.
    std::uint64_t min_free_bytes = 64ULL << 20U;
    /// Only tests turn this off, to show that their crash harness notices.
    bool sync_before_acknowledge = true;
};

class BlockLog {
public:
    /// Opens or makes the log in `path`, and verifies every frame checksum. `acknowledged` is the last height
    /// that is known from elsewhere (the index) to be acknowledged. A tail that a crash left incomplete is
    /// cut off and described in note(). Damage anywhere else, or to an acknowledged block, fails with
    /// kVerification, which names the block. What does not check and is not cut short by the file's end is a
    /// torn tail only when `acknowledged` is the height of the block before it. No transaction's bytes decide
    /// between the two, and no byte of a payload is read twice. `disk` must outlive the log.
    static Outcome<std::unique_ptr<BlockLog>> open(Disk& disk, const std::string& path,
                                                   const Hash256& genesis,
                                                   std::optional<std::uint64_t> acknowledged,
                                                   const LogOptions& options = {});

    [[nodiscard]] std::uint64_t height() const { return height_; }
    /// Appends the block of height()+1 and returns when it is on the device.
    Outcome<void> append(const Block& block);
    /// Reads at most kMarkEvery frame headers before the block; none when the one before it was read last.
    /// REQUIRES 1 <= height <= height().
    Outcome<Block> read(std::uint64_t height) const;
    [[nodiscard]] bool stopped() const { return stopped_; }
    /// What open() repaired; empty when nothing.
    [[nodiscard]] const std::string& note() const { return note_; }

private:
    BlockLog(Disk& disk, std::string path, std::unique_ptr<LogFile> file, const LogOptions& options)
        : disk_(disk), path_(std::move(path)), file_(std::move(file)), options_(options) {}
    /// Where the frame of a height begins. Height 0: nowhere.
    struct Place {
        std::uint64_t height = 0;
        std::uint64_t offset = 0;
    };
    Outcome<void> start(const Hash256& genesis, std::uint64_t size);
    /// The frame of height() + 1 is at end_, with a payload of so many bytes.
    void add_frame(std::uint32_t length);
    [[nodiscard]] Outcome<Place> find(std::uint64_t height) const;
    Outcome<void> scan(std::uint64_t size, std::optional<std::uint64_t> acknowledged);
    Outcome<void> handle_fault(FrameFault fault, std::uint64_t offset, std::uint64_t size,
                               std::optional<std::uint64_t> acknowledged);
    Outcome<bool> continues(FrameFault fault, std::uint64_t offset, std::uint64_t size) const;
    Outcome<void> cut(std::uint64_t size);
    base::Failed<base::Error> stop(const base::Error& cause);

    Disk& disk_;
    std::string path_;
    std::unique_ptr<LogFile> file_;
    LogOptions options_;
    std::vector<std::uint64_t> marks_;  ///< offsets of the frames of heights 1, 1 + kMarkEvery and so on
    std::uint64_t height_ = 0;
    std::uint64_t end_ = kLogHeaderSize;  ///< behind the frame of height_
    mutable Place after_read_;            ///< the frame behind the one that was read last
    bool stopped_ = false;
    std::string note_;
};

}  // namespace assay::ledger
