#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ago-inspect's page in a browser: drawn, complete, without errors, and usable. Exit code 77: no Chromium.

usage: test_inspect_page.py <ago-inspect> <made_page> [--screenshots FOLDER]
"""
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

PROGRAM, MADE = sys.argv[1:3]
FOLDER = tempfile.TemporaryDirectory()
SCREENSHOTS = pathlib.Path(sys.argv[4] if sys.argv[3:4] == ["--screenshots"] else FOLDER.name)
LAYOUT = pathlib.Path(__file__).with_name("page_layout.js").read_text(encoding="utf-8")
BROWSER = None
WIDE, NARROW = 1400, 700
STEPS = "[...document.querySelectorAll('.view:not(.hidden) .box.step')]"
# The contrast of all texts in boxes with what is behind them (WCAG 2), the least of all.
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const over = (...colours) => {
    for (const colour of colours) {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const light = rgb => rgb.map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
    .reduce((sum, x, k) => sum + x * [.2126, .7152, .0722][k], 0);
  return Math.min(...[...document.querySelectorAll('.view:not(.hidden) .box.step :is(span, .small)')].map(e => {
    const behind = getComputedStyle(e.closest('.box')).backgroundColor;
    const [a, b] = [over('#fff', behind), over('#fff', behind, getComputedStyle(e).color)].map(light).sort((a, b) => b - a);
    return (a + .05) / (b + .05);
  }));
})()"""


def page(network, *options):
    """The address of a page. Networks that only tests need are made by another program."""
    path = pathlib.Path(FOLDER.name, "_".join((network, *options)) + ".html")
    if not path.exists():
        if network in ("hostile", "large"):
            path.write_bytes(subprocess.run([MADE, network], check=True, timeout=60, capture_output=True).stdout)
        else:
            subprocess.run([PROGRAM, network, *options, "--format", "html", "--output", str(path)], check=True, timeout=60)
    return path


