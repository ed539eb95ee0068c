#!/usr/bin/python3
"""What is installed works in other people's projects: CMake's find_package, pkg-config, a Python module."""
import shutil
import tempfile
import time
from pathlib import Path

from tapc import *
from tapc import TAPC

EXAMPLE = ROOT / "examples/embed"


class Package(TapcTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory(prefix="tap-installed-")
        cls.prefix = Path(cls.shared.name) / "installed"
        subprocess.run(["cmake", "--install", str(TAPC.parents[1]), "--prefix", str(cls.prefix)], check=True, capture_output=True)
        cls.installed = cls.prefix / "bin/tapc"

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def call(self, *words, **options):
        result = subprocess.run(words, cwd=options.pop("cwd", self.folder), capture_output=True, text=True, timeout=250, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_a_project_of_cmake(self):
        moved = shutil.copytree(self.prefix, self.folder / "moved")  # what is installed may be moved
        build = self.folder / "build"
        self.call("cmake", "-S", str(EXAMPLE), "-B", str(build), f"-DCMAKE_PREFIX_PATH={moved}")
        self.call("cmake", "--build", str(build))
        self.assertEqual(self.call(str(build / "main")), "2 4 6 8 10 12, together 42\n")

    def test_a_program_is_compiled_again_when_a_module_or_a_plan_changes(self):
        project = self.folder / "a folder"
        project.mkdir()
        (project / "scale.tap").write_text("use more\n" + (EXAMPLE / "scale.tap").read_text().replace("    Y[", "    f = twice(factor)\n    Y[").replace("factor[] *", "f[] *"))
        (project / "more.tap").write_text("use most\nop twice(x: f32[]) -> (y: f32[]) { y = one(x) }\n")
        (project / "most.tap").write_text("op one(x: f32[]) -> (y: f32[]) { y[] = x[] }\n")
        (project / "p.plan").write_text("plan 2\n")
        (project / "main.c").write_text((EXAMPLE / "main.c").read_text())
        (project / "CMakeLists.txt").write_text((EXAMPLE / "CMakeLists.txt").read_text().replace("--dim n=3", '--dim n=3 --plan "${CMAKE_CURRENT_SOURCE_DIR}/p.plan"'))
        for generator in ("Ninja", "Unix Makefiles"):
            build = project / generator
            self.call("cmake", "-S", str(project), "-B", str(build), "-G", generator, f"-DCMAKE_PREFIX_PATH={self.prefix}")
            library = build / "scale.tapestry/libscale.so"
            self.call("cmake", "--build", str(build))
            first = library.stat().st_mtime_ns
            self.call("cmake", "--build", str(build))
            self.assertEqual(library.stat().st_mtime_ns, first, "nothing changed, and it was compiled again")
            for changed in ("most.tap", "more.tap", "p.plan", "scale.tap"):
                time.sleep(0.02)
                (project / changed).touch()
                self.call("cmake", "--build", str(build))
                self.assertGreater(library.stat().st_mtime_ns, first, changed + " changed, and nothing was compiled")
                first = library.stat().st_mtime_ns

    def test_a_program_found_by_its_own_files(self):
        library = self.folder / "there"
        library.mkdir()
        self.call(str(self.installed), "compile", str(EXAMPLE / "scale.tap"), "-o", str(library / "scale.so"), "--dim", "n=3", "--emit=cmake,pc")
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES C)\ninclude(there/scale-config.cmake)\n"
                   f"add_executable(main {EXAMPLE}/main.c)\ntarget_link_libraries(main PRIVATE tapestry::scale)\n")
        self.call("cmake", "-S", ".", "-B", "b")
        self.call("cmake", "--build", "b")
        self.assertEqual(self.call(str(self.folder / "b/main")), "2 4 6 8 10 12, together 42\n")
        flags = self.call("pkg-config", "--cflags", "--libs", "scale", env={**os.environ, "PKG_CONFIG_PATH": str(library)}).split()
        self.call("cc", str(EXAMPLE / "main.c"), *flags, "-o", "by_hand")
        self.assertEqual(self.call("./by_hand"), "2 4 6 8 10 12, together 42\n")
        library.rename(self.folder / "elsewhere")  # who links with it looks for its name, and not for where it was
        for program in ("b/main", "by_hand"):
            moved = self.call(str(self.folder / program), env={"LD_LIBRARY_PATH": str(self.folder / "elsewhere")})
            self.assertEqual(moved, "2 4 6 8 10 12, together 42\n")

    def test_a_python_module(self):
        self.call(str(self.installed), "compile", str(EXAMPLE / "scale.tap"), "-o", "scale.so", "--emit=py")
        shutil.copy(EXAMPLE / "main.py", self.folder)
        self.assertEqual(self.call("/usr/bin/python3", "main.py"), "[[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0]] 16.0\n")

    def test_an_object_with_the_installed_runtime(self):
        """As for a processor that tapc does not link for, here with the one that can run."""
        self.call(str(self.installed), "compile", str(EXAMPLE / "scale.tap"), "-o", "scale.so", "--dim", "n=3", "--emit=obj")
        self.call("cc", str(EXAMPLE / "main.c"), "-I.", "scale.o", "-o", "main", "-pthread")
        self.assertEqual(self.call("./main"), "2 4 6 8 10 12, together 42\n")

    def test_aarch64_under_qemu(self):
        compiler, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        self.assertTrue(compiler and emulator, "scripts/install-deps.sh installs both")
        self.call(str(self.installed), "compile", str(EXAMPLE / "scale.tap"), "-o", "scale.so", "--dim", "n=3", "--emit=obj", "--target=aarch64")
        runtime = self.prefix / "share/tapestry"
        self.call(compiler, "-x", "c++", "-fpermissive", "-w", str(EXAMPLE / "main.c"), "-x", "none", "-I.", "-std=c++20", "-O2", "-fno-exceptions",
                  "-fno-rtti", f"-I{runtime}", str(runtime / "runtime/embedded/executor.cpp"), "scale.o", "-static", "-pthread", "-o", "main")
        self.assertEqual(self.call(emulator, "./main"), "2 4 6 8 10 12, together 42\n")


if __name__ == "__main__":
    unittest.main()
