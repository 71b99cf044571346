// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/genesis.hpp"

#include <algorithm>
#include <optional>

#include "contracts/rules/state/limits.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::string_view kMagic = "AGENES01";
/// A balance in the rules' configuration: its owner's key and an amount.
constexpr std::size_t kBalanceBytes = 32 + 8;
/// As many balances as the rules take, and room for everything else that a genesis says.
constexpr std::size_t kMaxGenesisBytes = (64U << 10U) + contracts::kMaxGenesisAccounts * kBalanceBytes;

bool good_chain_id(const std::string& id) {
    return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

std::optional<std::string> bad_interval(const Genesis& genesis) {
    if (genesis.block_interval_ms <= kMaxBlockIntervalMs) return std::nullopt;
    return "its block interval is " + std::to_string(genesis.block_interval_ms) + " ms, above " +
           std::to_string(kMaxBlockIntervalMs);
}

base::Failed<base::Error> too_long() {
    return fail(ErrorKind::kUsage,
                "a genesis file has at most " + std::to_string(kMaxGenesisBytes) + " bytes, enough for " +
                    std::to_string(contracts::kMaxGenesisAccounts) + " balances",
                "name fewer balances");
}

base::Failed<base::Error> earlier_law(std::uint32_t version) {
    return fail(ErrorKind::kUsage,
                "genesis file: version " + std::to_string(version) +
                    " is of an earlier law and not damaged: this program has version " +
                    std::to_string(kGenesisVersion) +
                    ", whose hashes, arithmetic or block times are others, so it cannot recompute that "
                    "ledger, its blobs and "
                    "its records",
                "use the program that began this network, or begin a new network in another home");
}

}  // namespace

Outcome<void> check_chain_id(const std::string& id) {
    if (good_chain_id(id)) return {};
    return fail(ErrorKind::kUsage, "chain id '" + id + "' must be 1 to 64 of a-z, 0-9 and '-'",
                "choose a name that no other network has, like our-lab-1");
}

Outcome<Genesis> parse_genesis(ByteView file) {
    const auto wrong = [](const std::string& what) {
        return fail(ErrorKind::kVerification, "genesis file: " + what,
                    "copy the network's genesis file again");
    };
    const ByteView magic = base::as_bytes(kMagic);
    if (file.size() < magic.size() + 32 || !std::equal(magic.begin(), magic.end(), file.begin()))
        return wrong("does not begin as a genesis file does");
    const ByteView record = file.subspan(magic.size(), file.size() - magic.size() - 32);
    if (base::hash("assay/genesis", record) != base::hash_from(file.last(32)))
        return wrong("damaged: its hash does not match");
    const auto version = base::decode<std::uint32_t>(record.first(std::min<std::size_t>(record.size(), 4)));
    if (version && *version >= 1 && *version < kGenesisVersion) return earlier_law(*version);
    if (version && *version != kGenesisVersion)
        return wrong("version " + std::to_string(*version) + " is unknown");
    const auto genesis = base::decode<Genesis>(record);
    if (!genesis) return wrong("its record is not canonical: " + std::string(base::to_text(genesis.error())));
    if (const auto bad = contracts::check_validators(genesis->validators)) return wrong(*bad);
    if (!good_chain_id(genesis->chain_id)) return wrong("the chain id must be 1 to 64 of a-z, 0-9 and '-'");
    if (const auto bad = bad_interval(*genesis)) return wrong(*bad);
    return *genesis;
}

Bytes genesis_file(const Genesis& genesis) {
    Bytes file = base::to_bytes(base::as_bytes(kMagic));
    const Bytes record = base::encode(genesis);
    file.insert(file.end(), record.begin(), record.end());
    const Hash256 hash = genesis.hash();
    file.insert(file.end(), hash.bytes.begin(), hash.bytes.end());
    return file;
}

Outcome<void> write_genesis(Disk& disk, const std::string& path, const Genesis& genesis) {
    ASSAY_TRY(check_chain_id(genesis.chain_id));
    if (const auto bad = contracts::check_validators(genesis.validators))
        return fail(ErrorKind::kUsage, "genesis: " + *bad);
    if (const auto bad = bad_interval(genesis)) return fail(ErrorKind::kUsage, "genesis: " + *bad);
    const Bytes wanted = genesis_file(genesis);
    if (wanted.size() > kMaxGenesisBytes) return too_long();
    const std::string directory = directory_of(path);
    ASSAY_TRY(disk.make_directories(directory));
    ASSAY_ASSIGN(const auto file, disk.open(path));
    ASSAY_ASSIGN(const Bytes present, file->read(0, wanted.size() + 1));
    if (present == wanted) return {};
    // A beginning of the very file is what a crash of this function leaves.
    const bool unfinished =
        present.size() < wanted.size() && std::equal(present.begin(), present.end(), wanted.begin());
    if (!unfinished)
        return fail(ErrorKind::kUsage, path + " holds another genesis", "use another home directory");
    ASSAY_TRY(file->append(ByteView(wanted).subspan(present.size())));
    ASSAY_TRY(file->sync());
    return disk.sync_directory(directory);
}

Outcome<Genesis> read_genesis(Disk& disk, const std::string& path) {
    ASSAY_ASSIGN(const bool present, disk.exists(path));
    if (!present)
        return fail(ErrorKind::kNotFound, "there is no genesis file " + path,
                    "start the network, or copy it there");
    ASSAY_ASSIGN(const auto file, disk.open_to_read(path));
    ASSAY_ASSIGN(const Bytes bytes, file->read(0, kMaxGenesisBytes + 1));
    if (bytes.size() > kMaxGenesisBytes) return too_long();
    return parse_genesis(bytes);
}

}  // namespace assay::ledger
