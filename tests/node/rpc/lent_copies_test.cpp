// SPDX-License-Identifier: Apache-2.0
// What a server's calls keep of blocks: one copy of each, within a limit for each address and for all.
#include "node/rpc/lent_copies.hpp"

#include <memory>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using Blocks = LentCopies<base::Bytes>;

struct Lender {
    /// The block of `height`, of as many bytes as its height.
    Blocks::Copy borrow(std::uint64_t height, const std::string& address) {
        return blocks
            .borrow(
                height, address,
                [&]() -> base::Outcome<Blocks::Copy> {
                    ++reads;
                    return std::make_shared<const base::Bytes>(height);
                },
                [](const base::Bytes& bytes) { return bytes.size(); })
            .value();
    }
    int reads = 0;
    Blocks blocks{ByteLimits{.total = 100, .per_address = 40}};
};

}  // namespace

TEST_CASE("calls that send the same block share one copy, which counts once and goes with the last of them") {
    Lender lender;
    std::vector<Blocks::Copy> copies;
    for (int i = 0; i < 50; ++i) copies.push_back(lender.borrow(30, i % 2 == 0 ? "here" : "there"));
    CHECK(lender.reads == 1);
    CHECK(lender.blocks.bytes() == 30);
    for (const auto& copy : copies) CHECK(copy.get() == copies.front().get());
    copies.pop_back();
    CHECK(lender.blocks.bytes() == 30);
    copies.clear();
    CHECK(lender.blocks.bytes() == 0);
    CHECK(lender.borrow(30, "here")->size() == 30);
    CHECK(lender.reads == 2);
}

TEST_CASE("an address that holds its share gets no other block, and other addresses do, until all is full") {
    Lender lender;
    auto first = lender.borrow(20, "a");
    auto second = lender.borrow(19, "a");
    CHECK(lender.borrow(2, "a") == nullptr);
    CHECK(lender.borrow(20, "a") != nullptr);  // it has that one
    auto third = lender.borrow(39, "b");
    CHECK(lender.borrow(20, "b") == nullptr);  // shared, and still its own burden
    CHECK(lender.borrow(23, "c") == nullptr);  // 101 in all
    const auto fourth = lender.borrow(22, "c");
    CHECK(fourth != nullptr);
    CHECK(lender.blocks.bytes() == 100);
    second.reset();
    CHECK(lender.borrow(2, "a") != nullptr);
    first.reset();
    third.reset();
    CHECK(lender.blocks.bytes() == 22);
    CHECK(lender.borrow(40, "a") != nullptr);
}

TEST_CASE("who holds nothing gets one block, however long, and a block that cannot be read is nobody's") {
    Lender lender;
    {
        const auto whole = lender.borrow(1'000, "a");
        REQUIRE(whole != nullptr);
        CHECK(whole->size() == 1'000);
        CHECK(lender.borrow(1, "a") == nullptr);
        CHECK(lender.borrow(1, "b") == nullptr);
    }
    CHECK(lender.borrow(1, "b") != nullptr);
    const auto failed = lender.blocks.borrow(
        7, "a",
        []() -> base::Outcome<Blocks::Copy> { return base::fail(base::ErrorKind::kNotFound, "gone"); },
        [](const base::Bytes& bytes) { return bytes.size(); });
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().what == "gone");
    CHECK(lender.blocks.bytes() == 0);
}

}  // namespace assay::node
