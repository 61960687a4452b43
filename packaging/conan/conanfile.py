# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conan 2 recipe for the repository that contains it: conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class AgoRecipe(ConanFile):
    name = "ago"
    description = "Neural networks as C++ expressions, compiled to fast code for one CPU"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("neural-network", "inference", "header-only", "simd")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def repository(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self.repository, "include", "ago", "version.hpp"))
        self.version = ".".join(re.search(r"major = (\d+), \.minor = (\d+), \.patch = (\d+)", text).groups())

    def export_sources(self):
        for pattern in ("LICENSE", "CMakeLists.txt", "cmake/*", "include/*", "tools/weights.py"):
            copy(self, pattern, self.repository, self.export_sources_folder)

    def requirements(self):
        self.requires("xsimd/[>=8.1]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for kind in ("TESTS", "EXAMPLES", "BENCH", "TOOLS"):
            toolchain.cache_variables[f"AGO_BUILD_{kind}"] = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # find_package(ago) finds ago's own CMake package, which also has ago_embed() and the other functions.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["."]
        self.cpp_info.bindirs = ["bin"]
        self.cpp_info.libdirs = []
