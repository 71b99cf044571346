// SPDX-License-Identifier: Apache-2.0
// Frames between a role and its worker: a stream of any bytes gives whole canonical frames or an error, and a
// frame that is accepted encodes to the bytes that came.
#include <sys/socket.h>

#include <algorithm>

#include "node/wire/channel.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

using namespace worker;

namespace {

/// A frame without descriptors, as it stands in the stream.
base::Bytes frame(const Message& message) {
    const base::Bytes payload = encode_message(message);
    base::Encoder encoder;
    encoder(static_cast<std::uint32_t>(payload.size()), static_cast<std::uint16_t>(kind_of(message)),
            std::uint16_t{0}, std::uint64_t{1});
    encoder.raw(payload);
    return std::move(encoder).take();
}

}  // namespace

std::vector<base::Bytes> seeds() {
    program::TraceRecord trace;
    trace.boundaries.resize(3);
    trace.fingerprints.resize(4);
    trace.divergence = program::Divergence{1, 2};
    return {
        frame(Hello{kProtocolVersion, "heap", {"avx2", "scalar"}, 2, {}}),
        frame(Trained{trace, {}, 1, 2}),
        frame(Replayed{
            UnitVerdict::kMisplaced, {{}, {}, trace.fingerprints, trace.divergence, {}, {}}, "a step", 2}),
        frame(Sampled{{1, 2, 3}}),
        frame(Descended{{std::vector<base::Hash256>(3), base::Bytes(40, 7)}, 9}),
        frame(Cancel{}),
        frame(Pulse{}),
        frame(Refusal{RefusalReason::kNoJob, "text", "fix"})};
}

void run(base::ByteView input) {
    constexpr std::size_t kSocketHolds = 60000;  // more would block, since nobody reads at the same time
    if (input.size() > kSocketHolds) return;
    auto ends = socket_pair();
    ASSAY_CHECK(ends.ok());
    const Channel writer(std::move(ends->first));
    Channel reader(std::move(ends->second));
    ASSAY_CHECK(::send(writer.number(), input.data(), input.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(input.size()));
    ASSAY_CHECK(::shutdown(writer.number(), SHUT_WR) == 0);
    base::Bytes accepted;
    while (true) {
        const auto envelope = reader.receive();
        if (!envelope.ok()) break;
        const base::Bytes payload = encode_message(envelope->message);
        base::Encoder encoder;
        encoder(static_cast<std::uint32_t>(payload.size()),
                static_cast<std::uint16_t>(kind_of(envelope->message)), std::uint16_t{0}, envelope->request);
        encoder.raw(payload);
        const base::Bytes bytes = std::move(encoder).take();
        accepted.insert(accepted.end(), bytes.begin(), bytes.end());
    }
    ASSAY_CHECK(accepted.size() <= input.size());
    ASSAY_CHECK(std::equal(accepted.begin(), accepted.end(), input.begin()));
}

}  // namespace assay::fuzz
