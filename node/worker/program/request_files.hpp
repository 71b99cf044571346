// SPDX-License-Identifier: Apache-2.0
// Gives the worker's requests the files that come with them, read strictly, and the files of their answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/result.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/worker/frames.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/program/job.hpp"

namespace assay::verifier {

namespace frames = worker;

inline base::Failed<frames::Refusal> refuse(frames::RefusalReason reason, std::string text) {
    return base::failed(frames::Refusal{reason, std::move(text), {}});
}

inline base::Failed<frames::Refusal> refuse(const base::Error& error) {
    return base::failed(to_refusal(error));
}

/// Maps a file. One that cannot be mapped is this machine's failure; one that cannot be a file of ours is bad
/// bytes.
inline base::Result<frames::Mapping, frames::Refusal> map_file(const frames::SharedDescriptor& file) {
    auto mapping = frames::Mapping::of(*file, frames::kMaxBulk);
    if (!mapping.ok()) return refuse(mapping.error());
    return std::move(mapping).value();
}

/// Decodes a passed file without copying it first; kBadBytes when it does not decode.
template <class Decode>
auto read_bulk(const frames::SharedDescriptor& file, std::uint64_t parameters, const Decode& decode)
    -> base::Result<std::decay_t<decltype(decode(base::ByteView(), parameters).value())>, frames::Refusal> {
    ASSAY_ASSIGN(const frames::Mapping mapping, map_file(file));
    auto decoded = decode(mapping.bytes(), parameters);
    if (!decoded.ok()) return refuse(frames::RefusalReason::kBadBytes, decoded.error().what);
    return std::move(decoded).value();
}

/// The same for a file that a peer served. Bytes that are no such file give nothing instead of a refusal.
template <class Decode>
auto read_claimed(const frames::SharedDescriptor& file, std::uint64_t parameters, const Decode& decode)
    -> base::Result<std::optional<std::decay_t<decltype(decode(base::ByteView(), parameters).value())>>,
                    frames::Refusal> {
    using Decoded = std::decay_t<decltype(decode(base::ByteView(), parameters).value())>;
    auto decoded = read_bulk(file, parameters, decode);
    if (decoded.ok()) return std::optional<Decoded>(std::move(decoded).value());
    if (decoded.error().reason == frames::RefusalReason::kBadBytes) return std::optional<Decoded>();
    return base::failed(decoded.error());
}

inline base::Result<frames::SharedDescriptor, frames::Refusal> bulk_file(const char* label,
                                                                         base::ByteView bytes) {
    auto file = frames::memory_file(label, bytes);
    if (!file.ok()) return refuse(file.error());
    return std::move(file).value();
}

/// Checks weight and clip of an update in a merge, which may come from a stranger's claim on the ledger.
inline base::Result<void, frames::Refusal> check_share(std::uint64_t weight, std::uint32_t clip) {
    if (program::is_share(weight, clip)) return {};
    return refuse(frames::RefusalReason::kBadRequest, "an update of a merge has weight " +
                                                          std::to_string(weight) + " and clip " +
                                                          std::to_string(clip) + ": out of range");
}

/// Checks that the request came with exactly `count` files.
inline base::Result<void, frames::Refusal> all_taken(const std::vector<frames::SharedDescriptor>& files,
                                                     std::size_t count) {
    if (count == files.size()) return {};
    return refuse(frames::RefusalReason::kBadRequest, "a request came with " + std::to_string(files.size()) +
                                                          " files where it needs " + std::to_string(count));
}

}  // namespace assay::verifier
