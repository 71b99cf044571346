// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/channel.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>

#include <thread>

#include "health.grpc.pb.h"
#include "node/rpc/credentials.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/protobuf_log.hpp"

namespace assay::node {
namespace {

// A peer that declares a huge message gets the stream cut instead of our memory: a message limit alone does
// not bound what is buffered. One quota for all would let a holder that floods us stall the ledger's channel
// and every other holder.
constexpr std::size_t kLedgerQuota = std::size_t{128} << 20;
constexpr std::size_t kProbeQuota = std::size_t{8} << 20;
constexpr std::size_t kPeerQuota = std::size_t{16} << 20;  // in less, messages of 3 MiB were cut

// Channels keep the quota alive.
void set_quota(grpc::ChannelArguments& args, ChannelUse use) {
    static grpc::ResourceQuota ledger("assay-ledger-clients"), probes("assay-probes");
    if (use == ChannelUse::kLedger) return args.SetResourceQuota(ledger.Resize(kLedgerQuota));
    if (use == ChannelUse::kProbe || use == ChannelUse::kOwnProbe)
        return args.SetResourceQuota(probes.Resize(kProbeQuota));
    grpc::ResourceQuota peer("assay-peer");
    args.SetResourceQuota(peer.Resize(kPeerQuota));
}

grpc::ChannelArguments channel_arguments(ChannelUse use) {
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(4 << 20);
    args.SetMaxSendMessageSize(4 << 20);
    set_quota(args, use);
    // No compression in either direction: a kilobyte must not become a gigabyte.
    args.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1);
    args.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    args.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1'000);
    args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
    // Above the server's minimum of 60 s, so that it never counts as abuse.
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 90'000);
    args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    if (use != ChannelUse::kLedger) args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return args;
}

}  // namespace

base::Outcome<std::shared_ptr<grpc::Channel>> open_channel(const ClientOptions& options, ChannelUse use) {
    mute_protobuf_log();
    ASSAY_ASSIGN(const HostPort address, parse_host_port(options.address));
    if (address.port == 0) {
        return base::fail(base::ErrorKind::kUsage,
                          "'" + options.address + "' has port 0, which nobody listens on",
                          "give the port that the node printed when it started");
    }
    ASSAY_ASSIGN(const auto credentials, use == ChannelUse::kOwnProbe
                                             ? own_server_credentials(options.tls)
                                             : client_credentials(address.host, options.tls));
    return grpc::CreateCustomChannel(options.address, credentials, channel_arguments(use));
}

void set_deadline(grpc::ClientContext& context, std::chrono::milliseconds from_now) {
    context.set_deadline(std::chrono::system_clock::now() + from_now);
}

namespace {
base::Outcome<void> ask_health(const ClientOptions& options, ChannelUse use) {
    ASSAY_ASSIGN(const auto channel, open_channel(options, use));
    grpc::ClientContext context;
    set_deadline(context, options.deadline);
    grpc::health::v1::HealthCheckResponse response;
    const auto stub = grpc::health::v1::Health::NewStub(channel);
    const grpc::Status status = stub->Check(&context, {}, &response);
    if (!status.ok()) return base::failed(to_error(status, options.address));
    if (response.status() != grpc::health::v1::HealthCheckResponse::SERVING) {
        return base::fail(base::ErrorKind::kUnreachable, options.address + " says that it is not serving",
                          "wait until it has started, or look at its log");
    }
    return {};
}
}  // namespace

base::Outcome<void> check_health(const ClientOptions& options) {
    return ask_health(options, ChannelUse::kProbe);
}

base::Outcome<void> check_own_health(const ClientOptions& options) {
    return ask_health(options, ChannelUse::kOwnProbe);
}

base::Outcome<void> wait_until_healthy(const ClientOptions& options, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
        auto health = check_health(options);
        if (health.ok() || health.error().kind == base::ErrorKind::kUsage) return health;
        if (std::chrono::steady_clock::now() >= until) return health;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace assay::node
