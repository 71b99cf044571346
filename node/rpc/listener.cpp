// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/listener.hpp"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <mutex>

#include "node/rpc/credentials.hpp"
#include "node/rpc/protobuf_log.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

class Listener final : public RpcServer {
public:
    Listener(std::unique_ptr<Adapter> adapter, std::unique_ptr<grpc::Server> server, std::string host,
             int port)
        : adapter_(std::move(adapter)),
          server_(std::move(server)),
          host_(std::move(host)),
          port_(static_cast<std::uint16_t>(port)) {}
    ~Listener() override { stop(); }

    [[nodiscard]] std::uint16_t port() const override { return port_; }
    [[nodiscard]] std::string address() const override {
        const std::string host = host_.find(':') == std::string::npos ? host_ : "[" + host_ + "]";
        return host + ":" + std::to_string(port_);
    }
    void stop() override {
        std::call_once(stopped_, [this] {
            adapter_->stop();
            server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
            server_->Wait();
        });
    }

private:
    std::unique_ptr<Adapter> adapter_;  // outlives the server that calls it
    std::unique_ptr<grpc::Server> server_;
    std::string host_;
    std::uint16_t port_;
    std::once_flag stopped_;
};

void set_limits(grpc::ServerBuilder& builder, const ServerLimits& limits, const std::string& name) {
    builder.SetMaxReceiveMessageSize(limits.receive_bytes);
    builder.SetMaxSendMessageSize(4 << 20);
    // A message limit does not bound what is buffered; the quota does. Every listener has its own, so that a
    // flood of one does not starve the other.
    grpc::ResourceQuota quota("assay-" + name);
    quota.Resize(limits.memory_bytes);
    builder.SetResourceQuota(quota);

    builder.SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);

    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.streams_per_connection);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 5'000);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300'000);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 3'600'000);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 60'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 60'000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
    // Two nodes on one port would each get some of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

Outcome<std::unique_ptr<RpcServer>> listen(std::unique_ptr<Adapter> adapter, const ServerOptions& options,
                                           const std::string& name) {
    ASSAY_ASSIGN(const HostPort address, parse_host_port(options.listen));
    ASSAY_ASSIGN(const auto credentials, server_credentials(address.host, options.tls));
    mute_protobuf_log();
    // The factory of the health service is process-wide and must be set before the first server.
    static std::once_flag health;
    std::call_once(health, [] { grpc::EnableDefaultHealthCheckService(true); });

    grpc::ServerBuilder builder;
    set_limits(builder, options.limits, name);
    int port = 0;
    builder.AddListeningPort(options.listen, credentials, &port);
    builder.RegisterService(&adapter->service());
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (!server || port <= 0) {
        if (server) server->Shutdown();
        return fail(ErrorKind::kFailure,
                    "cannot listen on " + options.listen + " (" + name +
                        "): the port is taken or the "
                        "address is not of this machine",
                    "stop the program that uses it, or choose another port (0 lets the system choose)");
    }
    return std::unique_ptr<RpcServer>(
        std::make_unique<Listener>(std::move(adapter), std::move(server), address.host, port));
}

}  // namespace assay::node
