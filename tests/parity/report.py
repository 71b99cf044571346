# SPDX-License-Identifier: Apache-2.0
"""Curves of parity runs, and the table, the JSON file and the picture made of them (run.py)."""
import json
import os
import statistics

NAMES = {"f32": "Assay `f32`", "i16": "Assay `i16`", "fp32": "PyTorch fp32", "bf16": "PyTorch bf16 autocast"}
FAMILIES = {"gpt2": "GPT-2", "llama": "Llama"}
COLOURS = {"f32": "#1b6ca8", "i16": "#c2410c", "fp32": "#111827", "bf16": "#7c9a2f"}
DASHES = {"f32": "7 4", "i16": "none", "fp32": "none", "bf16": "2 3"}
BEGIN, END = "<!-- table: made by make parity -->", "<!-- end of table -->"
SIZE_BEGIN, SIZE_END = "<!-- size: made by make parity-size -->", "<!-- end of size -->"
SIZE = "gpt2-124m"  # the model of the runs at size, as parity.json names it


class ParityError(Exception):
    """What was wrong, and what to do next."""

    def __init__(self, what, fix):
        super().__init__(f"{what}\n  fix: {fix}")


def curve_path(folder, family, seed, arithmetic):
    return os.path.join(folder, "runs", f"{family}-{seed}-{arithmetic}.jsonl")


def lines_of(path):
    """The lines that are whole; a run that was killed may have left part of one."""
    lines = []
    try:
        with open(path) as file:
            for line in file:
                lines.append(json.loads(line))
    except (OSError, ValueError):
        pass
    return lines


def read_curve(path, unfinished=False):
    """A finished run, else None: {"run", "losses" of each step, "train": [[step, mean of 50]], "held_out": {step: loss},
    "done"}. `unfinished`: also one that was stopped, up to its last held-out loss, with "reached": that step."""
    lines = lines_of(path)
    if not lines or "run" not in lines[0]:
        return None
    held_out = {line["step"]: line["held_out"] for line in lines if "held_out" in line}
    finished = "done" in lines[-1]
    reached = max(held_out, default=0)
    if not finished and (not unfinished or reached == 0):
        return None
    train = [line["train"] for line in lines if "train" in line and (finished or line["step"] <= reached)]
    means = [[first + 50, round(statistics.mean(train[first : first + 50]), 5)]
             for first in range(0, len(train) - 49, 50)]
    curve = {"run": lines[0]["run"], "losses": train, "train": means, "held_out": held_out}
    return {**curve, "done": lines[-1]} if finished else {**curve, "done": {"done": reached}, "reached": reached}


RESULT = ("loss_bits", "root")


def summary(curve):
    """What is worth keeping of a curve."""
    body = dict(curve["run"])
    body["held_out"] = [[step, round(loss, 5)] for step, loss in curve["held_out"].items()]
    body["train"] = curve["train"]
    if "reached" in curve:
        body["reached"] = curve["reached"]
    body.update({key: curve["done"][key] for key in RESULT if key in curve["done"]})
    return body


def recorded(docs, part="runs"):
    """The curves of parity.json by (family, seed, arithmetic): runs that earlier machines finished. `part` "size_runs":
    those at size, of which some may be unfinished (read_curve)."""
    try:
        with open(os.path.join(docs, "parity.json")) as file:
            bodies = json.load(file).get(part, [])
    except OSError:
        return {}
    curves = {}
    for body in bodies:
        reached = {"reached": body["reached"]} if "reached" in body else {}
        run = {key: value for key, value in body.items()
               if key not in ("model", "held_out", "train", "reached", *RESULT)}
        done = {"done": body.get("reached", run["steps"]), **{key: body[key] for key in RESULT if key in body}}
        curves[run["family"], run["seed"], run["arithmetic"]] = {
            "run": run, "train": body["train"], "held_out": dict(body["held_out"]), "done": done, **reached}
    return curves


def final(curve):
    return curve["held_out"][curve["done"]["done"]]


