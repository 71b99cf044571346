# SPDX-License-Identifier: Apache-2.0
# The commands of the project. `make demo` and `make test` need nothing beforehand but git and make.
.PHONY: help setup build demo test bench bench-peers bench-record bench-disputes bench-pairs sim exhaustive amx-emulated parity parity-size local-steps fuzz soak recomputes market-proof market-record market-epochs
.PHONY: portability cuda cuda-host-demo cuda-mutants cuda-record format lint clean
.DEFAULT_GOAL := help

# Packages installed, compiler cache, jobs: all decided by .ci/setup, ninja and the presets.
export NINJA_STATUS := [%f/%t %es] 
FUZZ_SECONDS ?= 60
SOAK_RUNS ?= 20
RECOMPUTES ?= 100000
CARD ?= 0
# make demo TEXT=file.txt SABOTAGE="miner=2,round=3,tensor=NAME,index=I,bit=B" (several: separated by spaces)
demo_flags = $(if $(TEXT),--text "$(TEXT)") $(foreach fault,$(SABOTAGE),--sabotage "$(fault)") $(DEMO_FLAGS)

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

setup: ## install the Debian packages that are missing (root or sudo)
	@.ci/setup build

build: setup ## build/bin/assay and build/bin/assay-worker
	@cmake --preset release -DASSAY_TESTS=OFF
	@cmake --build build

demo: build ## the whole story on real text; TEXT=file, SABOTAGE=fault, DEMO_FLAGS=…
	@build/bin/assay devnet demo $(demo_flags)

# In a fresh clone the product is compiled while what the tests need arrives.
test: ## build everything, run every test and lint
	@.ci/setup build
	@[ -d .venv ] && fresh= || fresh=yes; .ci/setup test & packages=$$!; trap 'kill $$packages' INT TERM; built=0; \
	    [ -z "$$fresh" ] || { cmake --preset release -DASSAY_TESTS=OFF && cmake --build build; } || built=$$?; \
	    wait $$packages && exit $$built
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build
	@TMPDIR=$$(.ci/temporary) ctest --test-dir build --output-on-failure -j$$(( $$(nproc) + 2 ))

portability: ## every compiler, level and emulated processor in full (half an hour of two cores)
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target golden_steps trainer_test integer_test
	@ctest --test-dir build --output-on-failure -C portability -L whole -j2

cuda: ## compile every CUDA kernel for every architecture; a row each. NVCC=… for a toolkit of this machine
	@$(if $(NVCC),true,.ci/setup cuda)
	@python3 tests/tools/cuda_kernels.py --rows $(if $(NVCC),--nvcc "$(NVCC)")

cuda-host-demo: build ## the demo, then its whole job again on the emulated GPU to the same root (half an hour of one core); DEMO_FLAGS=…
	@python3 tests/tools/cuda_host_demo.py build/bin $(DEMO_FLAGS)

cuda-mutants: ## break every CUDA kernel a line at a time; the tests must see it (half an hour of two cores); MUTANT_FLAGS=…
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target cuda_host_test
	@python3 tests/tools/cuda_mutants.py $(MUTANT_FLAGS)

cuda-record: ## on a machine with a card: everything that needs one, into docs/benchmarks.md and docs/portability.md; CARD=0, RECORD_FLAGS=…
	@command -v nvidia-smi >/dev/null || { echo "error: no NVIDIA driver is here (nvidia-smi), and so no card" >&2; exit 8; }
	@python3 tests/tools/cuda_record.py build-card/bin --card $(CARD) --has-card
	@.ci/setup card
	@cmake --preset release -B build-card -DASSAY_TESTS=ON -DASSAY_CUDA=ON
	@cmake --build build-card --target assay assay-worker golden_steps cuda_card_test
	@python3 tests/tools/cuda_record.py build-card/bin --card $(CARD) $(RECORD_FLAGS)

bench: build ## products and training steps beside LibTorch's and PyTorch's; BENCH_FLAGS=…
	@build/bin/assay bench gemm train $(BENCH_FLAGS)

bench-peers: ## PyTorch and HiGHS into .venv, where make bench and assay bench market find them
	@.ci/setup peers

bench-record: build bench-peers ## half an hour on a quiet machine: every row, GPT-2 124M too, into docs/benchmarks.md
	@build/bin/assay bench gemm train $(or $(BENCH_FLAGS),--large --seconds 240) -o json > build/bench.json
	@python3 tests/tools/bench_page.py build/bench.json

