#!/usr/bin/env python3
"""The checks themselves: each finds what it is there for, and nothing in text that is right."""
import os
import tempfile
import unittest

import common
import layers
import links
import sizes
import words


class Checks(unittest.TestCase):
    def test_code_only_keeps_lines_and_drops_comments_and_strings(self):
        text = 'a = "abort()"; /* exit()\n */ b(); // getenv\n'
        code = common.code_only(text)
        self.assertEqual(code.count("\n"), text.count("\n"))
        for word in ("abort", "exit", "getenv"):
            self.assertNotIn(word, code)
        self.assertIn("b();", code)

    def test_words_forbidden_call_is_found_and_allowed_one_is_not(self):
        self.assertTrue(list(words.check_rules("src/data/x.c", "\tabort();\n")))
        self.assertTrue(list(words.check_rules("src/data/x.c", 'getenv("A")')))
        self.assertFalse(list(words.check_rules("src/start/settings.c", 'getenv("A")')))
        self.assertTrue(list(words.check_rules("src/data/x.c", "fprintf(stderr, text);")))
        self.assertFalse(list(words.check_rules("tools/x.c", "exit(2);")))
        self.assertFalse(list(words.check_rules("src/data/x.c", "int exit_code;")))

    def test_words_engine_is_named_in_the_core_only_where_it_is_declared(self):
        self.assertTrue(list(words.check_rules("src/data/x.c", "if (rt->virtual_time)")))
        self.assertTrue(list(words.check_rules("src/core/x.c", "if (rt->engine == &hd_engine_threads)")))
        self.assertFalse(list(words.check_rules("src/start/x.c", "rt->engine = &hd_engine_threads;")))

    def test_orders_without_pair_are_found(self):
        line = "x = atomic_load_explicit(&a, memory_order_acquire);"
        self.assertTrue(list(words.check_orders("f.c", line, line)))
        commented = "/* pairs with f */\n" + line
        self.assertFalse(list(words.check_orders("f.c", commented, common.code_only(commented))))
        far = "/* pairs with f */\n\n\n\n\n" + line
        self.assertTrue(list(words.check_orders("f.c", far, common.code_only(far))))

    def test_machine_paths_and_unfinished_work_are_found(self):
        self.assertTrue(list(words.check_any_file("f", "see /ho" + "me/ann/x")))
        self.assertTrue(list(words.check_any_file("f", "/* TO" + "DO: later */")))
        self.assertFalse(list(words.check_any_file("f", "network/ro" + "ot/x ~/ho" + "me/x $ROOT/ro" + "ot/x")))

    def test_sizes_measure_length_and_parameters(self):
        body = "\n".join(["\ta();"] * 59)
        text = f"static int f(int a, int (*g)(int, int),\n             int c)\n{{\n{body}\n}}\n"
        found = {(w, k): n for w, k, n in sizes.measure("x.c", text)}
        self.assertEqual(found["x.c:f", "lines"], 61)
        self.assertEqual(found["x.c:f", "parameters"], 3)
        self.assertEqual(found["x.c", "file"], text.count("\n"))

    def test_sizes_exceptions_only_shrink(self):
        measured = [("x.c:f", "lines", 70)]
        self.assertTrue(sizes.compare(measured, {}))
        self.assertFalse(sizes.compare(measured, {("x.c:f", "lines"): 70}))
        self.assertTrue(sizes.compare(measured, {("x.c:f", "lines"): 69}))
        self.assertTrue(sizes.compare([("x.c:f", "lines", 60)], {("x.c:f", "lines"): 70}))

    def test_links_to_absent_files_and_headings_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "a.md")
            with open(os.path.join(folder, "b.md"), "w", encoding="utf-8") as f:
                f.write("# One\n## `two`, and three\n")
            for link, right in (("b.md", 1), ("b.md#one", 1), ("b.md#two-and-three", 1), ("https://example.org/x", 1), ("#here", 1),
                                ("c.md", 0), ("b.md#two", 0), ("#there", 0)):
                with open(page, "w", encoding="utf-8") as f:
                    f.write(f"# Here\n[x]({link})\n")
                self.assertEqual(not list(links.broken_links(page)), bool(right), link)

    def test_layers_table_and_circles(self):
        table = layers.load_table("x\n```layers\nbase:\ngraph:\ndata: graph\n```\n")
        self.assertEqual(table["data"][1], {"graph", "data", "base"})
        self.assertIsNone(layers.find_circle(table))
        self.assertTrue(list(layers.check_file("src/graph/x.c", '#include "data/data.h"', table)))
        self.assertFalse(list(layers.check_file("src/data/x.c", '#include "graph/graph.h"', table)))
        table["graph"][1].add("data")
        self.assertTrue(layers.find_circle(table))

    def test_layers_modules_of_one_line_know_each_other(self):
        table = layers.load_table("```layers\nbase:\ngraph data: perf\nperf:\n```\n")
        self.assertIsNone(layers.find_circle(table))
        self.assertFalse(list(layers.check_file("src/graph/x.c", '#include "data/data.h"', table)))
        table["perf"][1].add("graph")
        self.assertTrue(layers.find_circle(table))


if __name__ == "__main__":
    unittest.main()
