// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/block_log.hpp"

#include <algorithm>

#include "contracts/base/codec.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::string_view kLogMagic = "ABLOGS01";
constexpr std::string_view kFrameMagic = "AFRM";

std::uint32_t read_u32(ByteView bytes) {
    return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8U | std::uint32_t{bytes[2]} << 16U |
           std::uint32_t{bytes[3]} << 24U;
}

// Not vector::insert: GCC 12 warns there of an overflow that cannot happen.
void append_to(Bytes& out, ByteView bytes) {
    const std::size_t before = out.size();
    out.resize(before + bytes.size());
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(before));
}

void put_u32(Bytes& out, std::uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

bool begins_with(ByteView bytes, std::string_view magic) {
    return bytes.size() >= magic.size() && base::as_text(bytes.first(magic.size())) == magic;
}

bool header_checks(ByteView header) {
    return begins_with(header, kFrameMagic) &&
           read_u32(header.subspan(12)) == base::crc32c(header.first(12)) &&
           read_u32(header.subspan(4)) <= kMaxBlockBytes;
}

}  // namespace

Bytes log_header(const Hash256& genesis) {
    Bytes out;
    out.reserve(kLogHeaderSize);
    append_to(out, base::as_bytes(kLogMagic));
    append_to(out, genesis.view());
    put_u32(out, base::crc32c(out));
    return out;
}

Bytes make_frame(ByteView payload) {
    Bytes out;
    out.reserve(kFrameHeaderSize + payload.size());
    append_to(out, base::as_bytes(kFrameMagic));
    put_u32(out, static_cast<std::uint32_t>(payload.size()));
    put_u32(out, base::crc32c(payload));
    put_u32(out, base::crc32c(out));
    append_to(out, payload);
    return out;
}

Outcome<base::Result<Frame, FrameFault>> read_frame(const LogFile& file, std::uint64_t offset,
                                                    Bytes& payload) {
    using Read = base::Result<Frame, FrameFault>;
    ASSAY_ASSIGN(const Bytes header, file.read(offset, kFrameHeaderSize));
    if (header.empty()) return Read(base::failed(FrameFault::kEnd));
    if (header.size() < kFrameHeaderSize) return Read(base::failed(FrameFault::kShort));
    if (!header_checks(header)) return Read(base::failed(FrameFault::kHeader));
    const std::uint32_t length = read_u32(ByteView(header).subspan(4));
    ASSAY_ASSIGN(Bytes bytes, file.read(offset + kFrameHeaderSize, length));
    if (bytes.size() < length) return Read(base::failed(FrameFault::kShort));
    if (base::crc32c(bytes) != read_u32(ByteView(header).subspan(8)))
        return Read(base::failed(FrameFault::kPayload));
    payload = std::move(bytes);
    return Read(Frame{offset, length});
}

Outcome<std::unique_ptr<BlockLog>> BlockLog::open(Disk& disk, const std::string& path, const Hash256& genesis,
                                                  std::optional<std::uint64_t> acknowledged,
                                                  const LogOptions& options) {
    ASSAY_TRY(disk.make_directories(directory_of(path)));
    ASSAY_ASSIGN(auto file, disk.open(path));
    ASSAY_ASSIGN(const std::uint64_t size, file->size());
    std::unique_ptr<BlockLog> log(new BlockLog(disk, path, std::move(file), options));
    // Before anything is written: a refusal leaves the file as it was.
    const auto ends_early = [&](std::uint64_t height) {
        return fail(ErrorKind::kVerification,
                    path + ": ends at block " + std::to_string(height) + ", but block " +
                        std::to_string(*acknowledged) + " was acknowledged",
                    "restore the log from a backup or from a follower");
    };
    if (acknowledged && *acknowledged > 0 && size <= kLogHeaderSize) return ends_early(0);
    ASSAY_TRY(log->start(genesis, size));
    if (size > kLogHeaderSize) ASSAY_TRY(log->scan(size, acknowledged));
    if (acknowledged && log->height() < *acknowledged) return ends_early(log->height());
    return log;
}

// The file header: written when the file is new or when a crash left only a part of it.
Outcome<void> BlockLog::start(const Hash256& genesis, std::uint64_t size) {
    const Bytes wanted = log_header(genesis);
    ASSAY_ASSIGN(const Bytes present, file_->read(0, kLogHeaderSize));
    if (present == wanted) return {};
    // No frame was ever written behind an unfinished header, as it is synced first.
    if (size > kLogHeaderSize || (size == kLogHeaderSize && begins_with(present, kLogMagic))) {
        return fail(ErrorKind::kVerification, path_ + ": its header is damaged or of another genesis",
                    "use the genesis file that this log was made with, or restore the log from a backup");
    }
    if (size > 0) note_ = path_ + ": an unfinished file header was written again";
    ASSAY_TRY(cut(0));
    ASSAY_TRY(file_->append(wanted));
    ASSAY_TRY(file_->sync());
    return disk_.sync_directory(directory_of(path_));
}

Outcome<void> BlockLog::scan(std::uint64_t size, std::optional<std::uint64_t> acknowledged) {
    Bytes payload;
    while (true) {
        ASSAY_ASSIGN(const auto read, read_frame(*file_, end_, payload));
        if (!read) {
            if (read.error() == FrameFault::kEnd) return {};
            return handle_fault(read.error(), end_, size, acknowledged);
        }
        add_frame(read->length);
    }
}

void BlockLog::add_frame(std::uint32_t length) {
    if (height_ % kMarkEvery == 0) marks_.push_back(end_);
    ++height_;
    end_ += kFrameHeaderSize + length;
}

