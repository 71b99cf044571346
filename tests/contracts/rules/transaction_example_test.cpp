// SPDX-License-Identifier: Apache-2.0
// The example of docs/formats/transaction.md.
#include "contracts/rules/transactions.hpp"
#include "tests/support/format_example.hpp"

namespace assay::contracts {

TEST_CASE("the example of docs/formats/transaction.md is right") {
    const auto named = [](const std::string& name) { return base::hash("example", base::as_bytes(name)); };
    const base::SecretKey key = base::SecretKey::from_seed(base::Bytes(32, 7));
    const TxBody body{.sender = key.public_key(),
                      .nonce = 1,
                      .expiry = 100'079,
                      .payload = BeaconOpen{named("job"), 0, named("link"), 3}};
    const base::Bytes bytes = sign_transaction(body, key, "example");
    assay::test::check_example("transaction.md", bytes);
    INFO(transaction_id(encode_body(body)).hex());
    CHECK(assay::test::format_page("transaction.md")
              .find("Its id is `" + transaction_id(encode_body(body)).hex() + "`") != std::string::npos);
}

}  // namespace assay::contracts
