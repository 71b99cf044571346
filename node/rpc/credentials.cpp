// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/credentials.hpp"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <vector>

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

Outcome<std::string> read_pem(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return fail(ErrorKind::kKey, "cannot read the TLS file " + path.string(),
                    "check the path and that this user may read it");
    }
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (text.find("-----BEGIN ") == std::string::npos) {
        return fail(ErrorKind::kKey, path.string() + " is not a PEM file",
                    "give certificate, key and ca as PEM (openssl writes it by default)");
    }
    return text;
}

struct Pem {
    std::string certificate, key, ca;
};

Outcome<Pem> read_all(const TlsFiles& files) {
    struct stat status {};
    if (stat(files.key.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return fail(ErrorKind::kKey, "others can read the TLS key " + files.key.string(),
                    "chmod 600 " + files.key.string());
    }
    Pem pem;
    ASSAY_ASSIGN(pem.certificate, read_pem(files.certificate));
    ASSAY_ASSIGN(pem.key, read_pem(files.key));
    ASSAY_ASSIGN(pem.ca, read_pem(files.ca));
    return pem;
}

base::Failed<base::Error> needs_tls(const std::string& host) {
    return fail(ErrorKind::kUsage, "'" + host + "' is not a loopback address and there are no TLS files",
                "use 127.0.0.1, or give --tls-cert, --tls-key and --tls-ca (mutual TLS)");
}

}  // namespace

Outcome<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const std::string& host,
                                                                     const std::optional<TlsFiles>& tls) {
    if (!tls) {
        if (!is_loopback(host)) return needs_tls(host);
        return grpc::InsecureServerCredentials();
    }
    ASSAY_ASSIGN(const Pem pem, read_all(*tls));
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = pem.ca;
    options.pem_key_cert_pairs.push_back({pem.key, pem.certificate});
    return grpc::SslServerCredentials(options);
}

Outcome<std::shared_ptr<grpc::ChannelCredentials>> client_credentials(const std::string& host,
                                                                      const std::optional<TlsFiles>& tls) {
    if (!tls) {
        if (!is_loopback(host)) return needs_tls(host);
        return grpc::InsecureChannelCredentials();
    }
    ASSAY_ASSIGN(const Pem pem, read_all(*tls));
    return grpc::SslCredentials(
        {.pem_root_certs = pem.ca, .pem_private_key = pem.key, .pem_cert_chain = pem.certificate});
}

Outcome<std::shared_ptr<grpc::ChannelCredentials>> own_server_credentials(
    const std::optional<TlsFiles>& tls) {
    namespace ssl = grpc::experimental;
    if (!tls) return grpc::InsecureChannelCredentials();
    ASSAY_ASSIGN(const Pem pem, read_all(*tls));
    ssl::TlsChannelCredentialsOptions options;
    const std::vector<ssl::IdentityKeyCertPair> identity{{pem.key, pem.certificate}};
    options.set_certificate_provider(std::make_shared<ssl::StaticDataCertificateProvider>(pem.ca, identity));
    options.watch_root_certs();
    options.watch_identity_key_cert_pairs();
    options.set_certificate_verifier(std::make_shared<ssl::NoOpCertificateVerifier>());
    options.set_check_call_host(false);
    return ssl::TlsCredentials(options);
}

}  // namespace assay::node
