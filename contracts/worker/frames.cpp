// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/frames.hpp"

namespace assay::worker {

using base::DecodeError;
using base::failed;
using base::Result;

namespace {

constexpr std::size_t kMaxDrills = 16;
constexpr std::size_t kMaxTokens = 65536;
constexpr std::size_t kMaxMerged = kMaxDescriptors - 1;

/// Lists that a record bounds more tightly than the payload does.
bool within_bounds(const Message& message) {
    if (const auto* train = std::get_if<Train>(&message)) return train->drills.size() <= kMaxDrills;
    if (const auto* merge = std::get_if<Merge>(&message)) return merge->accepted.size() <= kMaxMerged;
    if (const auto* sample = std::get_if<Sample>(&message)) return sample->prompt.size() <= kMaxTokens;
    if (const auto* sampled = std::get_if<Sampled>(&message)) return sampled->tokens.size() <= kMaxTokens;
    if (const auto* array = std::get_if<DescendArray>(&message)) return array->merged.size() <= kMaxMerged;
    if (const auto* descended = std::get_if<Descended>(&message)) {
        return descended->answer.hashes.size() <= dispute::kMaxMoveHashes &&
               descended->answer.witness.size() <= dispute::kMaxWitnessBytes;
    }
    if (const auto* refusal = std::get_if<Refusal>(&message)) return refusal->fix.size() <= kMaxFix;
    return true;
}

template <std::size_t I = 0>
Result<Message, DecodeError> decode_alternative(std::uint16_t kind, base::ByteView payload) {
    if constexpr (I == std::variant_size_v<Message>) {
        return failed(DecodeError::kBadVariant);
    } else {
        using Record = std::variant_alternative_t<I, Message>;
        if (kind != static_cast<std::uint16_t>(Record::kKind))
            return decode_alternative<I + 1>(kind, payload);
        ASSAY_ASSIGN(auto record, base::decode<Record>(payload));
        return Message(std::move(record));
    }
}

/// Counts for requests and answers whose descriptors depend on nothing but their fields.
struct Bounds {
    using Pair = std::pair<std::size_t, std::size_t>;
    Pair operator()(const OpenJob&) const { return {2, 2}; }
    Pair operator()(const BaseStateFrame&) const { return {1, 1}; }
    Pair operator()(const Train& train) const {
        const std::size_t states = (train.carried_in.is_zero() ? 0U : 1U) + (train.resume ? 1U : 0U);
        return {1 + states, 1 + states * kMaxStateFiles};
    }
    Pair operator()(const Boundary&) const { return {2, kMaxStateFiles}; }
    Pair operator()(const Trained&) const { return {0, 1}; }
    Pair operator()(const Replay&) const { return {1, 1 + kMaxStateFiles}; }
    Pair operator()(const Replayed&) const { return {0, kMaxStateFiles}; }
    Pair operator()(const Descend&) const { return {1, 1 + kMaxStateFiles}; }
    Pair operator()(const DescendArray& request) const {
        const std::size_t merged = request.merged.size();
        switch (request.question.subject) {
            case dispute::ArraySubject::kUpdate: return {2, 1 + kMaxStateFiles};
            case dispute::ArraySubject::kClip: return {1, 1};
            default: return {1 + merged, 1 + merged};
        }
    }
    Pair operator()(const Descended&) const { return {0, kMaxStateFiles}; }
    Pair operator()(const Merge& merge) const {
        return {1 + merge.accepted.size(), 1 + merge.accepted.size()};
    }
    Pair operator()(const Initial&) const { return {0, 1}; }
    Pair operator()(const Evaluate&) const { return {1, 1}; }
    Pair operator()(const Root& root) const {
        const bool state = root.kind == BulkKind::kSlotState || root.kind == BulkKind::kCarried;
        return {1, state ? kMaxStateFiles : 1};
    }
    Pair operator()(const Sample&) const { return {1, 1}; }
    template <class Other>
    Pair operator()(const Other&) const {
        return {0, 0};
    }
};

}  // namespace

FrameKind kind_of(const Message& message) {
    return std::visit([](const auto& record) { return std::decay_t<decltype(record)>::kKind; }, message);
}

Result<Message, DecodeError> decode_message(std::uint16_t kind, base::ByteView payload) {
    if (payload.size() > kMaxPayload) return failed(DecodeError::kTooLong);
    ASSAY_ASSIGN(auto message, decode_alternative(kind, payload));
    if (!within_bounds(message)) return failed(DecodeError::kTooLong);
    return message;
}

base::Bytes encode_message(const Message& message) {
    return std::visit([](const auto& record) { return base::encode(record); }, message);
}

std::pair<std::size_t, std::size_t> descriptor_bounds(const Message& message) {
    return std::visit(Bounds{}, message);
}

bool is_final(const Message& message) {
    switch (kind_of(message)) {
        case FrameKind::kOpened:
        case FrameKind::kBaseState:
        case FrameKind::kTrained:
        case FrameKind::kReplayed:
        case FrameKind::kEvaluated:
        case FrameKind::kRooted:
        case FrameKind::kSampled:
        case FrameKind::kDescended:
        case FrameKind::kRefusal: return true;
        default: return false;
    }
}

std::string step_memory(const Opened& opened) {
    constexpr std::uint64_t kMebibyte = 1U << 20U;
    return std::to_string((opened.step_bytes + kMebibyte - 1) / kMebibyte) + " MiB";
}

std::string_view to_text(RefusalReason reason) {
    switch (reason) {
        case RefusalReason::kBadFrame: return "bad frame";
        case RefusalReason::kNoJob: return "no job is open";
        case RefusalReason::kBadRequest: return "bad request";
        case RefusalReason::kBadBytes: return "bad bytes";
        case RefusalReason::kCancelled: return "cancelled";
        case RefusalReason::kNotSupported: return "not supported";
        case RefusalReason::kDrillForbidden: return "drills are for devnets only";
        case RefusalReason::kInternal: return "internal failure";
        case RefusalReason::kDiverged: return "diverged";
        case RefusalReason::kMachine: return "this machine cannot do it";
        case RefusalReason::kUnsound: return "this machine is not sound";
        case RefusalReason::kLost: return "the device is lost";
    }
    return "unknown reason";
}

RefusalCause cause_of(RefusalReason reason) {
    switch (reason) {
        case RefusalReason::kNoJob:
        case RefusalReason::kCancelled: return RefusalCause::kPassing;
        case RefusalReason::kBadBytes: return RefusalCause::kBytes;
        case RefusalReason::kBadRequest:
        case RefusalReason::kNotSupported:
        case RefusalReason::kDrillForbidden: return RefusalCause::kRequest;
        case RefusalReason::kDiverged: return RefusalCause::kResult;
        case RefusalReason::kBadFrame:
        case RefusalReason::kInternal:
        case RefusalReason::kMachine: return RefusalCause::kMeans;
        case RefusalReason::kUnsound: return RefusalCause::kUnsound;
        case RefusalReason::kLost: return RefusalCause::kLost;
    }
    return RefusalCause::kMeans;
}

}  // namespace assay::worker