bench-disputes: build ## some minutes of a core: what disputes weigh at real shapes, into docs/reference/disputes.md
	@build/bin/assay bench verify --only disputes -o json > build/disputes.json
	@python3 tests/tools/dispute_page.py build/disputes.json

market-record: build bench-peers ## some minutes of a core: clearing beside HiGHS and McAfee's rule, into docs/market.md
	@build/bin/assay bench market -o json > build/market.json
	@python3 tests/tools/market_page.py build/market.json

market-epochs: build ## minutes for each seed: the market over epochs, three seeds, into docs/market.md and its picture
	@build/bin/assay sim run market --scenarios all --miners 2000 --jobs 200 --seeds 3 -o json > build/market_epochs.json
	@python3 tests/tools/market_plots.py build/market_epochs.json

bench-pairs: build ## BASE=other/build/bin: whether steps or products became slower, both builds taking turns; PAIRS_FLAGS=…
	@python3 tests/tools/bench_pairs.py $(BASE) build/bin $(PAIRS_FLAGS)

parity: ## hours: our profiles beside PyTorch on the same text; resumable; writes docs/parity.md
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target assay assay_parity
	@python3 tests/parity/run.py $(PARITY_FLAGS)

parity-size: ## hours of two cores, or on a card: GPT-2 124M beside PyTorch on Debian's documentation; resumable; writes docs/parity.md; SIZE_FLAGS=…
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target assay assay_parity
	@python3 tests/parity/run.py --size $(SIZE_FLAGS)

local-steps: ## half an hour: what contributors and local steps cost in loss; writes docs/local_steps.json for assay plan
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target assay assay-worker assay_parity
	@python3 tests/parity/local_steps.py

sim: build ## every cheat against the real rules and roles, 10,000 trials each (two and a half hours of one core); SIM_FLAGS=…
	@build/bin/assay sim run --strategies all $(or $(SIM_FLAGS),--rounds 10000 --seeds 10)

exhaustive: ## errors of exp, tanh, … and equality of every vector lane at all 2^32 inputs (half an hour of one core)
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target exhaustive
	@ASSAY_THREADS=$${ASSAY_THREADS:-$$(nproc)} build/bin/exhaustive

amx-emulated: ## kernels on an emulated processor that has AMX, VNNI and AVX-512 (a core for an hour or more)
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target integer_test golden_steps trainer_test
	@tests/portability/amx_bochs.sh build

fuzz: ## fuzz every decoder, FUZZ_SECONDS each
	@.ci/setup test
	@cmake --preset fuzz
	@cmake --build build-fuzz
	@for target in build-fuzz/bin/fuzz_*; do \
	    echo "fuzz: $$target"; mkdir -p build-fuzz/corpus/$$(basename $$target); \
	    ASSAY_FUZZ_SEEDS=build-fuzz/corpus/$$(basename $$target) \
	    $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -artifact_prefix=build-fuzz/ \
	        build-fuzz/corpus/$$(basename $$target) || exit 1; done

soak: ## repeat the scenario tests SOAK_RUNS times, stop at the first failure
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build
	@TMPDIR=$$(.ci/temporary) ctest --test-dir build --output-on-failure -L scenario --repeat until-fail:$(SOAK_RUNS)

recomputes: ## a hundred thousand honest recomputes on mixed targets and threads; none may differ (an hour of one core)
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target honest_recomputes
	@build/bin/honest_recomputes $(RECOMPUTES)

market-proof: ## what is claimed of the clearing of a class, over a hundred thousand random instances (some minutes of a core)
	@.ci/setup test
	@cmake --preset release -DASSAY_TESTS=ON
	@cmake --build build --target market_proof cleared_market_proof
	@build/bin/market_proof 100000
	@ASSAY_MARKETS=10000 build/bin/cleared_market_proof

format: ## clang-format on every C++ file
	@git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs clang-format -i

lint: ## include edges, style, docs; the same checks run in make test
	@python3 tests/tools/check_layers.py
	@python3 tests/tools/check_style.py
	@python3 tests/tools/check_docs.py
	@python3 tests/tools/check_checks.py
	@python3 tests/tools/check_operators.py
	@python3 tests/tools/check_strategies.py
	@python3 tests/tools/check_types.py

clean: ## remove every build folder
	@rm -rf build build-*
