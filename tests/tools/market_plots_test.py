#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table and the picture of the simulated market, from rows made for it."""
import copy
import json
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import market_plots

SVG = "{http://www.w3.org/2000/svg}"


def row(scenario, seed, welfare=0.5):
    course = [{"epoch": i, "offered": 10, "wanted": 5, "sold": 5, "price": 100 + i, "base_price": 50} for i in range(3)]
    return {"scenario": scenario, "seed": seed, "miners": 20, "jobs": 4, "epochs": 3, "clearing_ms": 1.0, "epoch_ms": 2.0,
            "welfare_ratio": welfare, "revenue": 3.0, "price_sd": 0.1, "jain": 0.9, "starved": 1, "transactions": 1234,
            "gain": -0.25, "course": course}


def body(*rows):
    return {"schema": "assay.sim.market/v1", "seed": 1, "rows": list(rows)}


class Rows(unittest.TestCase):
    def test_rows_stand_by_scenario_and_seed_and_the_last_one_given_counts(self):
        rows = market_plots.merged([body(row("ring", 2), row("truthful", 2)),
                                    body(row("truthful", 1), row("ring", 2, 0.7))])
        self.assertEqual([(one["scenario"], one["seed"]) for one in rows],
                         [("truthful", 1), ("truthful", 2), ("ring", 2)])
        self.assertEqual(rows[2]["welfare_ratio"], 0.7)

    def test_rows_of_two_sizes_are_no_table(self):
        other = row("ring", 1)
        other["jobs"] = 5
        with self.assertRaises(ValueError):
            market_plots.merged([body(row("truthful", 1), other)])

    def test_every_row_is_in_the_table(self):
        lines = list(market_plots.table([row("truthful", 1), row("ring", 1)]))
        self.assertEqual(lines[2:], [
            "| truthful | 1 | 1.0 | 2 | 0.5000 | 3.000 | 0.100 | 0.900 | 1 | 1,234 | – |",
            "| ring | 1 | 1.0 | 2 | 0.5000 | 3.000 | 0.100 | 0.900 | 1 | 1,234 | −0.2500 |"])


class Picture(unittest.TestCase):
    rows = [row(scenario, seed) for scenario in market_plots.SCENARIOS for seed in (1, 2)]

    def drawn(self, rows, kind):
        return [one.attrib for one in xml.etree.ElementTree.fromstring(market_plots.picture(rows)).iter(SVG + kind)]

    def test_a_line_for_each_price_and_seed_and_a_dot_for_each_row_and_figure(self):
        self.assertEqual(len(self.drawn(self.rows, "polyline")), 4)
        self.assertEqual(len(self.drawn(self.rows, "circle")), 2 * len(self.rows))

    def test_what_is_higher_stands_higher(self):
        better = copy.deepcopy(self.rows)
        better[0]["welfare_ratio"] = 0.75
        first, then = (self.drawn(rows, "circle")[0]["cy"] for rows in (self.rows, better))
        self.assertEqual((float(first), float(then)), (140, 90))
        # Prices of 100 and 50 on a scale to 200.
        starts = [line["points"].split()[0].split(",")[1] for line in self.drawn(self.rows, "polyline")[:2]]
        self.assertEqual(starts, ["140.0", "190.0"])

    def test_an_epoch_in_which_nothing_is_sold_has_no_price(self):
        quiet = copy.deepcopy(self.rows)
        quiet[0]["course"][1]["price"] = 0
        points = [len(one["points"].split()) for one in self.drawn(quiet, "polyline")]
        self.assertEqual(points, [2, 3, 3, 3])

    def test_a_scale_reaches_what_it_shows(self):
        for most in (1, 3, 99, 100, 1430, 40_000):
            marks = market_plots.round_scale(most)
            self.assertGreaterEqual(marks[-1], most)
            self.assertLessEqual(marks[-1], max(4, 2.6 * most))


class Page(unittest.TestCase):
    def test_rows_of_more_seeds_join_those_that_are_kept_and_another_size_replaces_them(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(folder)
            page = docs / "market.md"
            page.write_text(f"before\n{market_plots.BEGIN}old\n{market_plots.END}\nafter\n")

            def write(*rows):
                (docs / "rows.json").write_text(json.dumps(body(*rows)))
                market_plots.write([docs / "rows.json"], docs)
                return len(json.loads((docs / "market_epochs.json").read_text())["rows"])

            self.assertEqual(write(row("truthful", 1)), 1)
            first = (docs / "market_epochs.svg").read_text()
            self.assertEqual(write(row("truthful", 2)), 2)
            self.assertNotEqual((docs / "market_epochs.svg").read_text(), first)
            other = row("truthful", 1)
            other["miners"] = 21
            self.assertEqual(write(other), 1)
            text = page.read_text()
            self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"), text)
            self.assertEqual(text.count("| truthful | 1 |"), 1)
            self.assertNotIn("old", text)


if __name__ == "__main__":
    unittest.main()
