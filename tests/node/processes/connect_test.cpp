// SPDX-License-Identifier: Apache-2.0
// A role that starts while its ledger node is started again.
#include "node/processes/connect.hpp"

#include "tests/node/processes/site.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

/// Answers for its status with errors at first. Knows nothing else.
class FailingLedger final : public LedgerService {
public:
    FailingLedger(int failures, ErrorKind kind) : failures_(failures), kind_(kind) {}
    Outcome<LedgerStatus> status() override {
        if (asked++ < failures_) return base::fail(kind_, "connection reset");
        return LedgerStatus{"test", 7, {}, {}, "0.1"};
    }
    Outcome<SubmitReply> submit(ByteView) override { return no(); }
    Outcome<StateValue> get(ByteView) override { return no(); }
    Outcome<StatePage> scan(const ScanRequest&) override { return no(); }
    Outcome<Bytes> block(std::uint64_t) override { return no(); }
    Outcome<void> subscribe(std::uint64_t, std::stop_token, const BlockHandler&) override { return no(); }
    int asked = 0;

private:
    static base::Failed<base::Error> no() { return base::fail(ErrorKind::kFailure, "not asked for"); }
    int failures_;
    ErrorKind kind_;
};

}  // namespace

TEST_CASE("a node that is started again while it is asked is asked again; what it answers is taken") {
    const test_site::Site site;
    const ClientOptions client{.address = site.node->address(), .deadline = std::chrono::seconds(5)};
    FailingLedger restarts(3, ErrorKind::kUnreachable);
    const auto status = ask_status(restarts, client);
    REQUIRE(status.ok());
    CHECK(status->height == 7);
    CHECK(restarts.asked == 4);
    FailingLedger refuses(1, ErrorKind::kFailure);
    CHECK(ask_status(refuses, client).error().kind == ErrorKind::kFailure);
    CHECK(refuses.asked == 1);
}

}  // namespace assay::node