def rows_of(curves, family):
    """Lines of the table of one family, and the words on the spread between seeds."""
    seeds = sorted({seed for kind, seed, _ in curves if kind == family})
    lines = ["| arithmetic | " + " | ".join(f"seed {seed}" for seed in seeds) +
             " | mean | largest difference from PyTorch fp32, same seed | while training |",
             "|---|" + "---|" * (len(seeds) + 3)]
    for arithmetic, name in NAMES.items():
        found = {seed: curves[family, seed, arithmetic] for seed in seeds if (family, seed, arithmetic) in curves}
        if not found:
            continue
        losses = [f"{final(found[seed]):.4f}" if seed in found else "–" for seed in seeds]
        pairs = [(one, curves[family, seed, "fp32"]) for seed, one in found.items()
                 if (family, seed, "fp32") in curves and arithmetic != "fp32"]
        at_end = max((abs(final(a) - final(b)) for a, b in pairs), default=None)
        anywhere = max((abs(a["held_out"][step] - b["held_out"][step])
                        for a, b in pairs for step in a["held_out"] if step in b["held_out"]), default=None)
        mean = statistics.mean(final(one) for one in found.values())
        lines.append(f"| {name} | " + " | ".join(losses) + f" | {mean:.4f} | " +
                     " | ".join("–" if value is None else f"{value:.4f}" for value in (at_end, anywhere)) + " |")
    spreads = []
    for arithmetic, name in NAMES.items():
        losses = [final(curves[family, seed, arithmetic]) for seed in seeds if (family, seed, arithmetic) in curves]
        if len(losses) > 1:
            spreads.append(f"{name} {max(losses) - min(losses):.4f} over {len(losses)} seeds")
    return lines, spreads


def table(curves, runs):
    lines = []
    for family, name in FAMILIES.items():
        found = [curve for (kind, _, _), curve in curves.items() if kind == family]
        if not found:
            continue
        run = found[0]["run"]
        lines += ["", f"### {name}, {run['parameters']:,} parameters, {run['steps']:,} steps of {run['batch']} × "
                  f"{run['context']} tokens", "", "Held-out loss after the last step.", ""]
        rows, spreads = rows_of(curves, family)
        lines += rows
        if spreads:
            lines += ["", "Spread between seeds (largest less smallest): " + "; ".join(spreads) + "."]
    missing = [f"{FAMILIES[family]} {NAMES[arithmetic]} seed {seed}"
               for family, seed, arithmetic in runs if (family, seed, arithmetic) not in curves]
    lines += ["", "Not run yet: " + ", ".join(missing) + "." if missing else "Every run of the list is there."]
    return "\n".join(lines).strip()


def polyline(points, colour, dash, scale):
    text = " ".join(f"{scale[0](x):.1f},{scale[1](y):.1f}" for x, y in points)
    return (f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}" '
            f'points="{text}"/>')


def panel(found, title, left):
    """One picture, 460 × 300: held-out loss against steps, one line for each run."""
    points = {key: [(step, loss) for step, loss in curve["held_out"].items() if step > 0]
              for key, curve in found.items()}
    flat = [point for one in points.values() for point in one]
    last, low, high = max(p[0] for p in flat), min(p[1] for p in flat), max(p[1] for p in flat)
    span = max(high - low, 1e-6)
    scale = (lambda x: left + 50 + 390 * x / last, lambda y: 40 + 220 * (high - y) / span)
    parts = [f'<text x="{left + 50}" y="24" font-weight="bold">{title}: held-out loss</text>']
    for i in range(5):
        loss, step = low + span * i / 4, last * i // 4
        y, x = scale[1](loss), scale[0](step)
        parts += [f'<line x1="{left + 50}" x2="{left + 440}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d1d5db"/>',
                  f'<text x="{left + 44}" y="{y + 4:.1f}" text-anchor="end">{loss:.2f}</text>',
                  f'<text x="{x:.1f}" y="278" text-anchor="middle">{step}</text>']
    for (_, _, arithmetic), one in points.items():
        parts.append(polyline(one, COLOURS[arithmetic], DASHES[arithmetic], scale))
    return parts