class Page(unittest.TestCase):
    def open(self, network, *options, fragment="", width=WIDE, dark=False):
        """Opens a page and returns its data."""
        path = page(network, *options)
        BROWSER.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        BROWSER.call("Emulation.setEmulatedMedia", features=[scheme])
        BROWSER.open(path.as_uri() + fragment)
        text = path.read_text(encoding="utf-8")
        return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])

    def tearDown(self):
        self.assertEqual(BROWSER.complaints()[:3], [])
        self.assertEqual([a for a in BROWSER.requests() if not a.startswith(("file:", "about:"))], [])

    def screenshot(self, name):
        """Writes the page as far as it is visible; a page without boxes would be a tenth as large."""
        image = base64.b64decode(BROWSER.call("Page.captureScreenshot")["data"])
        (SCREENSHOTS / f"{name}.png").write_bytes(image)
        self.assertGreater(len(image), 40000)

    def centre(self, selector):
        """The centre of an element that is scrolled into view."""
        x, y, width, height = BROWSER.evaluate(f"""(e => {{
          e.scrollIntoView({{ block: 'center' }});
          const r = e.getBoundingClientRect();
          return [r.x, r.y, r.width, r.height];
        }})(document.querySelector({json.dumps(selector)}))""")
        self.assertGreater(width * height, 0, selector)
        return x + width / 2, y + height / 2

    def click(self, selector):
        BROWSER.click(*self.centre(selector))

    def check_layout(self, what):
        self.assertEqual(BROWSER.evaluate(LAYOUT), [], what)

    def check_steps(self, view):
        """Every step is drawn once, with its kernels, extents and epilogues; its figure is its time."""
        drawn = BROWSER.evaluate(f"""{STEPS}.map(box => [Number(box.dataset.step),
            ...['.kernel', '.size'].map(kind => [...box.querySelectorAll(kind)].map(e => e.textContent)),
            box.textContent, box.querySelector('.figure').textContent])""")
        self.assertEqual([d[0] for d in drawn], [*range(len(view["steps"]))])
        for (_, kernels, sizes, text, figure), step in zip(drawn, view["steps"]):
            self.assertEqual(kernels, [part["kernel"] for part in step["parts"]])
            self.assertEqual(sizes, [part["writes"].replace("x", "\u00d7") for part in step["parts"]])
            for part in step["parts"]:
                self.assertIn(part["epilogue"], text)
            time = float(figure.split("\u00a0")[0]) * (1000 if figure.endswith("ms") else 1)
            self.assertAlmostEqual(time, step["time"], delta=.006 * step["time"] + .006)
        lines = BROWSER.evaluate("[...document.querySelectorAll('.view:not(.hidden) path.edge')].length")
        self.assertGreaterEqual(lines, len({(f[0], f[1]) for f in view["flows"]}))

    def test_nothing_overflows_at_any_width(self):
        networks = (("mobilenet_v2", "fuse-ops"), ("squeezenet", None), ("shufflenet_v2", "paper"), ("mobilevit_s", "apollo"),
                    ("bert_tiny", "apollo"))
        for network, other in networks:
            for width in (WIDE, NARROW):
                options = ("--against", other) if other else ()
                views = self.open(network, *options, width=width)
                for k, view in enumerate(views):
                    with self.subTest(network=network, policy=view["policy"], width=width):
                        if other:
                            BROWSER.evaluate(f"document.getElementById('tab{k}').click()")
                        self.check_layout(network)
                        if len(view["steps"]) <= 150:
                            self.check_steps(view)
                        self.screenshot(f"{network}_{view['policy']}_{width}")

    def test_seven_hundred_operators_fold_into_one_block(self):
        for width in (WIDE, NARROW):
            view, = self.open("large", width=width)
            self.assertGreaterEqual(len(view["operators"]), 700)
            self.assertLess(BROWSER.evaluate("document.querySelectorAll('.box').length"), 40)
            folded = BROWSER.evaluate("(b => [b.innerText, Number(b.dataset.steps)])(document.querySelector('.fold'))")
            self.assertRegex(folded[0], "^\u00d7\u20093[45]\n")
            self.assertGreater(folded[1], .9 * len(view["steps"]))
            self.check_layout("folded")
            self.screenshot(f"large_folded_{width}")
            self.click(".fold .unfold")
            self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.fold').length"), 0)
            self.check_steps(view)
            self.check_layout("unfolded")
            self.screenshot(f"large_unfolded_{width}")
            self.click(".folds button")
            self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.fold').length"), 1)

    def test_a_fold_stands_for_equal_blocks(self):
        for network in ("large", "mobilenet_v2", "mobilevit_s", "shufflenet_v2"):
            view, = self.open(network)
            same = [[(p["kernel"], p["reads"], p["writes"], p["epilogue"]) for p in step["parts"]] for step in view["steps"]]
            folds = BROWSER.evaluate("all[0].folds.map(f => [f.first, f.period, f.copies])")
            self.assertTrue(folds)
            for first, period, copies in folds:
                block = same[first:first + period]
                self.assertEqual(same[first:first + period * copies], block * copies)
                self.assertGreater(period * (copies - 1), 1)
            for a, b in zip(folds, folds[1:]):
                self.assertLessEqual(a[0] + a[1] * a[2], b[0])

    def test_branches_are_side_by_side(self):
        """Both expanding convolutions of SqueezeNet's fire modules read the same value."""
        for width in (WIDE, NARROW):
            view, = self.open("squeezenet", width=width)
            readers, branches = {}, 0
            for source, reader, _ in view["flows"]:
                readers.setdefault(source, set()).add(reader)
            place = BROWSER.evaluate(f"{STEPS}.map(b => (r => [r.x, r.y, r.bottom])(b.getBoundingClientRect()))")
            for pair in (sorted(r) for r in readers.values() if len(r) == 2):
                (xa, top_a, bottom_a), (xb, top_b, bottom_b) = place[pair[0]], place[pair[1]]
                self.assertGreater(abs(xa - xb), 100)
                self.assertTrue(top_a < bottom_b and top_b < bottom_a)
                branches += 1
            self.assertEqual(branches, 8)

    def test_each_policy_has_a_graph_of_its_own(self):
        views = self.open("bert_tiny", "--against", "apollo")
        counts = [len(view["steps"]) for view in views]
        self.assertNotEqual(*counts)
        self.assertEqual(BROWSER.evaluate(f"{STEPS}.length"), counts[0])
        self.click("#tab1")
        self.assertEqual(BROWSER.evaluate(f"{STEPS}.length"), counts[1])
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.view:not(.hidden) .steps tbody tr').length"), counts[1])
        self.assertEqual(BROWSER.evaluate("location.hash"), "#policy=1")
        BROWSER.press("ArrowRight")  # from the last tab to the first
        self.assertEqual(BROWSER.evaluate(f"{STEPS}.length"), counts[0])

    def test_colours_are_chosen_by_the_reader(self):
        for dark in (False, True):
            view, = self.open("mobilenet_v2", dark=dark)
            state = f"{STEPS}.map(b => [getComputedStyle(b).backgroundColor, b.querySelector('.figure').textContent])"
            by_time = BROWSER.evaluate(state)
            self.assertGreaterEqual(BROWSER.evaluate(CONTRAST), 4.5)
            legend = BROWSER.evaluate("document.getElementById('most').textContent")
            longest = max(range(len(by_time)), key=lambda k: view["steps"][k]["time"])
            self.assertEqual(legend, by_time[longest][1] + " in a step")
            self.click("input[value=bytes]")
            by_bytes = BROWSER.evaluate(state)
            self.assertGreaterEqual(BROWSER.evaluate(CONTRAST), 4.5)
            self.assertNotEqual(legend, BROWSER.evaluate("document.getElementById('most').textContent"))
            for a, b in zip(by_time, by_bytes):
                self.assertNotEqual(a[1], b[1])
            self.assertGreater(sum(a[0] != b[0] for a, b in zip(by_time, by_bytes)), 20)
            # Equal figures have equal colours, and the largest differs from the least.
            for state in (by_time, by_bytes):
                self.assertGreater(len({colour for colour, _ in state}), 10)

    def test_selecting_marks_box_row_and_column(self):
        view, = self.open("mobilenet_v2")
        marked = """[document.querySelector('.box.selected')?.dataset.step, document.querySelector('tr.chosen')?.dataset.step,
            [...document.querySelectorAll('.column')].findIndex(c => c.classList.contains('selected')), location.hash,
            document.getElementById('details').innerText]"""
        for selector, step in (('.box[data-step="7"]', 7), ('tr[data-step="12"] .kernel', 12), (".strips svg", None)):
            self.click(selector)
            if step is None:
                box, row, column, address, text = BROWSER.evaluate(marked)
                self.assertAlmostEqual(column, len(view["steps"]) / 2, delta=2)
                step = column
            else:
                box, row, column, address, text = BROWSER.evaluate(marked)
            self.assertEqual((box, row, column, address), (str(step), str(step), step, f"#step={step}"))
            self.assertIn(f"Step {step}:", text)
            for part in view["steps"][step]["parts"]:
                for v in part["operators"]:
                    operator = view["operators"][v]
                    self.assertIn(f"{v} {operator['label']} {operator['extents']}", text)
                    self.assertIn(f"layer {operator['layer']}", text)
        BROWSER.press("Escape")
        self.assertEqual(BROWSER.evaluate(marked)[:4], [None, None, -1, ""])
        self.assertTrue(BROWSER.evaluate("document.getElementById('details').hidden"))

    def test_pointing_shows_a_card(self):
        self.open("mobilenet_v2")
        BROWSER.mouse("mouseMoved", *self.centre('.box[data-step="2"]'))
        text = BROWSER.evaluate("document.getElementById('card').innerText")
        for words in ("Step 2: pointwise, depthwise, pointwise (rows)", "beyond L2", "register tile", "line",
                      "20 depthwise 56x56x144, 3x3"):
            self.assertIn(words, text)
        self.assertTrue(BROWSER.evaluate("(r => r.x >= 0 && r.y >= 0 && r.right <= innerWidth && r.bottom <= innerHeight)"
                                         "(document.getElementById('card').getBoundingClientRect())"))
        BROWSER.mouse("mouseMoved", 5, 5)
        self.assertTrue(BROWSER.evaluate("document.getElementById('card').hidden"))

    def test_an_address_selects(self):
        self.open("mobilenet_v2", "--against", "fuse-ops", fragment="#step=44&policy=1")
        self.assertEqual(BROWSER.evaluate("document.querySelector('.view:not(.hidden) .selected').dataset.step"), "44")
        self.assertEqual(BROWSER.evaluate("document.querySelector('[aria-selected=true]').id"), "tab1")
        self.assertTrue(BROWSER.evaluate("(r => r.y >= 0 && r.bottom <= details.getBoundingClientRect().y)"
                                         "(document.querySelector('.view:not(.hidden) .selected').getBoundingClientRect())"))

    def test_keys_walk_along_the_values(self):
        self.open("squeezenet", fragment="#step=1")
        BROWSER.evaluate("document.querySelector('.box.selected').focus()")
        for key, step in (("ArrowDown", 2), ("ArrowUp", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowUp", 1)):
            BROWSER.press(key)
            self.assertEqual(BROWSER.evaluate("location.hash"), f"#step={step}")
            self.assertEqual(BROWSER.evaluate("document.activeElement.dataset.step"), str(step))

    def test_search(self):
        view, = self.open("mobilevit_s")
        BROWSER.press("/")
        for key in "norm2":
            BROWSER.press(key)
        named = [v for v, operator in enumerate(view["operators"]) if "norm2" in operator["name"]]
        self.assertEqual(len(named), 9)
        steps = [s for s, step in enumerate(view["steps"])
                 if any(v in part["operators"] for part in step["parts"] for v in named)]
        matches = "[...document.querySelectorAll('.box.match')].map(o => Number(o.dataset.step))"
        self.assertEqual(BROWSER.evaluate(matches), steps)
        self.assertEqual(BROWSER.evaluate("document.getElementById('found').value"), f"9 operators in {len(steps)} steps")
        for step in steps[:2]:
            BROWSER.press("Enter")
            self.assertEqual(BROWSER.evaluate("location.hash"), f"#step={step}")
        BROWSER.press("Escape")
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.match, .selected').length"), 0)

    def test_strips_have_one_axis(self):
        """Bars are as high as the predicted time, values as high as their bytes; both have the same steps."""
        for width in (WIDE, NARROW):
            view, = self.open("mobilenet_v2", width=width)
            rects = ("[...document.querySelectorAll('.strips %s')]"
                     ".map(e => ['x', 'y', 'width', 'height'].map(a => e[a].baseVal.value))")
            bars, columns, values = (BROWSER.evaluate(rects % kind) for kind in (".bar", ".column", ".value"))
            self.assertEqual([*map(len, (bars, columns, values))], [*map(len, (view["steps"], view["steps"], view["values"]))])
            longest = max(view["steps"], key=lambda s: s["time"])["time"]
            highest = max(bar[3] for bar in bars)
            for bar, column, step in zip(bars, columns, view["steps"]):
                self.assertAlmostEqual(bar[3], max(1, highest * step["time"] / longest), delta=.1)
                self.assertTrue(column[0] <= bar[0] and bar[0] + bar[2] <= column[0] + column[2])
            bottom = max(y + height for _, y, _, height in values)
            scale = (max(value[3] for value in values) + 1) / max(v["bytes"] for v in view["values"])
            for (x, y, wide, high), value in zip(values, view["values"]):
                first, last = columns[value["first"]], columns[value["last"]]
                self.assertAlmostEqual(x, first[0], delta=.6)
                self.assertAlmostEqual(x + wide, last[0] + last[2], delta=.6)
                self.assertAlmostEqual(high, max(.5, scale * value["bytes"] - 1), delta=.1)
                self.assertAlmostEqual(bottom - y - high, scale * value["offset"], delta=1.1)

    def test_the_table_fills_the_page(self):
        for width in (WIDE, NARROW):
            view, = self.open("mobilenet_v2", width=width)
            wide = BROWSER.evaluate("document.querySelector('.steps').getBoundingClientRect().width")
            self.assertGreater(wide, .92 * width)
            shares = BROWSER.evaluate("""[...document.querySelectorAll('.steps .share')].map(cell =>
                [parseFloat(cell.innerText), cell.querySelector('.bar').getBoundingClientRect().width])""")
            self.assertAlmostEqual(sum(share for share, _ in shares), 100, delta=2)
            most = max(shares, key=lambda s: s[1])
            for share, length in shares:
                self.assertAlmostEqual(length / most[1], share / most[0], delta=.04)

    def test_printing_leaves_out_what_paper_cannot_do(self):
        self.open("mobilenet_v2")
        BROWSER.call("Emulation.setEmulatedMedia", media="print")
        hidden = "['form', '.folds', '#details'].map(s => getComputedStyle(document.querySelector(s)).display)"
        self.assertEqual(BROWSER.evaluate(hidden), ["none"] * 3)
        BROWSER.call("Emulation.setEmulatedMedia", media="")
        width = "document.querySelector('.graph').clientWidth"
        BROWSER.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertLess(BROWSER.evaluate(width), 720)
        self.check_layout("printed")
        BROWSER.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertGreater(BROWSER.evaluate(width), 1200)
        self.assertGreater(len(BROWSER.call("Page.printToPDF", printBackground=True)["data"]), 40000)

    def test_nothing_is_asked_of_the_network(self):
        self.open("bert_tiny")
        text = page("bert_tiny").read_text(encoding="utf-8")
        self.assertLessEqual({*re.findall(r"https?://[^\s\"'<]*", text)}, {"http://www.w3.org/2000/svg"})
        self.assertNotRegex(text, r"(?i)<link|@import|[^-]url\([^#]|\bsrc=")

    def test_names_are_text(self):
        self.open("hostile", fragment="#step=0")
        self.assertEqual(BROWSER.evaluate("document.querySelector('h1').innerText"), "<i>net</i> & co")
        text = BROWSER.evaluate("document.getElementById('details').innerText")
        self.assertIn("\"a\" <b>bold</b> & <img src=x onerror=alert(1)>", text)
        self.assertIn("</script><script>alert(2)</script>'", text)
        self.assertIn("\\x1b[31mred\\x07 \\u202egpj.exe", text)
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('b, i, img').length"), 0)
        self.check_layout("hostile")
        text = page("hostile").read_text(encoding="utf-8")
        self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), [])


def main():
    global BROWSER
    program = browser.find()
    if not program:
        print("skipped: there is no Chromium")
        return 77
    with FOLDER, browser.Browser(program) as BROWSER:
        outcome = unittest.main(argv=sys.argv[:1], exit=False).result
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
