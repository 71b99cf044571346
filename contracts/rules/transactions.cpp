// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/transactions.hpp"

#include <type_traits>
#include <utility>

namespace assay::contracts {

namespace {

/// Decodes the alternative whose type is `type`; nothing when there is none.
template <std::size_t Index = 0>
std::optional<Payload> decode_payload(TxType type, base::Decoder& decoder) {
    if constexpr (Index < std::variant_size_v<Payload>) {
        using Alternative = std::variant_alternative_t<Index, Payload>;
        if (Alternative::kType != type) return decode_payload<Index + 1>(type, decoder);
        Alternative payload;
        decoder(payload);
        return Payload(std::move(payload));
    } else {
        return std::nullopt;
    }
}

}  // namespace

Hash256 transaction_id(ByteView body) { return base::hash("assay/tx-id/v1", body); }

Hash256 job_of(const Payload& payload) {
    return std::visit(
        [](const auto& alternative) {
            if constexpr (requires { alternative.job; }) {
                return alternative.job;
            } else {
                return Hash256{};
            }
        },
        payload);
}

TxType type_of(const Payload& payload) {
    return std::visit([](const auto& alternative) { return std::decay_t<decltype(alternative)>::kType; },
                      payload);
}

Bytes encode_body(const TxBody& body) {
    base::Encoder encoder;
    encoder(type_of(body.payload), body.sender, body.nonce, body.expiry);
    std::visit([&](const auto& payload) { encoder(payload); }, body.payload);
    return std::move(encoder).take();
}

Result<TxBody, Reason> decode_body(ByteView bytes) {
    base::Decoder decoder(bytes);
    std::uint16_t number = 0;
    TxBody body;
    decoder(number, body.sender, body.nonce, body.expiry);
    if (decoder.error()) return failed(Reason::kMalformed);
    auto payload = decode_payload(static_cast<TxType>(number), decoder);
    if (!payload) return failed(Reason::kUnknownType);
    if (decoder.error() || !decoder.rest().empty()) return failed(Reason::kMalformed);
    body.payload = std::move(*payload);
    return body;
}

Bytes sign_transaction(const TxBody& body, const base::SecretKey& key, std::string_view chain) {
    ASSAY_CHECK(body.sender == key.public_key());
    SignedTransaction transaction;
    transaction.body = encode_body(body);
    transaction.signature = key.sign(kTxDomain, chain, transaction.body);
    return base::encode(transaction);
}

Signature prove_node_key(const base::SecretKey& node, const PublicKey& owner, std::string_view chain) {
    return node.sign(kNodeKeyDomain, chain, owner.view());
}

}  // namespace assay::contracts
