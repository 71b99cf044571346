// SPDX-License-Identifier: Apache-2.0
// What a holder says over the call that it opened (node/rpc/outward_desk.cpp): any bytes are no message, or
// one whose description is refused by name or says no more than its size and leaves allow, and is written
// again as it was read.
#include <algorithm>

#include "contracts/base/check.hpp"
#include "node/rpc/client_errors.hpp"
#include "node/rpc/description.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

base::Bytes bytes_of(const v1::LendAnswer& answer) {
    std::string text;
    ASSAY_CHECK(answer.SerializeToString(&text));
    return base::to_bytes(base::as_bytes(text));
}

node::BlobDescription description(std::size_t chunks, std::vector<bool> held) {
    node::BlobDescription made;
    made.size = chunks << 20;
    for (std::size_t i = 0; i < chunks; ++i) made.leaves.push_back(base::hash("fuzz/leaf", {}));
    made.held = std::move(held);
    return made;
}

void check_description(const v1::DescribeResponse& message) {
    const auto read = node::to_description(message, "holder");
    if (!read.ok()) {
        ASSAY_CHECK(!read.error().what.empty());
        return;
    }
    ASSAY_CHECK(read->held.empty() || read->held.size() == read->leaves.size());
    v1::DescribeResponse again;
    node::write_description(*read, again);
    ASSAY_CHECK(again.size() == message.size());
    ASSAY_CHECK(again.leaves() == message.leaves());
    ASSAY_CHECK(again.held() == message.held());
}

}  // namespace

std::vector<base::Bytes> seeds() {
    std::vector<base::Bytes> out;
    for (const auto& held : {std::vector<bool>{}, std::vector<bool>(9, true), std::vector<bool>(9, false)}) {
        v1::LendAnswer answer;
        node::write_description(description(9, held), *answer.mutable_description());
        out.push_back(bytes_of(answer));
    }
    v1::LendAnswer chunk;
    chunk.mutable_chunk()->set_index(3);
    chunk.mutable_chunk()->set_data("a chunk");
    out.push_back(bytes_of(chunk));
    v1::LendAnswer refusal;
    refusal.mutable_refusal()->set_code(5);
    refusal.mutable_refusal()->set_text("not here");
    out.push_back(bytes_of(refusal));
    v1::LendAnswer hello;
    hello.mutable_hello()->set_node(std::string(32, 'k'));
    hello.mutable_hello()->set_signature(std::string(64, 's'));
    out.push_back(bytes_of(hello));
    return out;
}

void run(base::ByteView input) {
    v1::LendAnswer answer;
    if (!answer.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
    if (answer.has_description()) check_description(answer.description());
}

}  // namespace assay::fuzz
