#!/usr/bin/env python3
"""The checks themselves: each finds what it is there for, and nothing in text that is right."""
import os
import tempfile
import unittest

import climbs
import common
import format as formatting # not the function of that name
import layers
import links
import locks
import names
import needed
import prototypes
import rooms
import sizes
import structure
import words


class Checks(unittest.TestCase):
    def test_code_only_keeps_lines_and_drops_comments_and_strings(self):
        text = 'a = "abort()"; /* exit()\n */ b(); // getenv\n'
        code = common.code_only(text)
        self.assertEqual(code.count("\n"), text.count("\n"))
        for word in ("abort", "exit", "getenv"):
            self.assertNotIn(word, code)
        self.assertIn("b();", code)

    def test_files_leaves_out_build_folders_of_any_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in ("src/kept.c", "mine/CMakeCache.txt", "mine/generated.c"):
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                open(os.path.join(folder, path), "w", encoding="utf-8").close()
            kept = os.path.relpath(os.path.join(folder, "src/kept.c"), common.ROOT)
            self.assertEqual(common.files(folder), [kept])

    def test_needed_library_is_found_by_the_whole_name(self):
        section = (" 0x01 (NEEDED)             Shared library: [libm.so.6]\n"
                   " 0x0e (SONAME)             Library soname: [libheddle.so.0]\n"
                   " 0x01 (NEEDED)             Shared library: [libcairo.so.2]\n")
        self.assertEqual(needed.needed(section), ["libm.so.6", "libcairo.so.2"])
        self.assertFalse(needed.problems_of("x", needed.needed(section), ["libm", "libcairo"]))
        self.assertIn("libcairo.so.2", "".join(needed.problems_of("x", needed.needed(section), ["libm", "libc"])))
        self.assertTrue(needed.problems_of("x", needed.needed("nothing"), ["libm"]))

    def test_rooms_each_source_file_is_named_once_with_what_it_is_for(self):
        sources = ["src/a/x.c", "src/a/b/x.c"]
        right = "## `src/a/`\n\n- `x.c` reads the file.\n\n## `src/a/b/`\n\n- `x.c` writes the file.\n"
        elsewhere = "## Answers\n\n- `y.c` is named where no room is.\n"
        self.assertEqual(list(rooms.problems_of(right + elsewhere, sources)), [])
        for wrong, said in ((right + "- `x.c` writes the file.\n", "src/a/b/x.c is named twice"),
                            (right + "- `gone.c` was here before.\n", "src/a/b/gone.c is not there"),
                            (right.replace(" writes the file.", ""), "nothing is said of what src/a/b/x.c is for"),
                            (right.replace("- `x.c` writes the file.\n", ""), "src/a/b/x.c: docs/rooms.md does not")):
            problems = list(rooms.problems_of(wrong, sources))
            self.assertEqual(len(problems), 1, wrong)
            self.assertIn(said, problems[0])

    def test_words_forbidden_call_is_found_and_allowed_one_is_not(self):
        self.assertTrue(list(words.check_rules("src/memory/x.c", "\tabort();\n")))
        self.assertTrue(list(words.check_rules("src/memory/x.c", 'getenv("A")')))
        self.assertFalse(list(words.check_rules("src/base/variable.c", 'getenv("A")')))
        self.assertTrue(list(words.check_rules("src/memory/x.c", "fprintf(stderr, text);")))
        self.assertFalse(list(words.check_rules("tools/x.c", "exit(2);")))
        self.assertFalse(list(words.check_rules("src/memory/x.c", "int exit_code;")))

    def test_words_engine_is_named_in_the_core_only_where_it_is_declared(self):
        self.assertTrue(list(words.check_rules("src/memory/x.c", "if (rt->virtual_time)")))
        self.assertTrue(list(words.check_rules("src/flow/x.c", "if (rt->engine == &hd_engine_threads)")))
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
            for link, right in (("b.md", 1), ("b.md#one", 1), ("b.md#two-and-three", 1), ("https://example.org/x", 1),
                                ("#here", 1),
                                ("c.md", 0), ("b.md#two", 0), ("#there", 0)):
                with open(page, "w", encoding="utf-8") as f:
                    f.write(f"# Here\n[x]({link})\n")
                self.assertEqual(not list(links.broken_links(page)), bool(right), link)

    def test_layers_table_and_circles(self):
        table = layers.load_table("x\n```layers\nbase:\nmemory:\ngraph: memory\n```\n")
        self.assertEqual(table["graph"], {"memory", "graph", "base"})
        self.assertIsNone(layers.find_circle(table))
        self.assertTrue(list(layers.check_includes("src/memory/x.c", '#include "graph/chains.h"', table)))
        self.assertFalse(list(layers.check_includes("src/graph/x.c", '#include "memory/uses.h"', table)))
        table["memory"].add("graph")
        self.assertTrue(layers.find_circle(table))

    def test_climbs_are_found_behind_calls_names_macros_and_variables_and_not_behind_a_stop(self):
        texts = {
            "src/flow/a.c": "static void deep(int x)\n{\n\tif (x)\n\t\trt->flow->ready(rt);\n}\n"
                            "static __attribute__((noinline)) void each(int x)\n{\n\tvisit(deep);\n}\n"
                            "void start(int x)\n{\n\teach(x), s->stop(), FROM_MACRO(x), stop(), o->deep_too();\n}\n",
            "src/flow/b.c": "static void deep(void)\n{\n\trt->engine->now(rt);\n}\n" # another file's
                            "void stop(void)\n{\n\trt->flow->end(rt);\n}\n",
            "src/state/c.h": "#define FROM_MACRO(x) \\\n\tby_variable(x)\n"
                             "static inline void by_variable(struct hd_adapt *a)\n{\n\ta->ended(1), b->ended(2);\n}\n",
        }
        tables = {"flow": ("hd_flow_calls", ["ready", "end"]), "engine": ("hd_engine", ["now"]),
                  "adapt": ("hd_adapt", ["ended"])}
        source = climbs.Source(texts)

        def found(stops):
            return sorted(c for f in source.reached("start", stops) for c in climbs.climbs_in(source.bodies[f], tables))
        self.assertEqual(found(("stop",)), ["adapt: ended", "flow: ready"])
        self.assertEqual(found(()), ["adapt: ended", "flow: end", "flow: ready"])
        self.assertEqual(climbs.climbs_in("rt->retire_task(t); retire_task(t);", tables), ["retire_task"])
        before = source.reached("start", ())
        self.assertEqual(climbs.way_to(("src/flow/a.c", "deep"), before), "deep <- each <- start")

    def test_structure_finds_a_name_twice_and_what_a_header_pulls(self):
        texts = {"src/a/x.h": "struct hd_x {\n};", "src/b/y.h": "/* struct hd_x { */ enum hd_y { A };"}
        self.assertEqual(list(structure.twice(texts)), [])
        texts["src/b/z.c"] = "union hd_x {\n};"
        self.assertEqual(len(list(structure.twice(texts))), 1)
        guard = "#ifndef HD_STATE_TASK_H\n#define HD_STATE_TASK_H\n#endif\n"
        self.assertIsNone(structure.wrong_guard("src/state/task.h", guard))
        for wrong in (guard.replace("STATE", "CORE"), guard.replace("#define HD_STATE_TASK_H", ""), ""):
            self.assertIn("not HD_STATE_TASK_H", structure.wrong_guard("src/state/task.h", wrong))
        self.assertEqual(structure.pulled("a", {"a": ["b"], "b": ["c", "a"], "c": []}), {"a", "b", "c"})

    def test_layers_of_symbols(self):
        table = layers.load_table("```layers\nbase:\npolicies: public\nmemory:\ngraph: memory\n```\n")
        defined = {"hd_link": "src/graph/a.c", "heddle_asked": "src/graph/a.c", "hd_pin": "src/memory/b.c"}
        allowed = {"src/graph/a.c": {"hd_pin", "malloc"}, "src/policies/p.c": {"heddle_asked"}}
        self.assertEqual(list(layers.check_symbols(defined, allowed, table)), [])
        for path, symbol in (("src/memory/b.c", "hd_link"), ("src/memory/b.c", "heddle_asked"),
                             ("src/policies/p.c", "hd_pin")):
            self.assertEqual(len(list(layers.check_symbols(defined, {path: {symbol}}, table))), 1, path)

    def test_format_finds_what_the_formatter_would_change(self):
        formatter = formatting.find_formatter()
        if not formatter:
            self.skipTest("no clang-format")
        with tempfile.TemporaryDirectory() as folder:
            good, bad = os.path.join(folder, "good.c"), os.path.join(folder, "bad.c")
            for path, text in ((good, "int f(void)\n{\n\treturn 0;\n}\n"), (bad, "int f(void) {\n    return 0; }\n")):
                with open(path, "w", encoding="ascii") as f:
                    f.write(text)
            self.assertEqual([p.split(":")[0] for p in formatting.check_format(formatter, [good, bad])], [bad])
            self.assertTrue(list(formatting.check_format(formatter, [os.path.join(folder, "absent.c")])))

    def test_format_width_counts_tabs_but_not_addresses(self):
        self.assertFalse(list(formatting.check_width("f", "\t" + "x" * 112)))
        self.assertTrue(list(formatting.check_width("f", "\n\t" + "x" * 113)))
        self.assertFalse(list(formatting.check_width("f", "x" * 60 + " https://example.org/" + "y" * 99)))
        self.assertTrue(list(formatting.check_width("f", "x" * 120 + " https://example.org/")))

    @staticmethod
    def missing_names(text):
        index = names.Index({
            "src/flow/x.c": '#include <stdio.h>\nint hd_there(int count);\nstatic const char *s = "window";\n',
            "src/start/settings.c": 'ROW(n_cpu, "NCPU", INT)\nf("HEDDLE_CONFIG");\n', "src/x.c": '{"dada", "alpha"};\n',
            "src/taskgraph/x.h": "enum { HD_A_FIRST };\n", "docs/x.md": "heddle_gone()",
            "CMakeLists.txt": "option(HEDDLE_FUZZ)\n",
        })
        return [name for _, name in names.check_comment(text, index)]

    def test_names_that_are_there_are_not_reported(self):
        for text in ("hd_there, hd_the*, hd_there() and HD_A_... ",
                     "see x.h, taskgraph/x.h, src/taskgraph/x.h, stdio.h, src/flow",
                     "`count`, `hd_there`, `s`, `window`, `x.h`, a `count > 1`, `_there`", "HEDDLE_NCPU, HEDDLE_FUZZ",
                     "HEDDLE_CONFIG, HEDDLE_DADA_ALPHA, HEDDLE_<POLICY>_<OPTION>", "f(x) is O(n), as in `heddle sim`",
                     "https://example.org/hd_x/src/gone.c"):
            self.assertEqual(self.missing_names(text), [], text)

    def test_names_that_are_not_there_are_reported(self):
        for text in ("hd_gone", "HD_GONE", "heddle_gone", "HEDDLE_GONE", "HEDDLE_DADA_BETA", "hd_gone_*", "gone()",
                     "`gone`", "`gone.count`", "gone.c", "core/gone.h", "src/gone/", "see docs/gone.md"):
            self.assertEqual(len(self.missing_names(text)), 1, text)

    def test_names_are_looked_for_in_comments_and_messages_alone(self):
        index = names.Index({"src/x.c": "int count;"})
        for path, text in (("src/x.c", "/* `gone` */"), ("src/x.c", 'f("see heddle_gone");'), ("src/x.c", "// gone.c"),
                           ("x.sh", "true # gone.c"), ("x.md", "\n`gone`"), ("x.py", '"""See\ngone.c."""')):
            self.assertEqual(len(list(names.check_file(path, text, index))), 1, text)
        for path, text in (("x.md", "`mine`:\n\n    f(mine)\n"), ("x.md", "`mine`:\n```\nf(mine)\n```\n"),
                           ("src/x.c", "hd_gone();"), ("src/x.c", 'f("gone.c");'), ("x.sh", "rm gone.c")):
            self.assertEqual(list(names.check_file(path, text, index)), [], text)

    def test_prototypes_belong_in_headers(self):
        for text in ("int f(int);\n", "extern void f(void) __attribute__((weak));\n",
                     "struct s *f(struct s *a,\n  int b);\n",
                     "static int f(int);\nint g(void)\n{\n\treturn 0;\n}\nstatic int f(int a)\n{\n\treturn g();\n}\n",
                     '#include "x.c"\n'):
            self.assertEqual(len(list(prototypes.check_file("src/x.c", text))), 1, text)
        self.assertTrue(list(prototypes.check_file("tests/unit/x.h", '#include "x.c"\n')))

    def test_prototypes_that_nothing_can_replace_are_allowed(self):
        circle = "static int f(int a);\nint g(int a)\n{\n\treturn f(a);\n}\nstatic int f(int a)\n{\n\treturn g(a);\n}\n"
        table = "static int f(void);\nconst struct row all[] = {{f}};\nstatic int f(void)\n{\n\treturn all[0].x;\n}\n"
        for text in (circle, table, "int f(int) __attribute__((alias(\"g\")));\n", "typedef int f(int);\n",
                     "static int f(const char *, ...) __attribute__((format(printf, 1, 2)));\n",
                     "int f(int a)\n{\n\tg(a);\n}\n", '/* #include "x.c" */\n', "int x = f(1);\n"):
            self.assertEqual(list(prototypes.check_file("src/x.c", text)), [], text)
        self.assertEqual(list(prototypes.check_file("src/x.h", "int f(int);\n")), [])

    def test_locks_that_comments_claim_are_asserted(self):
        body = "int f(int a)\n{\n\tg(a);\n}\n"
        for comment in ("/* Under the lock. */\n", "/* Adds. The lock is held. */\n",
                        "// Adds; under the core lock: quick\n", "/* Adds,\n * with the lock held. */\n"):
            self.assertTrue(list(locks.check({"x.c": comment + body})), comment)
            self.assertFalse(list(locks.check({"x.c": comment + body.replace("g(a)", "HD_HELD(a)")})), comment)
        for comment in ("/* Without the lock. */\n", "/* Its function is only called under the lock, elsewhere */\n",
                        ""):
            self.assertFalse(list(locks.check({"x.c": comment + body})), comment)

    def test_locks_of_prototypes_hold_for_their_definitions(self):
        body = "int f(int a)\n{\n\tg(a);\n}\nint h(int a)\n{\n\tHD_HELD(a);\n}\n"
        for header, expected in (("/* Under the lock. */\nint f(int a);\n", 1),
                                 ("int f(int a); /* the lock is held */\n", 1),
                                 ("/* Under the lock. */\nint h(int a);\nint f(int a);\n", 0),
                                 ("/* x.c: this and that, under the lock. */\nint h(int a);\nint f(int a);\n", 1),
                                 ("/* x.c: this and that, under the lock. */\nint h(int a);\n\nint f(int a);\n", 0)):
            self.assertEqual(len(list(locks.check({"x.h": header, "x.c": body}))), expected, header)


if __name__ == "__main__":
    unittest.main()