Outcome<void> BlockLog::handle_fault(FrameFault fault, std::uint64_t offset, std::uint64_t size,
                                     std::optional<std::uint64_t> acknowledged) {
    const std::string block = "block " + std::to_string(height() + 1);
    const std::string where = path_ + ": " + block + " at byte " + std::to_string(offset);
    const std::string fix = "restore the log from a backup or from a follower";
    if (acknowledged && *acknowledged > height())
        return fail(ErrorKind::kVerification, where + " is damaged, and it was acknowledged", fix);
    // A file that ends inside a block ends inside its last append, which alone can be torn: nothing follows.
    if (fault != FrameFault::kShort) {
        // The index is synced after the log and before the next append. Only when the two agree can what
        // follows be an append that nobody was told of.
        if (!acknowledged || *acknowledged < height())
            return fail(ErrorKind::kVerification, where + " is damaged", fix);
        ASSAY_ASSIGN(const bool more, continues(fault, offset, size));
        if (more) return fail(ErrorKind::kVerification, where + " is damaged, and bytes follow it", fix);
    }
    note_ =
        where + " was never acknowledged; its torn " + std::to_string(size - offset) + " bytes were cut off";
    return cut(offset);
}

// Whether the file goes on behind the damaged block at `offset`. The block itself says where it ends: a
// search for the frames of later blocks would find those that a sender put into a transaction.
Outcome<bool> BlockLog::continues(FrameFault fault, std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t left = size - offset;
    if (left > kFrameHeaderSize + kMaxBlockBytes) return true;
    if (fault == FrameFault::kPayload) {
        ASSAY_ASSIGN(const Bytes header, file_->read(offset, kFrameHeaderSize));
        return kFrameHeaderSize + read_u32(ByteView(header).subspan(4)) < left;
    }
    // The length is lost. A whole block behind it, which its own header commits to, tells it again.
    ASSAY_ASSIGN(const Bytes tail, file_->read(offset, static_cast<std::size_t>(left)));
    base::Decoder decoder(ByteView(tail).subspan(kFrameHeaderSize));
    Block block;
    decoder(block.header);
    if (decoder.error() || block.header.height != height() + 1) return false;
    decoder(block.signature, block.transactions);
    return !decoder.error() && !decoder.rest().empty() &&
           block.header.transactions_root == transactions_root(block.transactions);
}

Outcome<void> BlockLog::cut(std::uint64_t size) {
    ASSAY_TRY(file_->truncate(size));
    return file_->sync();
}

base::Failed<base::Error> BlockLog::stop(const base::Error& cause) {
    stopped_ = true;
    return base::failed(base::Error{
        cause.kind, cause.what + "; block " + std::to_string(height() + 1) + " is not acknowledged",
        cause.fix.empty() ? "start the node again: it keeps every acknowledged block" : cause.fix});
}

Outcome<void> BlockLog::append(const Block& block) {
    if (stopped_) {
        return fail(ErrorKind::kFailure, path_ + ": an earlier write failed, nothing more is accepted",
                    "start the node again: it keeps every acknowledged block");
    }
    const Bytes frame = make_frame(base::encode(block));
    if (frame.size() - kFrameHeaderSize > kMaxBlockBytes)
        return fail(ErrorKind::kFailure,
                    "a block of " + std::to_string(frame.size()) + " bytes is too large");
    ASSAY_ASSIGN(const std::uint64_t free, disk_.free_bytes(directory_of(path_)));
    if (free < options_.min_free_bytes + frame.size()) {
        return fail(ErrorKind::kFailure,
                    "only " + std::to_string(free >> 20U) + " MiB are free where " + path_ +
                        " is; at least " + std::to_string(options_.min_free_bytes >> 20U) +
                        " MiB are kept in reserve",
                    "free space on that file system");
    }
    if (auto written = file_->append(frame); !written) return stop(written.error());
    if (options_.sync_before_acknowledge) {
        if (auto synced = file_->sync(); !synced) return stop(synced.error());
    }
    add_frame(static_cast<std::uint32_t>(frame.size() - kFrameHeaderSize));
    return {};
}

// From the nearest place that is known, over the headers of the frames between: open() has checked them all.
Outcome<BlockLog::Place> BlockLog::find(std::uint64_t height) const {
    const std::uint64_t mark = (height - 1) / kMarkEvery;
    Place at{mark * kMarkEvery + 1, marks_[mark]};
    if (after_read_.height > at.height && after_read_.height <= height) at = after_read_;
    for (; at.height < height; ++at.height) {
        ASSAY_ASSIGN(const Bytes header, file_->read(at.offset, kFrameHeaderSize));
        if (header.size() < kFrameHeaderSize || !header_checks(header)) {
            return fail(ErrorKind::kVerification,
                        path_ + ": block " + std::to_string(at.height) + " is damaged",
                        "restore the log from a backup");
        }
        at.offset += kFrameHeaderSize + read_u32(ByteView(header).subspan(4));
    }
    return at;
}

Outcome<Block> BlockLog::read(std::uint64_t height) const {
    ASSAY_CHECK(height >= 1 && height <= height_);
    const std::string where = path_ + ": block " + std::to_string(height);
    ASSAY_ASSIGN(const Place at, find(height));
    Bytes payload;
    ASSAY_ASSIGN(const auto frame, read_frame(*file_, at.offset, payload));
    if (!frame) return fail(ErrorKind::kVerification, where + " is damaged", "restore the log from a backup");
    after_read_ = {height + 1, at.offset + kFrameHeaderSize + frame->length};
    auto block = base::decode<Block>(payload);
    if (!block) {
        return fail(ErrorKind::kVerification,
                    where + " is not canonical: " + std::string(base::to_text(block.error())),
                    "restore the log from a backup");
    }
    return std::move(block).value();
}

}  // namespace assay::ledger
