// SPDX-License-Identifier: Apache-2.0
#include "node/key/key_file.hpp"

#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <array>

#include "contracts/base/codec.hpp"
#include "node/key/key_file_disk.hpp"

namespace assay::base {
ASSAY_ENUM_RANGE(node::KeyRole, kOwner, kNode);
ASSAY_ENUM_RANGE(node::KeyProtection, kModerate, kInteractive);
}  // namespace assay::base

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

constexpr std::array<std::uint8_t, 6> kMagic{'A', 'S', 'Y', 'K', 'E', 'Y'};
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kSeedBytes = 32;

// Everything before the ciphertext; it is the ciphertext's associated data, so no byte of it can be changed.
struct KeyFileHead {
    std::array<std::uint8_t, 6> magic = kMagic;
    std::uint8_t version = kVersion;
    KeyRole role = KeyRole::kNode;
    KeyProtection protection = KeyProtection::kModerate;
    std::uint64_t opslimit = 0;
    std::uint64_t memlimit = 0;
    std::array<std::uint8_t, crypto_pwhash_SALTBYTES> salt{};
    std::array<std::uint8_t, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
    base::PublicKey public_key;

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.magic, self.version, self.role, self.protection, self.opslimit, self.memlimit, self.salt,
              self.nonce, self.public_key);
    }
};

struct File {
    KeyFileHead head;
    std::array<std::uint8_t, kSeedBytes + crypto_aead_xchacha20poly1305_ietf_ABYTES> box{};

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.head, self.box);
    }
};

// Guarded, locked memory that is wiped when it goes.
class Secret {
public:
    explicit Secret(std::size_t size) : bytes_(static_cast<std::uint8_t*>(sodium_malloc(size))), size_(size) {
        ASSAY_CHECK(bytes_ != nullptr);
    }
    ~Secret() { sodium_free(bytes_); }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    [[nodiscard]] std::uint8_t* data() const { return bytes_; }
    [[nodiscard]] base::ByteView view() const { return {bytes_, size_}; }

private:
    std::uint8_t* bytes_;
    std::size_t size_;
};

void set_cost(KeyFileHead& head, KeyProtection protection) {
    head.protection = protection;
    const bool moderate = protection == KeyProtection::kModerate;
    head.opslimit = moderate ? crypto_pwhash_OPSLIMIT_MODERATE : crypto_pwhash_OPSLIMIT_INTERACTIVE;
    head.memlimit = moderate ? crypto_pwhash_MEMLIMIT_MODERATE : crypto_pwhash_MEMLIMIT_INTERACTIVE;
}

Outcome<void> derive(const KeyFileHead& head, const Passphrase& passphrase, Secret& key) {
    const std::string& text = passphrase.text();
    if (crypto_pwhash(key.data(), crypto_aead_xchacha20poly1305_ietf_KEYBYTES, text.data(), text.size(),
                      head.salt.data(), head.opslimit, static_cast<std::size_t>(head.memlimit),
                      crypto_pwhash_ALG_ARGON2ID13) != 0) {
        return fail(
            ErrorKind::kKey,
            "not enough memory to open the key (" + std::to_string(head.memlimit >> 20) + " MiB are needed)",
            "free some memory and try again");
    }
    return {};
}

Outcome<File> read_file(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes bytes, read_secret_file(path, SecretKind::kKeyFile));
    if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
        return fail(ErrorKind::kKey, path.string() + " is not a key file",
                    "check the path; `assay key new` makes one");
    }
    if (bytes.size() > kMagic.size() && bytes[kMagic.size()] != kVersion) {
        return fail(ErrorKind::kKey,
                    path.string() + " has key file version " + std::to_string(bytes[kMagic.size()]) +
                        ", this program knows version " + std::to_string(kVersion),
                    "use the program that wrote it, or a newer one");
    }
    const auto file = base::decode<File>(bytes);
    if (!file) {
        return fail(ErrorKind::kKey,
                    "the key file " + path.string() + " is damaged (" +
                        std::string(base::to_text(file.error())) + ")",
                    "restore it from a backup");
    }
    // The cost comes from the file and is spent before anything is authenticated: only the two known ones.
    KeyFileHead known;
    set_cost(known, file->head.protection);
    if (file->head.opslimit != known.opslimit || file->head.memlimit != known.memlimit) {
        return fail(ErrorKind::kKey, "the key file " + path.string() + " is damaged (unknown cost)",
                    "restore it from a backup");
    }
    return *file;
}