def picture(curves, size_curves):
    panels = [(FAMILIES[family], {key: curve for key, curve in curves.items() if key[0] == family})
              for family in FAMILIES if any(key[0] == family for key in curves)]
    if size_curves:
        panels.append((size_name(size_curves), size_curves))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{460 * max(1, len(panels))}" height="320" '
             'font-family="sans-serif" font-size="11" fill="#374151">',
             '<rect width="100%" height="100%" fill="#ffffff"/>']
    for i, (title, found) in enumerate(panels):
        parts += panel(found, title, 460 * i)
    for i, (arithmetic, name) in enumerate(NAMES.items()):
        x = 20 + 110 * i
        parts += [f'<line x1="{x}" x2="{x + 24}" y1="304" y2="304" stroke="{COLOURS[arithmetic]}" stroke-width="2" '
                  f'stroke-dasharray="{DASHES[arithmetic]}"/>',
                  f'<text x="{x + 28}" y="308">{name.replace("`", "").replace(" autocast", "")}</text>']
    return "\n".join(parts + ["</svg>"]) + "\n"


def size_name(curves):
    run = next(iter(curves.values()))["run"]
    return f"GPT-2 {run['parameters'] / 1e6:.0f}M"


def size_section(curves, runs):
    """The words of docs/parity.md on the runs at size."""
    missing = [NAMES[run[2]] + (f" (step {curves[run]['reached']:,} so far)" if run in curves else "")
               for run in runs if run not in curves or "reached" in curves[run]]
    not_run = ("Not run to its end yet: " + ", ".join(missing) + ". `make parity-size` runs what is missing."
               if missing else "Every run of the list is there.")
    if not curves:
        return "No curve is there yet, of any arithmetic. `make parity-size` runs it."
    run = next(iter(curves.values()))["run"]
    lines = [f"{size_name(curves)}: {run['parameters']:,} parameters, {run['steps']:,} steps of {run['batch']} × "
             f"{run['context']:,} tokens, seed {run['seed']}. The text's token files have the hash "
             f"`{run['text'][:16]}…`.", "", "Held-out loss after so many steps.", ""]
    steps = sorted({step for curve in curves.values() for step in curve["held_out"]})
    lines += ["| arithmetic | computed by | " + " | ".join(f"{step:,}" for step in steps) +
              " | largest difference from PyTorch fp32 |", "|---|---|" + "---|" * (len(steps) + 1)]
    yardstick = next((curve for key, curve in curves.items() if key[2] == "fp32"), None)
    for (_, _, arithmetic), curve in curves.items():
        losses = " | ".join(f"{curve['held_out'][step]:.4f}" if step in curve["held_out"] else "–" for step in steps)
        common = [step for step in curve["held_out"] if yardstick and step in yardstick["held_out"]]
        apart = "–" if not common or arithmetic == "fp32" else "{:.4f}".format(
            max(abs(curve["held_out"][step] - yardstick["held_out"][step]) for step in common))
        if apart != "–" and max(common) < run["steps"]:
            apart += f" up to step {max(common):,}"
        products = curve["run"].get("products")
        by = f"`{curve['run']['device']}`" + (f", products in {products}" if products else "")
        lines.append(f"| {NAMES[arithmetic]} | {by} | {losses} | {apart} |")
    return "\n".join(lines + ["", not_run])


def body_of(curve, model=None):
    """One run of parity.json; `family` is its first key."""
    body = summary(curve)
    if model is None:
        return body
    return {"family": body.pop("family"), "model": model, **body}


def json_text(body):
    """A line a run."""
    return json.dumps(body, separators=(",", ":")).replace('{"family"', '\n{"family"') + "\n"


def replaced(text, begin, end, made):
    before, rest = text.split(begin)
    return before + begin + "\n\n" + made + "\n\n" + end + rest.split(end)[1]


def write(docs, curves, runs, size_curves, size_runs):
    """The pages: of the runs of `make parity`, and of those of `make parity-size`."""
    with open(os.path.join(docs, "parity.json"), "w") as file:
        body = {"schema": "assay.parity/v1", "runs": [body_of(curve) for curve in curves.values()]}
        if size_curves:
            body["size_runs"] = [body_of(curve, SIZE) for curve in size_curves.values()]
        file.write(json_text(body))
    with open(os.path.join(docs, "parity.svg"), "w") as file:
        file.write(picture(curves, size_curves))
    page = os.path.join(docs, "parity.md")
    with open(page) as file:
        text = file.read()
    text = replaced(text, BEGIN, END, table(curves, runs))
    text = replaced(text, SIZE_BEGIN, SIZE_END, size_section(size_curves, size_runs))
    with open(page, "w") as file:
        file.write(text)
