// SPDX-License-Identifier: Apache-2.0
// Gives commands and roles encrypted key files. Layout (integers little-endian): "ASYKEY" ‖ u8 version = 1
// ‖ u8 role ‖ u8 protection ‖ u64 opslimit ‖ u64 memlimit ‖ salt 16 ‖ nonce 24 ‖ public key 32 ‖
// XChaCha20-Poly1305(seed 32, tag 16), everything before the ciphertext being its associated data. Format:
// docs/formats/key-file.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"

namespace assay::node {

/// What a key may do. The owner key is cold (money, registration); the node key is hot and revocable (bids,
/// commits, verdicts). The numbers are frozen, since they are in the file.
enum class KeyRole : std::uint8_t { kOwner = 1, kNode = 2 };

/// Cost of one guess at the passphrase (Argon2id). Frozen numbers.
enum class KeyProtection : std::uint8_t {
    kModerate = 1,     ///< 256 MiB, about 0.8 s: the default
    kInteractive = 2,  ///< 64 MiB, about 0.1 s: play money of a local devnet
};

/// A passphrase in memory that is wiped on destruction. Move-only.
class Passphrase {
public:
    explicit Passphrase(std::string text);
    Passphrase(Passphrase&& other) noexcept;
    Passphrase& operator=(Passphrase&& other) noexcept;
    ~Passphrase();
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// Where a passphrase comes from; at most one. Never from the command line or the environment, which other
/// processes can read.
struct PassphraseSource {
    std::optional<int> fd;                      ///< first line of an open descriptor
    std::optional<std::filesystem::path> file;  ///< first line of a file that only its owner can read
    std::shared_ptr<const Passphrase> read;     ///< already read by this process
    // None: asked on the terminal, without echo.
};

/// Whether the prompt asks once, or twice and compares.
enum class PromptKind : std::uint8_t { kOpen, kCreate };

/// kKey: no terminal to ask on, file readable by others, an empty passphrase, or the two prompts differ.
/// kInterrupted: Ctrl-C at the prompt, in a process that SIGINT does not end at once.
base::Outcome<Passphrase> read_passphrase(const PassphraseSource& source, PromptKind kind);

struct KeyFileOptions {
    KeyRole role = KeyRole::kNode;
    KeyProtection protection = KeyProtection::kModerate;
};

/// Writes a new file, mode 0600, on disk when it returns. kKey when `path` exists: a key is never
/// overwritten.
base::Outcome<void> write_key_file(const std::filesystem::path& path, const base::SecretKey& key,
                                   const Passphrase& passphrase, const KeyFileOptions& options);

/// A fresh key from the system's generator, written with write_key_file.
base::Outcome<base::SecretKey> create_key_file(const std::filesystem::path& path,
                                               const Passphrase& passphrase, const KeyFileOptions& options);

/// The key of a file whose one line is its seed, as 64 hexadecimal digits in lower case; what was read is
/// wiped. kNotFound: no such file. kKey: no seed, a symlink, another owner, or open to group or others.
base::Outcome<base::SecretKey> read_seed_file(const std::filesystem::path& path);

struct KeyFileInfo {
    KeyRole role = KeyRole::kNode;
    KeyProtection protection = KeyProtection::kModerate;
    base::PublicKey public_key;
};

/// What can be known without the passphrase. The public key is not authenticated until the file is opened.
base::Outcome<KeyFileInfo> inspect_key_file(const std::filesystem::path& path);

/// Opens the key. kNotFound: no such file. kKey: wrong passphrase, not a key file, cut short, a symlink,
/// readable by group or others, owned by someone else, or of another role than `expected` wants.
base::Outcome<base::SecretKey> open_key_file(const std::filesystem::path& path, const Passphrase& passphrase,
                                             std::optional<KeyRole> expected = std::nullopt);

/// A new random key that is kept in no file (play money, tests, TLS-free tools).
base::SecretKey random_secret_key();

/// No core dumps and no ptrace by others: key bytes stay in this process. Call before a key is opened.
void forbid_core_dumps();

}  // namespace assay::node