std::string name_of(KeyRole role) { return role == KeyRole::kOwner ? "owner" : "node"; }

template <class Text>
void wipe(Text& secret) {
    if (!secret.empty()) sodium_memzero(secret.data(), secret.size());
}

}  // namespace

Outcome<base::SecretKey> read_seed_file(const std::filesystem::path& path) {
    ASSAY_ASSIGN(base::Bytes bytes, read_secret_file(path, SecretKind::kSeedFile));
    std::string_view line = base::as_text(bytes);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    auto seed = base::from_hex(line);
    wipe(bytes);
    if (!seed || seed->size() != kSeedBytes) {
        if (seed) wipe(*seed);
        return fail(ErrorKind::kKey, path.string() + " does not hold a seed",
                    "a seed is one line of 64 hexadecimal digits in lower case");
    }
    auto key = base::SecretKey::from_seed(*seed);
    wipe(*seed);
    return key;
}

Outcome<void> write_key_file(const std::filesystem::path& path, const base::SecretKey& key,
                             const Passphrase& passphrase, const KeyFileOptions& options) {
    File file;
    file.head.role = options.role;
    file.head.public_key = key.public_key();
    set_cost(file.head, options.protection);
    randombytes_buf(file.head.salt.data(), file.head.salt.size());
    randombytes_buf(file.head.nonce.data(), file.head.nonce.size());
    Secret wrapping(crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
    ASSAY_TRY(derive(file.head, passphrase, wrapping));
    const base::Bytes head = base::encode(file.head);
    crypto_aead_xchacha20poly1305_ietf_encrypt(file.box.data(), nullptr, key.seed().data(), kSeedBytes,
                                               head.data(), head.size(), nullptr, file.head.nonce.data(),
                                               wrapping.data());
    return create_secret_file(path, base::encode(file));
}

Outcome<base::SecretKey> create_key_file(const std::filesystem::path& path, const Passphrase& passphrase,
                                         const KeyFileOptions& options) {
    base::SecretKey key = random_secret_key();
    ASSAY_TRY(write_key_file(path, key, passphrase, options));
    return key;
}

Outcome<KeyFileInfo> inspect_key_file(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const File file, read_file(path));
    return KeyFileInfo{file.head.role, file.head.protection, file.head.public_key};
}

Outcome<base::SecretKey> open_key_file(const std::filesystem::path& path, const Passphrase& passphrase,
                                       std::optional<KeyRole> expected) {
    ASSAY_ASSIGN(const File file, read_file(path));
    if (expected && file.head.role != *expected) {
        return fail(ErrorKind::kKey,
                    path.string() + " is a key for the role '" + name_of(file.head.role) + "', but the " +
                        name_of(*expected) + " key is needed here",
                    "give the " + name_of(*expected) + " key");
    }
    Secret wrapping(crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
    ASSAY_TRY(derive(file.head, passphrase, wrapping));
    const base::Bytes head = base::encode(file.head);
    Secret seed(kSeedBytes);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(seed.data(), nullptr, nullptr, file.box.data(),
                                                   file.box.size(), head.data(), head.size(),
                                                   file.head.nonce.data(), wrapping.data()) != 0) {
        return fail(ErrorKind::kKey, "wrong passphrase for " + path.string() + " (or the file is damaged)",
                    "try again; a lost passphrase cannot be recovered");
    }
    base::SecretKey key = base::SecretKey::from_seed(seed.view());
    if (key.public_key() != file.head.public_key) {
        return fail(ErrorKind::kKey,
                    "the key file " + path.string() + " names another public key than it holds",
                    "restore it from a backup");
    }
    return key;
}

base::SecretKey random_secret_key() {
    Secret seed(kSeedBytes);
    randombytes_buf(seed.data(), kSeedBytes);
    return base::SecretKey::from_seed(seed.view());
}

void forbid_core_dumps() {
    prctl(PR_SET_DUMPABLE, 0);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

}  // namespace assay::node
