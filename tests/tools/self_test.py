#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the checkers can fail: each rule is broken once in a small tree made for it."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cuda_kernels

TOOLS = Path(__file__).resolve().parent
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def run(checker, files):
    """Exit code and output of a checker on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(TOOLS / checker), "--root", folder], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class Layers(unittest.TestCase):
    good = {"contracts/base/a.hpp": "#include <vector>\n",
            "ledger/store/b.cpp": '#include "contracts/base/a.hpp"\n'}

    def refused(self, name, text, expected):
        code, output = run("check_layers.py", {**self.good, "trainer/run/c.hpp": "\n", name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        code, output = run("check_layers.py", self.good)
        self.assertEqual(code, 0, output)

    def test_an_empty_tree_fails(self):
        self.assertEqual(run("check_layers.py", {})[0], 1)

    def test_the_ledger_never_sees_the_trainer(self):
        self.refused("ledger/store/d.cpp", '\n#include "trainer/run/c.hpp"\n',
                     "ledger/store/d.cpp:2: ledger/store may not include trainer/run")

    def test_the_trainer_never_sees_the_ledger(self):
        self.refused("trainer/run/d.cpp", '#include "ledger/store/b.cpp"\n',
                     "trainer/run may not include ledger/store")

    def test_nothing_includes_tests(self):
        self.refused("ledger/store/d.cpp", '#include "tests/x.hpp"\n', "does not exist")

    def test_a_library_outside_its_folder(self):
        self.refused("node/cli/d.cpp", "#include <torch/torch.h>\n", "belongs in trainer/torch only")

    def test_a_clock_in_the_contracts(self):
        self.refused("contracts/base/d.cpp", "#include <chrono>\n", "refused in contracts")

    def test_a_file_in_a_role(self):
        self.refused("node/roles/d.cpp", "#include <fstream>\n", "refused in node/roles")

    def test_a_system_header_in_the_contracts(self):
        self.refused("contracts/base/d.cpp", "#include <unistd.h>\n", "refused here")

    def test_a_folder_that_nobody_listed(self):
        self.refused("node/new/d.cpp", '#include "contracts/base/a.hpp"\n', "not in layers.json")

    def test_a_suffix_that_no_lint_reads(self):
        for suffix in ("h", "cc", "cxx", "c", "inl", "hh"):
            self.refused(f"ledger/store/d.{suffix}", "\n", f"ledger/store/d.{suffix}:1: no lint reads this suffix")

    def test_a_cuda_file_is_read(self):
        for suffix in ("cu", "cuh"):
            self.refused(f"ledger/store/d.{suffix}", '#include "trainer/run/c.hpp"\n', "may not include trainer/run")

    def test_a_cycle_between_folders_cut_to_two_parts(self):
        folders = {"a/x/p": ["a/y"], "a/y": ["a/z"], "a/z": ["a/x/q"], "a/x/q": []}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"a/x/q/one.hpp": "\n", "layers.json": json.dumps({
                    "folders": folders, "anything": [], "nobody_includes": [], "never": [], "third_party": {},
                    "system_headers": [], "standard_refused": {}})}.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, str(TOOLS / "check_layers.py"), "--root", folder, "--layers",
                                   folder + "/layers.json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("cycle at depth 2: a/x -> a/y -> a/z -> a/x", done.stdout)
        self.assertNotIn("depth 3", done.stdout)

    def test_a_cycle_between_files(self):
        self.refused("contracts/base/d.hpp", '#include "contracts/base/d.hpp"\n', "cycle between files")


class Strategies(unittest.TestCase):
    def refused(self, name, text):
        code, output = run("check_strategies.py", {name: text})
        self.assertEqual(code, 1, output)
        self.assertIn("names a strategy", output)

    def test_a_tree_that_reads_rows_passes(self):
        code, output = run("check_strategies.py", {"contracts/rules/a.cpp": "auto row = strategy_of(spec);\n",
                                                   "contracts/program/strategies/b.cpp": "kDilocoRow\n",
                                                   "tests/c.cpp": "diloco\n"})
        self.assertEqual(code, 0, output)

    def test_an_empty_tree_fails(self):
        self.assertEqual(run("check_strategies.py", {})[0], 1)

    def test_a_rule_that_knows_a_strategy(self):
        self.refused("contracts/rules/a.cpp", "if (s == Strategy::kDiloco) {}\n")

    def test_a_frame_that_knows_an_optimizer(self):
        self.refused("contracts/worker/a.hpp", "// Nesterov\n")

    def test_a_reader_that_tells_a_strategy(self):
        for text in ("if (spec.strategy == kStandardStrategy) {}\n", "bool b = spec.strategy == other;\n",
                     "auto s = Strategy{2};\n", "auto s = program::Strategy(2);\n",
                     "bool b = engine == Engine::kLocal;\n",
                     "bool b = other != spec.engine;\n", "auto s = static_cast<program::Strategy>(2);\n",
                     "switch (spec.strategy) {\n", "using enum program::Strategy;\n",
                     "bool b = codec->bytes_each == 2;\n", "bool b = 1 < row.ticks;\n", "bool b = row.merge == other;\n",
                     "bool b = row.codec == other;\n", 'bool b = row.codec->word == "int64";\n',
                     'bool b = "local" == row.engine_word;\n', "row.merge = merge_outer_nesterov;\n",
                     "bool b = static_cast<int>(spec.strategy) == 2;\n", "bool b = 2 == int(row.number);\n",
                     "bool b = std::to_underlying(spec.strategy) > 1;\n", 'bool b = row.outer->word == "x";\n',
                     "bool b = row.word.size() == 6;\n", "bool b = row.word.front() == 'd';\n",
                     'bool b = row.codec->magic.starts_with("ASSAYU");\n', "bool b = find_strategy(e, s) == &row;\n",
                     "bool b = strategies()[0] == &row;\n", "bool b = row.codec->most_bytes(4) == 8;\n",
                     "bool b = row.base_arrays.size() > 2;\n", "const auto mine = spec.strategy;\n",
                     "program::Strategy s{spec.strategy};\n"):
            code, output = run("check_strategies.py", {"contracts/rules/round/a.cpp": text})
            self.assertEqual(code, 1, text)
            self.assertIn("tells a strategy", output)

    def test_what_tells_no_strategy_passes(self):
        for name, text in (("trainer/step/a.cpp", "bool b = row.merge == program::merge_outer_nesterov;\n"),
                           ("contracts/program/job_spec.hpp", "Engine engine = kStandardEngine;\n"),
                           ("ledger/engine/a.cpp", "auto row = find_strategy(spec.engine, spec.strategy);\n"),
                           ("node/a.cpp", "size += row.codec->bytes_each * n; ASSAY_CHECK(row.merge != nullptr);\n")):
            code, output = run("check_strategies.py", {name: text})
            self.assertEqual(code, 0, output)

    def test_a_file_size_that_knows_a_codec(self):
        self.refused("node/roles/a.cpp", "size = is_fp16 ? 2 : 8;\n")


class Checks(unittest.TestCase):
    source = "void f(int n) {\n    ASSAY_CHECK(n > 0);\n}\n"
    row = ('{"scope": ["contracts/rules"], "outside": {}, "headers_of_both": [], "rows": [{"file": '
           '"contracts/rules/a.cpp", "function": "f", "condition": "n > 0", "why": "w", "test": "n is above 0"}]}')
    test = 'TEST_CASE(\n    "n is "\n    "above 0") {}\n'

    def tree(self, **changed):
        files = {"contracts/rules/a.cpp": self.source, "tests/a_test.cpp": self.test, "tests/tools/checks.json": self.row}
        for name, text in changed.items():
            files[{"source": "contracts/rules/a.cpp", "test": "tests/a_test.cpp",
                   "row": "tests/tools/checks.json"}[name]] = text
        return files

    def refused(self, expected, **changed):
        code, output = run("check_checks.py", self.tree(**changed))
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_page_that_is_not_written_is_the_only_problem_of_a_clean_tree(self):
        self.assertIn("1 checks, 1 problems", run("check_checks.py", self.tree())[1])
        self.refused("out of date")

    def test_a_check_without_a_row(self):
        self.refused("f: ASSAY_CHECK(n > 1) has no row", source=self.source.replace("n > 0", "n > 1"))

    def test_a_row_without_a_check(self):
        self.refused("no such check any more", source="void f(int) {}\n")

    def test_a_row_whose_test_does_not_exist(self):
        self.refused("no test is called 'n is above 0'", test='TEST_CASE("n is below 0") {}\n')

    def test_a_file_that_was_called_outside_and_is_included(self):
        row = self.row.replace('"outside": {}', '"outside": {"contracts/program/b": "w"}')
        self.refused("calls outside", row=row, source='#include "contracts/program/b.hpp"\n' + self.source)


class Operators(unittest.TestCase):
    table = "enum class OperatorKind : std::uint8_t {\n    kGelu = 1,  ///< gelu_forward\n    kHead,\n};\n"
    group = "enum class GroupKind { kRows, kHead };\n"
    good = {"contracts/program/operator_table.hpp": table, "trainer/step/group.hpp": group,
            "trainer/step/group.cpp": "using Kind = program::OperatorKind;\nbool b = one.kind == Kind::kGelu;\n",
            "trainer/step/order.cpp": "bool b = group.kind == GroupKind::kHead; // OperatorKind::kHead\n"}

    def refused(self, name, text, expected):
        code, output = run("check_operators.py", {**self.good, name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        code, output = run("check_operators.py", self.good)
        self.assertEqual(code, 0, output)

    def test_a_tree_without_the_table_fails(self):
        self.assertEqual(run("check_operators.py", {"node/a.cpp": "int one();\n"})[0], 1)

    def test_a_kind_outside_its_places(self):
        self.refused("node/a.cpp", "\nif (one.kind == program::OperatorKind::kGelu) return;\n",
                     "node/a.cpp:2: OperatorKind is for")

    def test_an_alias_outside_its_places(self):
        self.refused("trainer/step/order.cpp", "using K = program::OperatorKind;\n", "order.cpp:1: OperatorKind is for")

    def test_the_use_of_an_alias_outside_its_places(self):
        alias = "using K = OperatorKind;\nusing L = K;\nbool b = one.kind == L::kGelu;\n"
        self.refused("node/a.cpp", alias, "node/a.cpp:3: OperatorKind is for")

    def test_all_enumerators_at_once(self):
        self.refused("node/a.cpp", "using enum program::OperatorKind;\n", "node/a.cpp:1: OperatorKind is for")

    def test_an_alias_that_travels_in_a_header(self):
        self.refused("trainer/step/group.hpp", self.group + "using Kind = program::OperatorKind;\n",
                     "group.hpp:2: an alias")

    def test_an_alias_by_typedef_that_travels(self):
        self.refused("trainer/step/group.hpp", self.group + "typedef program::OperatorKind Kind;\n",
                     "group.hpp:2: an alias")

    def test_an_enumerator_whose_type_is_not_named(self):
        self.refused("node/a.cpp", "bool b = one.kind == decltype(one.kind)::kHead;\n", "is a kind of operator")

    def test_an_alias_of_another_enumeration_is_free(self):
        text = "using Kind = trainer::GroupKind;\nbool b = group.kind == Kind::kHead;\n"
        code, output = run("check_operators.py", {**self.good, "node/a.cpp": text})
        self.assertEqual(code, 0, output)

    def test_an_order_of_kinds(self):
        for text in ("bool b = one.kind >= Kind::kHead;\n", "bool b = Kind::kHead < one.kind;\n"):
            self.refused("trainer/step/group.cpp", "using Kind = program::OperatorKind;\n" + text,
                         "group.cpp:2: kinds have no order")

    def test_an_order_of_kinds_where_none_is_named(self):
        include = '#include "contracts/program/program.hpp"\n'
        for text in ("bool b = one.kind >= first.kind;\n", "bool b = 40 < one.kind;\n",
                     "int n = static_cast<int>(one.kind);\n", "int n = int(one.kind);\n",
                     "int n = static_cast<int>(one.row().kind);\n", "int n = (int)one.kind;\n",
                     "auto n = std::uint8_t{one.kind};\n", "bool b = one.kind == decltype(one.kind){2};\n",
                     "auto k = static_cast<decltype(one.kind)>(2);\n"):
            self.refused("trainer/step/schedule.cpp", include + text, "schedule.cpp:2: a kind is compared by order")


    def test_a_kind_or_a_name_that_is_copied_or_looked_into(self):
        include = '#include "contracts/program/program.hpp"\n'
        for text in ("auto k = row.kind;\n", "const auto n = op.row().name;\n",
                     "bool b = row_of(op.kind).name[0] == 'a';\n",
                     "bool b = op.row().name.size() == 5;\n", "bool b = std::less<>{}(a.kind, b.kind);\n"):
            self.refused("trainer/step/schedule.cpp", include + text, "schedule.cpp:2: what tells a kind is copied")

    def test_a_row_told_by_its_name(self):
        include = '#include "contracts/program/program.hpp"\n'
        for text in ('bool b = one.row().name == "rope";\n', 'bool b = to_text(kind) == "gelu";\n',
                     'bool b = "gelu" != program::to_text(one.kind);\n', 'bool b = row_of(one.kind).name == "rope";\n',
                     'bool b = row.name.starts_with("softmax");\n'):
            self.refused("trainer/step/schedule.cpp", include + text, "schedule.cpp:2: a kind is told by its name")

    def test_an_errors_kind_may_be_a_number(self):
        text = '#include "contracts/program/program.hpp"\nreturn static_cast<int>(options.error().kind);\n'
        code, output = run("check_operators.py", {**self.good, "node/a.cpp": text})
        self.assertEqual(code, 0, output)


class Types(unittest.TestCase):
    job = "namespace assay::contracts {\nstruct Job {\n    int n;\n};\n}\n"
    good = {"contracts/rules/job.hpp": job,
            "node/a.cpp": "namespace assay::node {\nnamespace {\nstruct Local {\n    int n;\n};\n}\n}\n",
            "tests/a.cpp": "namespace assay::node {\nnamespace {\nstruct Fixture {\n    int n;\n};\n}\n}\n",
            "tests/b.cpp": "namespace assay::node {\nnamespace {\nstruct Fixture {\n    int n;\n};\n}\n}\n"}

    def refused(self, name, text, expected):
        code, output = run("check_types.py", {**self.good, name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def passes(self, name, text):
        code, output = run("check_types.py", {**self.good, name: text})
        self.assertEqual(code, 0, output)

    def test_a_clean_tree_passes(self):
        self.passes("node/c.hpp", "namespace assay::node {\nclass Follower;\nclass Loop {};\n}\n")

    def test_an_empty_tree_fails(self):
        self.assertEqual(run("check_types.py", {})[0], 1)

    def test_a_name_in_two_headers(self):
        for text in ("class Job final : public Base {\n};\n", "enum class Job : std::uint8_t { kOne };\n",
                     "using Job = std::vector<int>;\n", "template <class T>\nstruct Job {\n};\n",
                     "struct [[nodiscard]] Job {\n};\n"):
            line = 3 if text.startswith("template") else 2
            self.refused("node/c.hpp", "namespace assay::verifier {\n" + text + "}\n",
                         f"node/c.hpp:{line}: Job is a type of contracts/rules/job.hpp:2")

    def test_a_headers_name_in_a_source_file(self):
        for space in ("assay::node", ""):
            self.refused("node/c.cpp", "namespace " + space + " {\nstruct Job {\n};\n}\n", "node/c.cpp:2: Job is")
        self.refused("node/c-inl.hpp", "struct Job {\n};\n", "node/c-inl.hpp:1: Job is")

    def test_two_source_files_with_a_type_that_others_could_link(self):
        text = "namespace assay::node {\nstruct Other {\n};\n}\n"
        code, output = run("check_types.py", {"node/a.cpp": text, "node/b.cpp": text})
        self.assertEqual(code, 1, output)

    def test_a_source_file_with_the_name_of_another_ones_type(self):
        self.refused("node/c.cpp", self.good["node/a.cpp"], "node/c.cpp:3: Local is a type of node/a.cpp:3")

    def test_a_type_of_a_function_with_a_headers_name(self):
        self.refused("node/c.cpp", "namespace assay::node {\nvoid f() {\n    struct Job {\n    };\n}\n}\n",
                     "node/c.cpp:3: Job is")

    def test_a_type_of_a_type_with_a_headers_name(self):
        self.refused("node/c.hpp", "namespace assay::node {\nstruct Purchase {\n    struct Job {\n    };\n};\n}\n",
                     "node/c.hpp:3: Job is")

    def test_an_alias_of_a_nested_type_by_its_last_name(self):
        self.refused("node/c.cpp", "namespace assay::node {\nusing Job = Purchase::Job;\n}\n", "node/c.cpp:2: Job is")

    def test_what_is_qualified_or_the_same_passes(self):
        for text in ("struct Purchase {\n    struct Part {\n    };\n    using Job2 = int;\n};\n"
                     "struct Sale {\n    struct Part {\n    };\n};\n",
                     "void f() {\n    struct Own {\n    };\n}\n", "using Job = contracts::Job;\n",
                     "// struct Job {\nconst char* a = \"struct Job {\";\n"):
            self.passes("node/c.hpp", "namespace assay::node {\n" + text + "}\n")


class Style(unittest.TestCase):
    def refused(self, name, text, expected):
        code, output = run("check_style.py", {"contracts/base/a.cpp": LICENCE, name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        code, output = run("check_style.py", {"contracts/base/a.cpp": LICENCE + "int one();\n"})
        self.assertEqual(code, 0, output)

    def test_an_empty_tree_fails(self):
        self.assertEqual(run("check_style.py", {})[0], 1)

    def test_no_licence(self):
        self.refused("node/a.cpp", "int one();\n", "must name the licence")

    def test_a_header_that_does_not_say_what_it_gives(self):
        self.refused("node/a.hpp", LICENCE + "#pragma once\n", "node/a.hpp:2: a header begins with what it gives")

    def test_a_long_line(self):
        self.refused("node/a.cpp", LICENCE + "//" + "x" * 120 + "\n", "columns")

    def test_a_long_file(self):
        self.refused("node/a.cpp", LICENCE + "int one();\n" * 600, "one concept a file")

    def test_a_large_file(self):
        self.refused("node/a.bin", "x" * 300_000, "nothing above")

    def test_an_owners_key_in_a_serving_process(self):
        for text in ("auto key = home.owner_key();\n", "auto key = open_key(path, KeyRole::kOwner);\n"):
            self.refused("node/processes/a.cpp", LICENCE + text, "a process that serves knows no owner's key")
        self.refused("node/roles/a.cpp", LICENCE + "int owner_key_ = 0;\n", "a process that serves")
        code, output = run("check_style.py", {"node/cli/a.cpp": LICENCE + "auto key = home.owner_key();\n"})
        self.assertEqual(code, 0, output)

    def test_a_leftover_marker(self):
        self.refused("node/a.cpp", LICENCE + "// TO" + "DO later\n", "leftover marker")

    def test_an_unordered_map_in_the_ledger(self):
        self.refused("ledger/a.cpp", LICENCE + "std::unordered_map<int, int> m;\n", "order decides hashes")

    def test_a_double_in_the_rules(self):
        self.refused("contracts/rules/a.cpp", LICENCE + "double price;\n", "no floating point")

    def test_a_clock_in_the_rules(self):
        self.refused("contracts/rules/a.cpp", LICENCE + "auto t = std::chrono::seconds(1);\n", "no clock here")

    def test_libm_in_the_kernels(self):
        self.refused("trainer/cpu/a.cpp", LICENCE + "float y = std::exp(x);\n", "use contracts/arithmetic")

    def test_rand(self):
        self.refused("node/a.cpp", LICENCE + "int x = rand();\n", "hidden state")

    def lines(self, count):
        return "    f();\n" * count

    def test_a_long_function(self):
        self.refused("node/a.cpp", LICENCE + "int one() {\n" + self.lines(69) + "}\n", "a function of 71 lines")
        self.refused("node/a.hpp", LICENCE + "#pragma once\nclass A {\n    A(int a)\n        : a_{a}, b_(a) {\n"
                     + self.lines(70) + "    }\n};\n", "node/a.hpp:5: a function of 72 lines")
        self.refused("node/a.cpp", LICENCE + 'TEST_CASE("{ braces }") {\n' + self.lines(70) + "}\n", "72 lines")
        self.refused("node/a.cpp", LICENCE + "const Row kRows[] = {\n    {1,\n     [](int a) {\n" + self.lines(70)
                     + "     }},\n};\n", "node/a.cpp:4: a function of 72 lines")
        for head in ("template <class T>\nint one(T a)\n    requires Big<T>\n{\n", "const int kOne = [] {\n",
                     "template <class T>\nint one(T a) requires(Big<T> && Odd<T>) {\n",
                     "const auto kOne = [&kTwo]<class T> {\n", "const auto kOne = [](int a) constexpr -> int {\n",
                     "auto operator<=>(A a, A b) noexcept(true) {\n"):
            self.refused("node/a.cpp", LICENCE + head + self.lines(70) + "}\n", "a function of 72 lines")
        self.refused("tests/a.py", "# SPDX-License-Identifier: Apache-2.0\ndef f():\n" + "    pass\n" * 70,
                     "a function of 71 lines")

    def test_what_is_no_function_may_be_long(self):
        rows = "    {1, 2},\n" * 80
        labels = "        case A:\n" * 80
        code, output = run("check_style.py", {
            "node/a.cpp": LICENCE + "int one() {\n" + self.lines(68) + "}\n",
            "node/b.cpp": LICENCE + "const Row kRows[] = {\n" + rows + "};\nconst Row kMore{\n" + rows + "};\n",
            "node/e.cpp": LICENCE + "int f() {\n    static const Row kRows[] = {\n" + rows + "    };\n}\n",
            "node/c.cpp": LICENCE + "struct A {\n" + "    int a;\n" * 80 + "};\n",
            "node/d.cpp": LICENCE + "int f(int n) {\n    switch (n) {\n" + labels + "            return 1;\n    }\n}\n"})
        self.assertNotIn("a function of", output)

    def test_words_in_comments_are_free(self):
        code, output = run("check_style.py", {"contracts/rules/a.cpp": LICENCE + "// no double here\n"})
        self.assertEqual(code, 0, output)


class Docs(unittest.TestCase):
    def refused(self, files, expected):
        code, output = run("check_docs.py", {"docs/README.md": "# Docs\n", **files})
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        code, output = run("check_docs.py", {"docs/README.md": "# Docs\n[here](#docs)\n"})
        self.assertEqual(code, 0, output)

    def test_a_dead_link(self):
        self.refused({"docs/a.md": "[x](b.md)\n"}, "no such file")

    def test_a_dead_anchor(self):
        self.refused({"docs/a.md": "[x](README.md#nowhere)\n"}, "no such heading")

    def test_a_folder_without_explanation(self):
        self.refused({"ledger/a.cpp": LICENCE}, "ledger: no README.md")

    def test_a_glossary_out_of_order(self):
        self.refused({"docs/glossary.md": "**b** x\n\n**a** y\n"}, "keep the alphabet")

    def test_a_decision_without_its_parts(self):
        self.refused({"docs/decisions/0001-x.md": "# X\n"}, "no heading")

    def test_a_named_test_that_does_not_exist(self):
        test = 'TEST_CASE("a thing that is really tested") {}\n'
        named = '| x | y | "a thing that is really tested" |\n| x | y | "a thing that nobody ever tested" |\n'
        self.refused({"tests/README.md": "# T\n", "tests/a_test.cpp": LICENCE + test, "docs/concepts/a.md": named},
                     "docs/concepts/a.md:2: no test is called")

    def test_a_schema_that_the_page_lacks(self):
        self.refused({"node/README.md": "# N\n", "node/cli/a.cpp": LICENCE + 'auto s = "assay.x.y/v1";\n',
                      "docs/reference/json.md": "# J\n"}, "assay.x.y/v1 is missing")

    def test_versions_of_formats(self):
        row = "| x | [page](a.md) | y | `3` (`kVersion`, `contracts/v.hpp`) | refused |\n"
        files = {"contracts/README.md": "# C\n", "contracts/v.hpp": LICENCE + "constexpr int kVersion = 3;\n",
                 "docs/README.md": "# Docs\n", "docs/formats/README.md": row, "docs/formats/a.md": "# A\n"}
        code, output = run("check_docs.py", files)
        self.assertEqual(code, 0, output)
        self.refused({**files, "contracts/v.hpp": LICENCE + "constexpr int kVersion = 4;\n"},
                     "a.md: kVersion in contracts/v.hpp is not 3")
        self.refused({**files, "contracts/v.hpp": LICENCE + "constexpr int kVersion = 31;\n"}, "is not 3")
        self.refused({**files, "docs/formats/README.md": row.replace("`3` (", "3 (")}, "a.md: no version")
        self.refused({**files, "docs/formats/b.md": "# B\n"}, "b.md has no row with a version")


class CudaKernels(unittest.TestCase):
    entry = ".visible .entry k(\n.param .u64 p\n)\n{\n %s \n}\n"

    def test_forbidden_instructions_are_found(self):
        for text in ("mul.ftz.f32 %f1, %f2, %f3;", "sqrt.approx.f32 %f1, %f2;", "atom.global.add.f32 %f1, [%rd1], %f2;",
                     "red.global.add.f32 [%rd1], %f2;",
                     "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%r1}, {%r2}, {%r3}, {%r4};"):
            self.assertEqual(len(cuda_kernels.forbidden(self.entry % text)["k"]), 1, text)

    def test_lawful_instructions_pass(self):
        for text in ("fma.rn.f32 %f1, %f2, %f3, %f4;", "atom.global.min.u32 %r1, [%rd1], %r2;",
                     "div.rn.f32 %f1, %f2, %f3;"):
            self.assertEqual(cuda_kernels.forbidden(self.entry % text)["k"], [], text)

    def test_spills_count_in_products_alone(self):
        row = {"architecture": "sm_80", "spilled": 8, "forbidden": []}
        self.assertEqual(len(list(cuda_kernels.problems([{**row, "name": "ProductF32<1>"}]))), 1)
        sound = {**row, "name": "ProductF32<1>", "spilled": 0}
        self.assertEqual(list(cuda_kernels.problems([sound, {**row, "name": "Softmax"}])), [])
        self.assertEqual(len(list(cuda_kernels.problems([{**row, "name": "Softmax"}]))), 1)


if __name__ == "__main__":
    unittest.main()
