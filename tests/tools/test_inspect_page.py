#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ago-inspect's page in a browser: drawn, complete, without errors, and usable. Exit code 77: no Chromium.

usage: test_inspect_page.py <ago-inspect> <hostile_page> [--screenshots FOLDER]
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

PROGRAM, HOSTILE = sys.argv[1:3]
SCREENSHOTS = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--screenshots"] else None
FOLDER = tempfile.TemporaryDirectory()
BROWSER = None
DETAILS = "[...document.querySelectorAll('.details')].map(d => d.innerText)"


def page(network, *options):
    """The address and the text of a page."""
    path = pathlib.Path(FOLDER.name, "_".join((network, *options)) + ".html")
    if not path.exists():
        subprocess.run([PROGRAM, network, *options, "--format", "html", "--output", str(path)], check=True, timeout=60)
    return path.as_uri(), path.read_text(encoding="utf-8")


class Page(unittest.TestCase):
    def open(self, network, *options, fragment=""):
        address, text = page(network, *options)
        BROWSER.open(address + fragment)
        return text

    def tearDown(self):
        self.assertEqual(BROWSER.complaints(), [])
        self.assertEqual([a for a in BROWSER.requests() if not a.startswith(("file:", "about:"))], [])
        if SCREENSHOTS:
            image = BROWSER.call("Page.captureScreenshot")["data"]
            (SCREENSHOTS / f"{self.id().split('.')[-1]}.png").write_bytes(base64.b64decode(image))

    def centre(self, selector):
        x, y, width, height = BROWSER.evaluate(
            f"(r => [r.x, r.y, r.width, r.height])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        self.assertGreater(width * height, 0, selector)
        return x + width / 2, y + height / 2

    def check_drawn(self, network, *options):
        """Every operator occurs once in each view, visible, in its subgraph's colour; neighbours differ."""
        text = self.open(network, *options)
        data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])
        drawn = BROWSER.evaluate("""[...document.querySelectorAll('.view')].map(view =>
            [...view.querySelectorAll('.graph .op')].map(op => {
              const rect = op.querySelector('rect'), box = rect.getBoundingClientRect();
              return [Number(op.dataset.op), getComputedStyle(rect).fill, box.width * box.height,
                      op.style.getPropertyValue('--hue'), op.querySelector('text').textContent];
            }))""")
        self.assertEqual(len(drawn), len(data["views"]))
        for view, ops in zip(data["views"], drawn):
            operators = data["graphs"][view["graph"]]
            self.assertEqual([op[0] for op in ops], [*range(len(operators))])
            self.assertEqual(len(view["subgraph"]), len(operators))
            hues, fills = {}, {}
            for number, fill, area, hue, label in ops:
                operator, subgraph = operators[number], view["subgraph"][number]
                self.assertGreater(area, 0)
                self.assertEqual(label, operator["label"])
                heavy = operator["kind"] in ("conv2d", "depthwise", "pointwise", "linear", "matmul", "attention_scores",
                                             "attention_values")
                self.assertEqual(hues.setdefault(subgraph, hue), hue)
                self.assertEqual(fills.setdefault((subgraph, heavy), fill), fill)
            self.assertEqual(hues.pop(-1), "")
            self.assertEqual(sorted(hues), [*range(len(hues))])
            self.assertEqual(len({*hues.values()}), len(hues), "two subgraphs of one hue")
            for k in range(1, len(hues)):
                apart = abs(float(hues[k]) - float(hues[k - 1])) % 360
                self.assertGreater(min(apart, 360 - apart), 100)
            chips = BROWSER.evaluate(f"""[...document.querySelectorAll('.view')][{data["views"].index(view)}]
                .querySelectorAll('.subgraphs .chip').length""")
            self.assertEqual(chips, len(hues))

    def test_all_networks_are_drawn(self):
        for network in ("mobilenet_v2", "mnasnet", "squeezenet", "shufflenet_v2", "mobilevit_s", "bert_tiny"):
            self.check_drawn(network)

    def test_two_policies_are_drawn_side_by_side(self):
        self.check_drawn("mobilenet_v2", "--against", "fuse-ops")
        left, right = BROWSER.evaluate(
            "[...document.querySelectorAll('.graph > svg')].map(s => s.getBoundingClientRect().x)")
        self.assertLess(left + 400, right)

    def test_each_policy_is_drawn_on_its_own_graph(self):
        for network, other in (("bert_tiny", "apollo"), ("mobilevit_s", "fuse-ops"), ("mobilevit_s", "paper")):
            for options in (("--against", other), ("--policy", other, "--against", "ago")):
                with self.subTest(network=network, options=options):
                    self.check_drawn(network, *options)
        ago, apollo = BROWSER.evaluate("[...document.querySelectorAll('.graph > svg')].map(s => s.querySelectorAll('.op').length)")
        self.assertNotEqual(ago, apollo)

    def test_an_operator_that_a_policy_opens_is_found_in_both_graphs(self):
        text = self.open("bert_tiny", "--against", "apollo")
        graphs = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])["graphs"]
        norm = next(v for v, o in enumerate(graphs[0]) if o["kind"] == "layer_norm")
        opened = [v for v, o in enumerate(graphs[1]) if o["layer"] == graphs[0][norm]["layer"]]
        self.assertGreater(len(opened), 4)
        BROWSER.evaluate(f"location.hash = '#op={norm}'")
        BROWSER.press("Escape")
        BROWSER.click(*self.centre(f'.view .op[data-op="{norm}"]'))
        selected = "[...document.querySelectorAll('.view')].map(v => [...v.querySelectorAll('.op.selected')].map(o => +o.dataset.op))"
        self.assertEqual(BROWSER.evaluate(selected), [[norm], [opened[-1]]])
        self.assertIn(f"{opened[-1]} bias", BROWSER.evaluate(DETAILS)[1])
        BROWSER.click(*self.centre(f'.view:last-child .op[data-op="{opened[-2]}"]'))
        self.assertEqual(BROWSER.evaluate(selected), [[norm], [opened[-2]]])
        self.assertEqual(BROWSER.evaluate("location.hash"), f"#op={opened[-2]}&graph=1")
        BROWSER.press("/")
        for key in "layer_norm":
            BROWSER.press(key)
        self.assertRegex(BROWSER.evaluate("document.getElementById('found').value"), r"^\d+ and 0 operators$")

    def test_nothing_is_asked_of_the_network(self):
        text = self.open("bert_tiny")
        addresses = {a for a in re.findall(r"https?://[^\s\"'<]*", text)}
        self.assertLessEqual(addresses, {"http://www.w3.org/2000/svg"})
        self.assertNotRegex(text, r"(?i)<link|@import|url\(|\bsrc=")

    def test_pointing_shows_and_clicking_keeps(self):
        self.open("mobilenet_v2", "--against", "fuse-ops")
        BROWSER.mouse("mouseMoved", *self.centre('.view .op[data-op="20"]'))
        for text in BROWSER.evaluate(DETAILS):
            self.assertIn("20 depthwise", text)
        BROWSER.mouse("mouseMoved", 5, 5)
        self.assertNotIn("depthwise", BROWSER.evaluate(DETAILS)[0])
        BROWSER.click(*self.centre('.view .op[data-op="20"]'))
        BROWSER.mouse("mouseMoved", 5, 5)
        ago, fuse_ops = BROWSER.evaluate(DETAILS)
        for words in ("56x56x144", "3x3", "4,064,256", "rows: pointwise, depthwise, pointwise"):
            self.assertIn(words, ago)
        self.assertIn("7, depthwise", fuse_ops)
        self.assertEqual(BROWSER.evaluate("location.hash"), "#op=20")
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.op.selected').length"), 2)
        together = BROWSER.evaluate("[...document.querySelectorAll('.view')].map(v => "
                                    "[...v.querySelectorAll('.op.together')].map(o => o.dataset.op).join(' '))")
        self.assertEqual(together, ["17 18 19 20 21 22 23 24 25", "20 21 22"])

    def test_an_address_selects(self):
        self.open("mobilevit_s", fragment="#op=100")
        self.assertIn("100 bias", BROWSER.evaluate(DETAILS)[0])
        self.assertTrue(BROWSER.evaluate(
            "(b => b.width > 100 && b.x > 0 && b.y > 0 && b.bottom < innerHeight)"
            "(document.querySelector('.op.selected rect').getBoundingClientRect())"))
        chosen = "document.querySelector('.steps tr.chosen')"
        self.assertIn(f"{BROWSER.evaluate(chosen + '.dataset.step')}, channels", BROWSER.evaluate(DETAILS)[0])
        self.assertTrue(BROWSER.evaluate(f"(r => r.y > 0 && r.bottom < innerHeight)({chosen}.getBoundingClientRect())"))

    def test_search(self):
        self.open("mobilevit_s")
        BROWSER.press("/")
        for key in "norm2":
            BROWSER.press(key)
        matches = BROWSER.evaluate("[...document.querySelectorAll('.op.match')].map(o => Number(o.dataset.op))")
        self.assertEqual(len(matches), 9)
        self.assertEqual(BROWSER.evaluate("document.getElementById('found').value"), "9 operators")
        for match in matches[:2]:
            BROWSER.press("Enter")
            self.assertEqual(BROWSER.evaluate("location.hash"), f"#op={match}")
            self.assertIn("norm2", BROWSER.evaluate(DETAILS)[0])
        BROWSER.press("Escape")
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('.match, .selected').length"), 0)

    def test_keys_walk_along_the_edges(self):
        self.open("mobilenet_v2", fragment="#op=20")
        BROWSER.evaluate("document.querySelector('.graph > svg').focus()")
        BROWSER.press("ArrowDown")
        self.assertEqual(BROWSER.evaluate("location.hash"), "#op=21")
        for _ in range(2):
            BROWSER.press("ArrowUp")
        self.assertEqual(BROWSER.evaluate("location.hash"), "#op=19")

    def test_wheel_and_drag_move_both_graphs(self):
        self.open("mobilenet_v2", "--against", "ago-ni")
        boxes = "[...document.querySelectorAll('.graph > svg')].map(s => s.getAttribute('viewBox'))"
        start = BROWSER.evaluate(boxes)
        x, y = self.centre(".graph > svg")
        under = "document.elementFromPoint(%f, %f).closest('.op')?.dataset.op"
        op = '.op[data-op="60"]'
        at = self.centre(op)
        BROWSER.mouse("mouseWheel", *at, deltaX=0, deltaY=-600)
        zoomed = BROWSER.evaluate(boxes)
        self.assertEqual(zoomed[0], zoomed[1])
        self.assertLess(float(zoomed[0].split()[2]), float(start[0].split()[2]) / 2)
        self.assertEqual(BROWSER.evaluate(under % at), "60")  # the node under the pointer stays there
        BROWSER.mouse("mousePressed", x, y, button="left")
        BROWSER.mouse("mouseMoved", x + 60, y + 40, button="left", buttons=1)
        BROWSER.mouse("mouseReleased", x + 60, y + 40, button="left")
        self.assertEqual(BROWSER.evaluate(under % (at[0] + 60, at[1] + 40)), "60")
        BROWSER.click(*self.centre('[data-zoom="fit"]'))
        self.assertEqual(BROWSER.evaluate(boxes), start)

    def test_steps_and_subgraphs_can_be_chosen(self):
        self.open("squeezenet")
        BROWSER.click(*self.centre('tr[data-step="1"] button'))
        self.assertEqual(BROWSER.evaluate("document.querySelector('.steps .chosen').dataset.step"), "1")
        self.assertGreater(BROWSER.evaluate("document.querySelectorAll('.op.together').length"), 1)
        BROWSER.click(*self.centre('tr[data-subgraph="1"] button'))
        members = BROWSER.evaluate("document.querySelectorAll('.op.member').length")
        self.assertEqual(str(members), BROWSER.evaluate("document.querySelector('tr[data-subgraph=\"1\"]').cells[2].innerText"))

    def test_bars_are_shares_of_the_cost(self):
        self.open("mobilenet_v2")
        shares = BROWSER.evaluate("""[...document.querySelectorAll('.steps .share')].map(cell =>
            [parseFloat(cell.innerText), cell.querySelector('.bar').getBoundingClientRect().width])""")
        self.assertAlmostEqual(sum(share for share, _ in shares), 100, delta=2)
        most = max(shares, key=lambda s: s[1])
        for share, width in shares:
            self.assertAlmostEqual(width / most[1], share / most[0], delta=.03)

    def test_names_are_text(self):
        path = pathlib.Path(FOLDER.name, "hostile.html")
        path.write_text(subprocess.run([HOSTILE], check=True, capture_output=True, text=True).stdout, encoding="utf-8")
        BROWSER.open(path.as_uri() + "#op=1")
        self.assertEqual(BROWSER.evaluate("document.querySelector('h1').innerText"), "<i>net</i> & co")
        self.assertIn("\"a\" <b>bold</b> & <img src=x onerror=alert(1)>", BROWSER.evaluate(DETAILS)[0])
        self.assertEqual(BROWSER.evaluate("document.querySelectorAll('b, i, img').length"), 0)
        BROWSER.click(*self.centre('.op[data-op="2"]'))
        self.assertIn("</script><script>alert(2)</script>'", BROWSER.evaluate(DETAILS)[0])
        BROWSER.click(*self.centre('.op[data-op="3"]'))
        self.assertIn("\\x1b[31mred\\x07 \\u202egpj.exe", BROWSER.evaluate(DETAILS)[0])
        self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", path.read_text(encoding="utf-8")), [])


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
