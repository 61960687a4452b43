#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every header of ago includes the standard headers for the names that it uses, directly or through another
header of ago. The compiler does not detect missing ones: standard headers are precompiled when it checks ago's headers,
and they include one another arbitrarily.

usage: check_includes.py <include directory>
       check_includes.py --headers          prints all standard headers that ago may use
"""
import pathlib
import re
import sys

NAMES = {
    "algorithm": "adjacent_find all_of any_of clamp copy copy_n count count_if equal fill fill_n find find_if is_sorted "
                 "lower_bound max max_element min min_element minmax mismatch none_of nth_element remove remove_if "
                 "replace reverse rotate shuffle sort stable_sort transform unique upper_bound",
    "array": "array", "atomic": "atomic memory_order_acq_rel memory_order_acquire memory_order_relaxed "
                                "memory_order_release",
    "bit": "bit_cast bit_width countr_zero has_single_bit popcount endian",
    "cctype": "isalnum isalpha isdigit isspace tolower toupper", "charconv": "from_chars to_chars",
    "chrono": "chrono", "cinttypes": "imaxabs",
    "cmath": "abs atan ceil copysign cos erf exp expm1 fabs floor fma isfinite isnan log log10 log1p log2 nearbyint pow "
             "round sin sqrt tanh",
    "compare": "strong_ordering", "concepts": "convertible_to default_initializable derived_from floating_point integral "
                                                    "same_as",
    "csignal": "signal", "cstdarg": "va_list", "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t",
    "cstdint": "int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t",
    "cstdio": "fclose ferror fflush fopen fprintf fputc fputs fread fwrite printf remove rename snprintf vsnprintf",
    "cstdlib": "abort abs atoi exit free getenv malloc strtod strtol strtoul",
    "cstring": "memcmp memcpy memmove memset strcmp strerror strlen", "deque": "deque", "exception": "exception",
    "filesystem": "filesystem", "fstream": "ifstream ofstream", "functional": "function less plus",
    "initializer_list": "initializer_list", "iterator": "back_inserter begin end next prev size", "limits": "numeric_limits",
    "list": "list", "map": "map", "memory": "make_shared make_unique shared_ptr unique_ptr", "mutex": "mutex",
    "new": "align_val_t bad_alloc nothrow", "numbers": "numbers", "numeric": "accumulate iota",
    "optional": "nullopt optional", "ostream": "ostream", "random": "mt19937", "set": "set",
    "span": "dynamic_extent span", "stdexcept": "invalid_argument length_error logic_error runtime_error",
    "string": "erase_if stod stoi string to_string", "string_view": "string_view",
    "system_error": "errc error_code system_error", "thread": "jthread this_thread thread", "tuple": "tie tuple",
    "type_traits": "bool_constant common_type_t conditional_t decay_t enable_if_t extent_v false_type "
                   "integral_constant invoke_result_t is_arithmetic_v is_array_v is_base_of_v is_convertible_v "
                   "is_empty_v is_floating_point_v is_integral_v is_same_v is_trivially_copyable_v remove_cvref_t "
                   "remove_reference_t true_type type_identity underlying_type_t",
    "utility": "as_const declval exchange forward in_range index_sequence integer_sequence make_index_sequence "
               "make_integer_sequence move pair swap to_underlying tuple_element tuple_size", "vector": "erase_if vector",
}
# Headers that include <initializer_list> according to the standard.
LISTS = set("initializer_list deque list map set string unordered_map unordered_set valarray vector".split())
# Other headers that declare a name according to the standard.
ALSO = {
    "tuple_element": "tuple array span", "tuple_size": "tuple array span", "pair": "map", "erase_if": "map set deque list",
    "nullptr_t": "cstdint", "begin": "array vector string span map set", "end": "array vector string span map set",
    "size": "array vector string span map set", "errc": "charconv", "exception": "stdexcept new", "move": "algorithm",
    "swap": "string_view", "size_t": "cstdio cstdlib cstring", "initializer_list": "utility vector",
    "error_code": "filesystem", "less": "map set",
}


def declared_by():
    headers = {}
    for header, names in NAMES.items():
        for name in names.split():
            headers.setdefault(name, set()).add(header)
    for name, others in ALSO.items():
        headers.setdefault(name, set()).update(others.split())
    return headers


def code_of(text):
    """The text without comments and literals."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", " ", text, flags=re.S)


def included(include, header, seen):
    """Standard headers that a header includes, directly or through others of ago; adds all files of ago to `seen`."""
    standard = set()
    for name in re.findall(r"^#include <([^>]+)>", (include / header).read_text(), re.M):
        if not name.startswith("ago/"):
            standard.add(name)
        elif name not in seen:
            seen.add(name)
            standard |= included(include, name, seen)
    return standard


def faults_of(include, header, declared):
    standard = included(include, header, {header})
    code = code_of((include / header).read_text())
    if re.search(r"\bfor \([^;()]* : \{", code) and not standard & LISTS:
        yield f"{header}: a loop over a list in braces, and <initializer_list> not included"
    for name in sorted(set(re.findall(r"\bstd::(?:ranges::)?([a-z_0-9]+)", code))):
        if name == "ranges":
            continue
        if re.fullmatch(r"(is|has|add|remove)_\w+_[vt]", name):
            declared.setdefault(name, {"type_traits"})
        if name not in declared:
            yield f"{header}: std::{name} is in no header that tests/headers/check_includes.py knows"
        elif not standard & declared[name]:
            yield f"{header}: std::{name} is used, and <{'> or <'.join(sorted(declared[name]))}> not included"


def main():
    if sys.argv[1] == "--headers":
        print(";".join(sorted(NAMES)))
        return 0
    include = pathlib.Path(sys.argv[1])
    headers = sorted(str(h.relative_to(include)) for h in (include / "ago").rglob("*.hpp"))
    faults = [f for header in headers for f in faults_of(include, header, declared_by())]
    print(*faults, f"{len(headers)} headers, {len(faults)} faults", sep="\n")
    return 1 if faults or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
