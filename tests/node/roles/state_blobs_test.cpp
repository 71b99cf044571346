// SPDX-License-Identifier: Apache-2.0
// Slot states among a role's blobs: what a head names is found, opened, kept and dropped with it.
#include "node/roles/state_blobs.hpp"

#include <array>

#include "node/blob/blob_store.hpp"
#include "node/processes/store_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using program::StateArray;
constexpr std::array kArrays = {StateArray::kParameters, StateArray::kFirstMoment};

struct States {
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> store =
        BlobStore::open({.folder = folder.path(), .quota_bytes = 1 << 30, .free_bytes_min = 0}).value();
    std::unique_ptr<BlobFiles> files = make_blob_files(*store);

    BlobId put(const std::string& text) { return store->put(base::as_bytes(text)).value(); }
    /// A head that names these arrays, and its blob.
    std::pair<program::StateHead, BlobId> put_head(const BlobId& parameters, const BlobId& moment,
                                                   std::uint64_t step) {
        program::StateHead head{.step = step, .cursor = step, .age = std::nullopt, .parts = {}};
        head.parts = {{kArrays[0], {}, parameters}, {kArrays[1], {}, moment}};
        return {head, store->put(program::encode_state_head(head)).value()};
    }
};

}  // namespace

TEST_CASE("a head's arrays are found, and a state is here when all of them are") {
    States states;
    const BlobId parameters = states.put("parameters"), moment = states.put("moment");
    const auto [head, blob] = states.put_head(parameters, moment, 1);
    CHECK(arrays_of(*states.files, blob) == std::vector<BlobId>{parameters, moment});
    CHECK(has_whole(*states.files, blob));
    const StateFiles opened = open_whole(*states.files, blob);
    REQUIRE(opened.size() == 3);
    CHECK(worker::read_all(*opened[2], 100).value() == base::to_bytes(base::as_bytes("moment")));
    std::set<BlobId> ids{blob, parameters};
    add_arrays(*states.files, ids);
    CHECK(ids == std::set<BlobId>{blob, parameters, moment});
    states.files->drop(moment);
    CHECK_FALSE(has_whole(*states.files, blob));
    CHECK(open_whole(*states.files, blob).empty());
    states.files->drop(blob);
    CHECK_FALSE(has_whole(*states.files, blob));
    CHECK(arrays_of(*states.files, blob).empty());
}

TEST_CASE("a blob that is no head names nothing, however long it is") {
    States states;
    for (const std::size_t size : {std::size_t{1}, program::kMaxHeadBytes, std::size_t{1} << 21}) {
        const BlobId blob = states.put(std::string(size, 'x'));
        CHECK(arrays_of(*states.files, blob).empty());
        CHECK(has_whole(*states.files, blob));
        CHECK(open_whole(*states.files, blob).size() == 1);
    }
}

TEST_CASE("the wanted arrays are those of a head that fits the job") {
    States states;
    const BlobId parameters = states.put("parameters"), moment = states.put("moment");
    const auto [head, blob] = states.put_head(parameters, moment, 1);
    const std::array wanted = {StateArray::kFirstMoment};
    StateTerms terms{.head_bytes = 0, .array_bytes = 0, .arrays = kArrays, .wanted = wanted};
    CHECK(named_arrays(*states.files, blob, terms) == std::vector<BlobId>{moment});
    terms.aged = true;
    CHECK(named_arrays(*states.files, blob, terms).empty());
    terms.aged = false;
    terms.arrays = wanted;
    CHECK(named_arrays(*states.files, blob, terms).empty());
    CHECK(named_arrays(*states.files, parameters, terms).empty());
    CHECK(named_arrays(*states.files, base::hash("test", {}), terms).empty());
}

TEST_CASE("of two states that share an array, dropping one leaves the other whole") {
    States states;
    const BlobId shared = states.put("zeros"), one = states.put("one"), two = states.put("two");
    const auto [first, first_blob] = states.put_head(one, shared, 1);
    const auto [second, second_blob] = states.put_head(two, shared, 2);
    drop_states(*states.files, {first_blob}, {second_blob});
    CHECK_FALSE(states.store->has(first_blob));
    CHECK_FALSE(states.store->has(one));
    CHECK(has_whole(*states.files, second_blob));
    drop_states(*states.files, {second_blob}, {});
    for (const BlobId& blob : {second_blob, shared, two}) CHECK_FALSE(states.store->has(blob));
}

}  // namespace assay::node
