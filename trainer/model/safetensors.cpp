// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::trainer {
namespace {

using base::ErrorKind;
using nlohmann::ordered_json;

// Numbers move between file and memory as they are.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kPiece = std::size_t{1} << 20;

std::string reason() { return std::strerror(errno); }

base::Failed<base::Error> read_failure(const std::filesystem::path& path) {
    return base::fail(ErrorKind::kFailure, "cannot read " + path.string() + ": " + reason(),
                      "check that you may read the file");
}

base::Failed<base::Error> write_failure(const std::filesystem::path& path) {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    return base::fail(ErrorKind::kFailure, "cannot write " + path.string() + ": " + reason(),
                      full ? "free some disk space, or choose a folder on another disk"
                           : "check that the folder exists and that you may write to it");
}

base::Outcome<void> read_exactly(const std::filesystem::path& path, int file, std::uint64_t at,
                                 std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got =
            ::pread(file, out.data() + done, out.size() - done, static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return read_failure(path);
        if (got == 0) {
            return base::fail(ErrorKind::kFailure, path.string() + " became shorter while it was read",
                              "try again when nothing writes to the file");
        }
        done += static_cast<std::size_t>(got);
    }
    return {};
}

bool write_all(int file, const void* bytes, std::size_t size) {
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    while (size > 0) {
        const ssize_t put = ::write(file, from, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        from += put;
        size -= static_cast<std::size_t>(put);
    }
    return true;
}

/// binary16 as binary32: every value has one.
float widen_f16(std::uint16_t half) {
    const std::uint32_t sign = (std::uint32_t{half} & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10U) & 0x1fU;
    const std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // exact: ten bits, a power of two
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float widen_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::string header_text(const std::vector<SafetensorsTensor>& tensors) {
    ordered_json header;
    header["__metadata__"] = {{"format", "pt"}};
    // Straight into the ordered map's vector: its operator[] searches, which is the square of the size.
    auto& entries = static_cast<std::vector<std::pair<const std::string, ordered_json>>&>(
        header.get_ref<ordered_json::object_t&>());
    std::uint64_t end = 0;
    for (const SafetensorsTensor& tensor : tensors) {
        std::uint64_t count = 1;
        for (const std::uint64_t size : tensor.shape) count *= size;
        ASSAY_CHECK(count == tensor.values.size());
        entries.emplace_back(tensor.name, ordered_json{{"dtype", "F32"},
                                                       {"shape", tensor.shape},
                                                       {"data_offsets", {end, end + 4 * count}}});
        end += 4 * count;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
}

}  // namespace

SafetensorsReader::SafetensorsReader(std::filesystem::path path, int file, SafetensorsHeader header)
    : path_(std::move(path)), file_(file), header_(std::move(header)) {}

SafetensorsReader::SafetensorsReader(SafetensorsReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      header_(std::move(other.header_)) {}

SafetensorsReader::~SafetensorsReader() {
    if (file_ >= 0) ::close(file_);
}

base::Outcome<SafetensorsReader> SafetensorsReader::open(const std::filesystem::path& path) {
    // Without O_NONBLOCK a pipe would keep us waiting for its writer.
    SafetensorsReader made(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), {});
    if (made.file_ < 0 && (errno == ENOENT || errno == ENOTDIR))
        return base::fail(ErrorKind::kNotFound, "there is no file " + path.string(), "check the path");
    struct stat status {};
    if (made.file_ < 0 || ::fstat(made.file_, &status) != 0) return read_failure(path);
    if (!S_ISREG(status.st_mode))
        return base::fail(ErrorKind::kUsage, path.string() + " is not a file", "name a file");
    const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
    std::array<std::uint8_t, 8> length{};
    base::Bytes beginning;
    if (file_bytes >= 8) {
        ASSAY_TRY(read_exactly(path, made.file_, 0, length));
        std::uint64_t header_bytes = 0;
        for (std::size_t i = 0; i < 8; ++i) header_bytes |= std::uint64_t{length[i]} << (8 * i);
        const std::uint64_t kept = std::min({header_bytes, kSafetensorsMaxHeader, file_bytes - 8});
        beginning.resize(static_cast<std::size_t>(8 + kept));
        ASSAY_TRY(read_exactly(path, made.file_, 0, beginning));
    }
    auto header = parse_safetensors_header(beginning, file_bytes);
    if (!header.ok()) {
        base::Error error = header.error();
        error.what = path.string() + ": " + error.what;
        return base::failed(std::move(error));
    }
    made.header_ = std::move(header).value();
    return made;
}

base::Outcome<void> SafetensorsReader::read(const SafetensorsEntry& entry, std::span<float> out) const {
    ASSAY_CHECK(out.size() == entry.count);
    const std::string who = path_.string() + ": tensor \"" + entry.name + "\"";
    const std::uint64_t at = header_.data_begin + entry.begin;
    if (entry.type == "F32") {
        ASSAY_TRY(
            read_exactly(path_, file_, at, {reinterpret_cast<std::uint8_t*>(out.data()), out.size_bytes()}));
    } else if (entry.type == "F16" || entry.type == "BF16") {
        const bool brain = entry.type == "BF16";
        std::vector<std::uint16_t> piece(std::min(kPiece, out.size()));
        for (std::size_t done = 0; done < out.size(); done += piece.size()) {
            piece.resize(std::min(piece.size(), out.size() - done));
            ASSAY_TRY(read_exactly(path_, file_, at + 2 * done,
                                   {reinterpret_cast<std::uint8_t*>(piece.data()), 2 * piece.size()}));
            for (std::size_t i = 0; i < piece.size(); ++i)
                out[done + i] = brain ? widen_bf16(piece[i]) : widen_f16(piece[i]);
        }
    } else {
        return base::fail(ErrorKind::kUsage, who + " has the type " + entry.type,
                          "save the model with F32, BF16 or F16 weights");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (std::isfinite(out[i])) continue;
        return base::fail(ErrorKind::kUsage,
                          who + " holds " + (std::isnan(out[i]) ? "a NaN" : "an infinity") + " at element " +
                              std::to_string(i),
                          "take a checkpoint from before the training diverged");
    }
    return {};
}

base::Outcome<void> write_safetensors(const std::filesystem::path& path,
                                      std::vector<SafetensorsTensor> tensors) {
    std::sort(tensors.begin(), tensors.end(),
              [](const SafetensorsTensor& a, const SafetensorsTensor& b) { return a.name < b.name; });
    const std::string header = header_text(tensors);
    const std::uint64_t header_bytes = header.size();
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return write_failure(path);
    bool good = write_all(file, &header_bytes, 8) && write_all(file, header.data(), header.size());
    for (const SafetensorsTensor& tensor : tensors) {
        good = good && write_all(file, tensor.values.data(), tensor.values.size_bytes());
    }
    good = good && ::fsync(file) == 0;
    const int error = errno;
    if (::close(file) != 0 && good) return write_failure(path);
    errno = error;
    if (!good) return write_failure(path);
    return {};
}

}  // namespace assay::trainer
