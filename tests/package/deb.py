#!/usr/bin/env python3
"""The Debian packages that cpack makes in a build folder: tests/package/deb.py BUILD_DIR CPACK VERSION

Together they have what is installed, each its own part, and depend on what the parts need. They are unpacked into one
folder, where the command and a program that is compiled with pkg-config run.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, CPACK, VERSION = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = {"libheddle0": ("/libheddle.so.0", "/libheddle-dense.so.0", "/libheddle-fmm.so.0", "/libheddle-daggen.so.0",
                            "/libheddle-starpu.so.0"),
            "libheddle-report0": ("/libheddle-report.so.0",),
            "libheddle-common": ("/haswell-k40m.yaml",),
            "libheddle-dev": ("/heddle.h", "/heddle/task.h", "/libheddle.so", "/libheddle.a", "/heddle-dense.pc",
                              "/HeddleConfig.cmake", "/examples/01_hello.c", "/docs/heddle.md"),
            "heddle": ("/bin/heddle", "/man1/heddle.1", "/completions/heddle"),
            "python3-heddle": ("/heddle/runtime.py", "/heddle/_ffi.py")}
if os.path.exists(os.path.join(BUILD, "libheddle-sparse.so")):
    PACKAGES["libheddle-sparse0"] = ("/libheddle-sparse.so.0",)
if os.path.exists(os.path.join(BUILD, "libheddle-mpi.so")):
    PACKAGES["libheddle-mpi0"] = ("/libheddle-mpi.so.0",)


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        # as in a release, but uncompressed, which is quicker
        run(CPACK, "-G", "DEB", "-B", cls.scratch, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", cwd=BUILD)
        cls.files = {os.path.basename(path).split("_")[0]: path for path in glob.glob(cls.scratch + "/*.deb")}
        cls.root = os.path.join(cls.scratch, "root")
        for path in cls.files.values():
            run("dpkg-deb", "-x", path, cls.root)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.scratch)

    def contents(self, package):
        """Files and links, each from / on."""
        lines = run("dpkg-deb", "--contents", self.files[package]).splitlines()
        return [line.split()[5][1:] for line in lines if not line.startswith("d")]

    def field(self, package, name):
        return run("dpkg-deb", "--field", self.files[package], name).strip()

    def test_names(self):
        wanted = set(PACKAGES)
        if not os.path.exists(os.path.join(BUILD, "python", "heddle", "_ffi.py")):
            wanted.remove("python3-heddle")
        self.assertEqual(set(self.files), wanted)
        for package in wanted:
            self.assertEqual(self.field(package, "Version"), VERSION)

    def test_each_has_its_part(self):
        owner = {}
        for package in self.files:
            paths = self.contents(package)
            for end in PACKAGES[package]:
                self.assertTrue([path for path in paths if path.endswith(end)], (package, end))
            self.assertTrue([path for path in paths if path.endswith(f"/doc/{package}/copyright")], package)
            for path in paths:
                self.assertNotIn(path, owner, (package, owner.get(path)))
                owner[path] = package

    def test_nothing_is_left_out(self):
        """Each rule that installs a file names a component: of these, cpack has made a package each."""
        with open(os.path.join(BUILD, "cmake_install.cmake"), encoding="utf-8") as f:
            rules = re.split(r"^if\(", f.read(), flags=re.MULTILINE)
        parts = {re.search(r'CMAKE_INSTALL_COMPONENT STREQUAL "(\w+)"', rule)[1] for rule in rules
                 if re.search(r"^\s*file\(INSTALL ", rule, re.MULTILINE) and "CMAKE_INSTALL_COMPONENT STREQUAL" in rule}
        self.assertEqual(len(parts), len(self.files), parts)
        self.assertNotIn("Unspecified", parts)

    def test_dependencies(self):
        same = re.escape(f"(= {VERSION})")
        for package, wanted in (("libheddle0", ("libc6 ", "libhwloc15 ", "liblapacke ", f"libheddle-common {same}")),
                                ("libheddle-report0", ("libcairo2 ", "coinor-libclp1[ ,]", f"libheddle0 {same}")),
                                ("libheddle-dev", (f"libheddle0 {same}",)), ("heddle", ("libcairo2 ",)),
                                ("libheddle-sparse0", ("libcholmod3 ", f"libheddle0 {same}")),
                                ("libheddle-mpi0", (f"libheddle0 {same}",)),
                                ("python3-heddle", ("python3-cffi-backend", "python3-numpy", f"libheddle0 {same}"))):
            if package in self.files:
                depends = self.field(package, "Depends")
                for each in wanted:
                    self.assertRegex(depends + " ", rf"(^|, ){each}", package)

    def test_the_runtime_draws_nothing_itself(self):
        self.assertNotRegex(self.field("libheddle0", "Depends"), "cairo|clp|stdc")
        self.assertEqual(self.field("libheddle0", "Recommends"), "libheddle-report0")

    def test_unpacked_packages_work(self):
        prefix = glob.glob(self.root + "/**/bin/heddle", recursive=True)[0][:-len("/bin/heddle")]
        library = glob.glob(prefix + "/**/libheddle.so", recursive=True)[0][:-len("/libheddle.so")]
        environment = {**os.environ, "PKG_CONFIG_PATH": library + "/pkgconfig", "LD_LIBRARY_PATH": library}
        self.assertIn("haswell-k40m", run(prefix + "/bin/heddle", "platforms"))
        flags = run("pkg-config", "--cflags", "--libs", "heddle-dense", env=environment).split()
        program = os.path.join(self.scratch, "outside")
        run(os.environ.get("CC", "cc"), os.path.join(HERE, "outside_dense.c"), "-o", program, *flags)
        self.assertEqual(run(program, env=environment).strip(), VERSION)


for tool in "dpkg-shlibdeps", "dpkg-deb", "file":
    if not shutil.which(tool):
        print(f"there is no {tool}, so no packages are made (Debian: apt-get install dpkg-dev file)")
        sys.exit(77)
unittest.main(argv=sys.argv[:1])
