// SPDX-License-Identifier: Apache-2.0
// safetensors headers: the tensors of a header that is read cover the file's data, each byte once.
#include "contracts/base/check.hpp"
#include "tests/fuzz/target.hpp"
#include "trainer/model/safetensors.hpp"

namespace assay::fuzz {
namespace {

base::Bytes file_of(std::string header, std::size_t data_bytes) {
    base::Bytes out;
    for (std::size_t i = 0; i < 8; ++i)
        out.push_back(static_cast<std::uint8_t>((header.size() >> (8 * i)) & 0xffU));
    out.insert(out.end(), header.begin(), header.end());
    out.resize(out.size() + data_bytes);
    return out;
}

}  // namespace

std::vector<base::Bytes> seeds() {
    return {
        file_of("{}", 0),
        file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
                R"("c":{"dtype":"I64","shape":[0],"data_offsets":[22,22]}})",
                22)};
}

void run(base::ByteView input) {
    const auto header = trainer::parse_safetensors_header(input, input.size());
    if (!header.ok()) return;
    std::uint64_t end = 0;
    for (const trainer::SafetensorsEntry& tensor : header->tensors) {
        ASSAY_CHECK(tensor.begin == end && tensor.end >= end);
        ASSAY_CHECK(tensor.count <= tensor.end - tensor.begin);
        end = tensor.end;
    }
    ASSAY_CHECK(header->data_begin + end == input.size());
}

}  // namespace assay::fuzz
