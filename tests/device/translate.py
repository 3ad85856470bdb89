#!/usr/bin/env python3
"""Makes of the PTX in an object that nvcc compiled (with -no-compress) a library that a CPU executes: one C++ function a
kernel, called once a thread, compiled against instructions.hpp.

usage: translate.py OBJECT -o FOLDER/NAME.so [--check | --count] [--compiler CXX]

Beside NAME.so it leaves NAME.ptx, NAME.cpp and NAME.audit: what could make a GPU's bits differ from what the PTX says, .approx
and .ftz instructions, and additions and multiplications without a rounding, which ptxas may fuse. With --check every access of
memory is checked; with --count it is counted which instructions are executed.

What it accepts is what nvcc 13 makes of ordinary CUDA C++, Thrust and CUB (no tensor cores, textures or
asynchronous copies). An instruction that it does not know is an error, never a guess. Registers become locals, labels
and branches stay, memory operations become calls of templates in instructions.hpp, warp operations and barriers calls of the
scheduler in device.cpp.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import sys
from collections import Counter

INT = {"u8": 8, "s8": 8, "b8": 8, "u16": 16, "s16": 16, "b16": 16, "u32": 32, "s32": 32, "b32": 32,
       "u64": 64, "s64": 64, "b64": 64, "b128": 128}
FLOAT = {"f16": 16, "f32": 32, "f64": 64}
WIDTH = {**INT, **FLOAT, "pred": 1}

# What is said of instructions that are executed together; instructions.hpp has the same.
STRAIGHT = ("instructions", "loads", "stores", "atomics", "bytes_loaded", "bytes_stored")


class Unknown(Exception):
    pass


def ctype(t):
    """The C++ type in which an operand of PTX type t is computed."""
    if t in FLOAT:
        return {"f32": "float", "f64": "double"}[t]
    if t == "pred":
        return "bool"
    if t == "b128":
        return "u128"
    return ("int" if t[0] == "s" else "uint") + str(INT[t]) + "_t"


def utype(width):
    return {1: "bool", 8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t", 128: "u128"}[width]


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def ident(name):
    return "v_" + re.sub(r"[^A-Za-z0-9_]", lambda m: "_" if m.group(0) in "%$." else "_x%x_" % ord(m.group(0)), name.lstrip("%"))


SPECIAL = {
    "%tid": "t.tid", "%ntid": "t.ntid", "%ctaid": "t.ctaid", "%nctaid": "t.nctaid",
}
SPECIAL_SCALAR = {
    "%laneid": "(t.lane)", "%warpid": "(t.warp)", "%nwarpid": "(32u)", "%smid": "(0u)", "%nsmid": "(1u)",
    "%gridid": "(0u)", "%lanemask_eq": "(1u << t.lane)", "%lanemask_lt": "((1u << t.lane) - 1u)",
    "%lanemask_le": "((2u << t.lane) - 1u)", "%lanemask_gt": "(~((2u << t.lane) - 1u))",
    "%lanemask_ge": "(~((1u << t.lane) - 1u))", "%clock": "(ptx_clock32())", "%clock64": "(ptx_clock64())",
    "%globaltimer": "(ptx_clock64())", "%dynamic_smem_size": "(t.dynamic_shared)",
    "%total_smem_size": "(t.total_shared)", "%clock_hi": "(0u)", "%aggr_smem_size": "(t.total_shared)",
}


class Function:
    """One .entry or .func."""

    def __init__(self, module, name, entry, returns, params, directives, body, line):
        self.module, self.name, self.entry = module, name, entry
        self.returns, self.params, self.directives = returns, params, directives
        self.body, self.line = body, line
        self.out = []
        self.scopes = []          # dicts name -> (kind, data)
        self.labels = [{}]
        self.label_scopes = []
        self.decls = []
        self.synchronizes = False
        self.waits = False        # has loads that other threads may answer
        self.calls = set()
        self.shared = {}          # own .shared variables: name -> (size, align)
        self.shared_used = set()
        self.counter = 0


class Module:
    def __init__(self, text, tag, count=False):
        self.tag = tag
        self.count = count
        self.straights = []       # of instructions that are executed together: what is in them, for --count
        self.text = strip_comments(text)
        self.target = (re.search(r"\.target\s+([\w, ]+)", self.text) or [None, "?"])[1].strip()
        self.functions = {}
        self.prototypes = set()
        self.globals = {}         # name -> (ctype decl text, size, align, init bytes or None, space)
        self.shared = {}          # module-level shared: name -> (size, align, extern)
        self.audit = Counter()
        self.used_ops = Counter()
        self.parse()

    # -- top level ---------------------------------------------------------------------------------------------
    def parse(self):
        text, pos, n = self.text, 0, len(self.text)
        while True:
            m = re.compile(r"\s*").match(text, pos)
            pos = m.end()
            if pos >= n:
                return
            m = re.compile(r"\.(version|target|address_size|file|loc)[^\n]*").match(text, pos)
            if m:
                pos = m.end()
                continue
            if text[pos] == ";":
                pos += 1
                continue
            m = re.compile(r"\.pragma[^;]*;").match(text, pos)
            if m:
                pos = m.end()
                continue
            m = re.compile(r"\.section[^{]*").match(text, pos)
            if m:
                pos = self.close(m.end()) + 1
                continue
            m = re.compile(r"((?:\.(?:visible|weak|extern|common|attribute\([^)]*\))\s*)*)\.(entry|func)\b").match(text, pos)
            if m:
                pos = self.parse_function(m, pos)
                continue
            m = re.compile(r"((?:\.(?:visible|weak|extern|common)\s*)*)\.(global|const|shared)\b([^;]*);").match(text, pos)
            if m:
                self.parse_variable(m.group(1), m.group(2), m.group(3))
                pos = m.end()
                continue
            m = re.compile(r"\.alias[^;]*;").match(text, pos)
            if m:
                raise Unknown(".alias")
            raise Unknown("top level: " + text[pos:pos + 120])

    def close(self, pos):
        depth = 0
        for i in range(pos, len(self.text)):
            c = self.text[i]
            if c == "{":
                depth += 1
            elif c == "}":
                depth -= 1
                if depth == 0:
                    return i
        raise Unknown("unbalanced braces")

    @staticmethod
    def parse_params(text):
        params = []
        for item in filter(None, (p.strip() for p in re.sub(r"\s+", " ", text).split(","))):
            m = re.match(r"\.(param|reg)\s+(?:\.align (\d+) )?\.(\w+)\s*(?:\.ptr\s*(?:\.(?:global|const|local|shared)\s*)?(?:\.align (\d+)\s*)?)?([\w$%]+)(?:\[(\d*)\])?$", item)
            if not m:
                raise Unknown("parameter " + item)
            space, align, typ, _, name, count = m.groups()
            size = WIDTH[typ] // 8 * (int(count) if count else 1)
            params.append((name, size, int(align) if align else WIDTH[typ] // 8, space))
        return params

    def parse_function(self, m, pos):
        text = self.text
        entry = m.group(2) == "entry"
        p = m.end()
        ws = re.compile(r"\s*")
        p = ws.match(text, p).end()
        returns = []
        if not entry and text[p] == "(":
            q = text.index(")", p)
            returns = self.parse_params(text[p + 1:q])
            p = ws.match(text, q + 1).end()
        nm = re.compile(r"[\w$]+").match(text, p)
        name = nm.group(0)
        p = ws.match(text, nm.end()).end()
        params = []
        if p < len(text) and text[p] == "(":
            depth, q = 0, p
            while True:
                if text[q] == "(":
                    depth += 1
                elif text[q] == ")":
                    depth -= 1
                    if depth == 0:
                        break
                q += 1
            params = self.parse_params(text[p + 1:q])
            p = q + 1
        q = p
        while text[q] not in "{;":
            q += 1
        directives = text[p:q]
        if text[q] == ";":
            self.prototypes.add(name)
            return q + 1
        end = self.close(q)
        line = text.count("\n", 0, pos) + 1
        self.functions[name] = Function(self, name, entry, returns, params, directives, text[q + 1:end], line)
        return end + 1

    def parse_variable(self, linkage, space, rest):
        m = re.match(r"\s*(?:\.attribute\([^)]*\)\s*)?(?:\.align (\d+)\s+)?\.(\w+)\s+([\w$%]+)((?:\[\d*\])*)\s*(?:=\s*(.*))?$", rest.strip(), re.S)
        if not m:
            raise Unknown("variable " + rest)
        align, typ, name, dims, init = m.groups()
        count = 1
        for d in re.findall(r"\[(\d*)\]", dims or ""):
            count *= int(d) if d else 0
        bytes_each = WIDTH[typ] // 8
        size = bytes_each * count
        align = int(align) if align else bytes_each
        if space == "shared":
            self.shared[name] = (size, align, "extern" in linkage or size == 0)
            return
        data = None
        if init:
            init = init.strip()
            values = re.findall(r"[\w$.+-]+(?:\([^)]*\))?", init)
            if dims == "":
                values = values[:1]
            data = b""
            for v in values:
                if not re.match(r"^-?\d|^0[fd]", v):
                    raise Unknown("initial value %s of %s" % (v, name))
                data += self.constant_bytes(v, bytes_each)
            size = max(size, len(data))
            data = data.ljust(size, b"\0")
        self.globals[name] = (size, align, data, space, "extern" in linkage)

    @staticmethod
    def constant_bytes(v, width):
        if v[:2] in ("0f", "0F", "0d", "0D") and len(v) in (10, 18):
            return int(v[2:], 16).to_bytes(width, "little")
        return (int(v.rstrip("U"), 0) & ((1 << (8 * width)) - 1)).to_bytes(width, "little")

    # -- output ------------------------------------------------------------------------------------------------
    def translate(self):
        for f in self.functions.values():
            Translator(self, f).run()
        # What a function does, those do that call it.
        changed = True
        while changed:
            changed = False
            for f in self.functions.values():
                for c in f.calls:
                    g = self.functions.get(c)
                    if not g:
                        continue
                    before = (f.synchronizes, f.waits, len(f.shared_used))
                    f.synchronizes |= g.synchronizes
                    f.waits |= g.waits
                    f.shared_used |= g.shared_used
                    changed |= before != (f.synchronizes, f.waits, len(f.shared_used))
        out = ["// Made by translate.py. Do not edit.", '#include "instructions.hpp"', "", "namespace {", ""]
        for name, (size, align, data, space, ext) in self.globals.items():
            if ext:
                raise Unknown("extern variable " + name)
            init = "{" + ",".join(str(b) for b in data) + "}" if data and any(data) else "{}"
            out.append("alignas(%d) uint8_t %s[%d] = %s;" % (max(align, 1), ident(name), max(size, 1), init))
        # Shared variables: every one at an offset that is the same for all kernels of the module that use it.
        offsets, dynamic = {}, []
        all_shared = dict(self.shared)
        for f in self.functions.values():
            for name, (size, align) in f.shared.items():
                all_shared[f.name + "::" + name] = (size, align, False)
        layouts = {}
        for f in self.functions.values():
            if not f.entry:
                if f.shared_used:
                    raise Unknown("shared memory in a function that is not inlined: " + f.name)
                continue
            offset, layout = 0, {}
            for key in all_shared:
                if key not in f.shared_used:
                    continue
                size, align, ext = all_shared[key]
                if ext:
                    continue
                offset = (offset + align - 1) // align * align
                layout[key] = offset
                offset += size
            static = offset
            for key in f.shared_used:
                if all_shared[key][2]:
                    layout[key] = None
            layouts[f.name] = (layout, static)
        for f in self.functions.values():
            out.append(self.signature(f) + ";")
        out.append("")
        for f in self.functions.values():
            code = "\n".join(f.out)
            if f.entry:
                layout, static = layouts[f.name]
                for key, off in layout.items():
                    code = code.replace("@SHARED(%s)@" % key, str(off) + "u" if off is not None else "t.static_shared")
            out.append(self.signature(f) + " {")
            out.append(code)
            out.append("}\n")
        for f in self.functions.values():
            if f.entry and f.params:
                out.append("const ptx::Param params_of_%s[] = {%s};" % (ident(f.name), ", ".join(
                    "{%d, %d}" % (off, size) for off, size in self.param_layout(f)[0])))
        out.append("const ptx::Kernel kernels[] = {")
        for f in self.functions.values():
            if not f.entry:
                continue
            maxntid = re.search(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", f.directives)
            threads = 1
            if maxntid:
                for g in maxntid.groups():
                    threads *= int(g) if g else 1
            else:
                threads = 1024
            out.append('    {"%s", %s, %s, %d, %d, %d, %d, %s, %s},' % (
                f.name, "F_" + ident(f.name), "params_of_" + ident(f.name) if f.params else "nullptr", len(f.params),
                self.param_layout(f)[1], layouts[f.name][1], threads, "true" if f.synchronizes else "false",
                "true" if f.waits else "false"))
        out.append("    {nullptr, nullptr, nullptr, 0, 0, 0, 0, false, false}};")
        out.append("const ptx::Variable variables[] = {")
        for name, (size, align, data, space, ext) in self.globals.items():
            out.append('    {"%s", %s, %d},' % (name, ident(name), size))
        out.append("    {nullptr, nullptr, 0}};")
        out.append("const ptx::Straight straights[] = {")
        for what in self.straights:
            out.append("    {%s}," % ", ".join(str(what[name]) for name in STRAIGHT))
        out.append("    {}};")
        out.append("}  // namespace\n")
        target = re.search(r"sm_(\d+)", self.target)
        out.append('extern "C" const ptx::Module ptx_module = {"%s", %s, kernels, variables, straights, %d};' %
                   (self.tag, target.group(1) if target else "0", len(self.straights)))
        return "\n".join(out) + "\n"

    @staticmethod
    def param_layout(f):
        rows, offset = [], 0
        for _, size, align, _ in f.params:
            offset = (offset + align - 1) // align * align
            rows.append((offset, size))
            offset += size
        return rows, offset

    @staticmethod
    def signature(f):
        if f.entry:
            return "void F_%s(ptx::Thread& t, const uint8_t* const P)" % ident(f.name)
        args = "".join(", uint8_t* %s" % ident(p[0]) for p in f.returns + f.params)
        return "void F_%s(ptx::Thread& t%s)" % (ident(f.name), args)


def split_operands(text):
    """a, {b, c}, [d+4], (e, f)"""
    result, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "{[(":
            depth += 1
        elif c in "}])":
            depth -= 1
        elif c == "," and depth == 0:
            result.append(text[start:i].strip())
            start = i + 1
    tail = text[start:].strip()
    if tail:
        result.append(tail)
    return result


class Translator:
    def __init__(self, module, function):
        self.m, self.f = module, function
        self.scopes = [{}]
        self.blocks = [0]
        self.block_count = 0
        self.label_of = {}        # (block, name) -> C++ label
        self.block_parents = {0: None}
        self.straight = None      # what is counted of the instructions since the last label or branch

    # -- scanning ----------------------------------------------------------------------------------------------
    def statements(self):
        """(kind, text, line): kind in open, close, label, stmt."""
        s, pos, n = self.f.body, 0, len(self.f.body)
        line = self.f.line + 1
        ws = re.compile(r"\s*")
        label = re.compile(r"([\w$%]+)\s*:(?!:)")
        loc = re.compile(r"\.(loc|file)\b[^\n]*")
        while True:
            m = ws.match(s, pos)
            line += s.count("\n", pos, m.end())
            pos = m.end()
            if pos >= n:
                return
            if s[pos] == "{":
                yield "open", "", line
                pos += 1
                continue
            if s[pos] == "}":
                yield "close", "", line
                pos += 1
                continue
            if s[pos] == ";":
                pos += 1
                continue
            m = loc.match(s, pos)
            if m:
                pos = m.end()
                continue
            m = label.match(s, pos)
            if m:
                yield "label", m.group(1), line
                pos = m.end()
                continue
            end = s.index(";", pos)
            yield "stmt", re.sub(r"\s+", " ", s[pos:end]).strip(), line
            line += s.count("\n", pos, end)
            pos = end + 1

    def find_labels(self):
        stack, count = [0], 0
        parents = {0: None}
        for kind, text, _ in self.statements():
            if kind == "open":
                count += 1
                parents[count] = stack[-1]
                stack.append(count)
            elif kind == "close":
                stack.pop()
            elif kind == "label":
                self.label_of[(stack[-1], text)] = "L_%s_%d" % (ident(text), stack[-1])
        self.block_parents = parents

    def label(self, name):
        block = self.blocks[-1]
        while block is not None:
            if (block, name) in self.label_of:
                return self.label_of[(block, name)]
            block = self.block_parents[block]
        raise Unknown("label " + name)

    def lookup(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        m = self.m
        if name in self.f.shared:
            return ("shared", self.f.name + "::" + name)
        if name in m.shared:
            return ("shared", name)
        if name in m.globals:
            return ("global", name)
        return None

    # -- operands ----------------------------------------------------------------------------------------------
    def literal(self, text, typ):
        if re.match(r"^0[fF][0-9a-fA-F]{8}$", text):
            bits = "0x%su" % text[2:]
            return "as_f32(%s)" % bits if typ == "f32" else "((%s)%s)" % (ctype(typ), bits) if typ in INT else "as_f32(%s)" % bits
        if re.match(r"^0[dD][0-9a-fA-F]{16}$", text):
            bits = "0x%sull" % text[2:]
            return "as_f64(%s)" % bits if typ == "f64" else "((%s)%s)" % (ctype(typ), bits)
        if re.match(r"^-?(0[xX][0-9a-fA-F]+|\d+)U?$", text):
            value = int(text.rstrip("U"), 0)
            if typ == "pred":
                return "true" if value else "false"
            if typ in FLOAT:
                return "((%s)%d)" % (ctype(typ), value)
            width = WIDTH[typ]
            value &= (1 << width) - 1
            if width == 128:
                return "((u128)%dull)" % value
            return "((%s)%dull)" % (ctype(typ), value)
        return None

    def read(self, text, typ):
        """C++ for an operand read as PTX type typ."""
        text = text.strip()
        if text.startswith("!"):
            return "(!%s)" % self.read(text[1:], "pred")
        lit = self.literal(text, typ)
        if lit is not None:
            return lit
        if text.startswith("-") and not re.match(r"^-\d", text):
            return "(-%s)" % self.read(text[1:], typ)
        m = re.match(r"^(%\w+)\.([xyz])$", text)
        if m and m.group(1) in SPECIAL:
            return "((%s)%s[%d])" % (ctype(typ), SPECIAL[m.group(1)], "xyz".index(m.group(2)))
        if text in SPECIAL_SCALAR:
            if self.lookup(text) is None:
                return "((%s)%s)" % (ctype(typ), SPECIAL_SCALAR[text])
        if text == "WARP_SZ":
            return "((%s)32)" % ctype(typ)
        entry = self.lookup(text)
        if entry is None:
            raise Unknown("operand %s" % text)
        kind, data = entry
        if kind == "reg":
            width, name = data
            if typ == "pred":
                return name
            if typ in FLOAT:
                if width != FLOAT[typ]:
                    raise Unknown("%s read as %s" % (text, typ))
                return "as_%s(%s)" % (typ, name)
            return "((%s)%s)" % (ctype(typ), name)
        if kind == "shared":
            self.f.shared_used.add(data)
            return "((%s)@SHARED(%s)@)" % (ctype(typ), data)
        if kind in ("local", "param", "global"):
            return "((%s)(uintptr_t)%s)" % (ctype(typ), ident(data) if kind != "param" else data)
        raise Unknown("operand %s of kind %s" % (text, kind))

    def write(self, text, typ, expr):
        """C++ statement that sets register text to a value of PTX type typ."""
        text = text.strip()
        if text == "_":
            return "(void)(%s);" % expr
        entry = self.lookup(text)
        if entry is None or entry[0] != "reg":
            raise Unknown("destination %s" % text)
        width, name = entry[1]
        if typ == "pred" or width == 1:
            return "%s = (%s);" % (name, expr)
        if typ in FLOAT:
            if width != FLOAT[typ]:
                raise Unknown("%s written as %s" % (text, typ))
            return "%s = bits_of((%s)(%s));" % (name, ctype(typ), expr)
        # Sign or zero extension where the register is wider.
        if typ[0] == "s" and WIDTH[typ] < width:
            return "%s = (%s)(int%d_t)(%s)(%s);" % (name, utype(width), width, ctype(typ), expr)
        return "%s = (%s)(%s)(%s);" % (name, utype(width), utype(WIDTH[typ]), expr)

    def address(self, text, space):
        """C++ for the host address that [a+imm] of a state space names."""
        m = re.match(r"^\[\s*([\w$%.]+)\s*(?:\+\s*(-?\w+)|(-\s*\w+))?\s*\]$", text)
        if not m:
            raise Unknown("address " + text)
        base = m.group(1)
        offset = int((m.group(2) or m.group(3) or "0").replace(" ", ""), 0)
        entry = self.lookup(base)
        plus = " + (%dll)" % offset if offset else ""
        if entry is None:
            if re.match(r"^\d", base):
                return "((uintptr_t)%s%s)" % (base, plus)
            raise Unknown("address " + text)
        kind, data = entry
        if kind == "reg":
            width, name = data
            if space == "shared":
                return "((uintptr_t)t.shared + (uint32_t)(%s%s))" % (name, plus)
            if width != 64:
                raise Unknown("address of %d bits" % width)
            return "((uintptr_t)(%s%s))" % (name, plus)
        if kind == "shared":
            self.f.shared_used.add(data)
            return "((uintptr_t)t.shared + @SHARED(%s)@%s)" % (data, plus)
        if kind == "param":
            return "((uintptr_t)%s%s)" % (data, plus)
        return "((uintptr_t)%s%s)" % (ident(data), plus)

    # -- running -----------------------------------------------------------------------------------------------
    def run(self):
        f = self.f
        if f.entry:
            rows, _ = Module.param_layout(f)
            for (name, size, align, space), (offset, _) in zip(f.params, rows):
                self.scopes[0][name] = ("param", "(P + %d)" % offset)
        else:
            for name, size, align, space in f.returns + f.params:
                if space == "reg":
                    raise Unknown("register parameters")
                self.scopes[0][name] = ("param", ident(name))
        self.find_labels()
        f.out.append("    bool cc = false; (void)cc; (void)t;")
        if f.entry:
            f.out.append("    (void)P;")
        for kind, text, line in self.statements():
            try:
                if kind == "open":
                    self.block_count += 1
                    self.blocks.append(self.block_count)
                    self.scopes.append({})
                    f.out.append("    {")
                elif kind == "close":
                    self.blocks.pop()
                    self.scopes.pop()
                    f.out.append("    }")
                elif kind == "label":
                    f.out.append("  %s:;" % self.label(text))
                    self.straight = None
                else:
                    self.statement(text, line)
            except Unknown as e:
                raise Unknown("%s: line %d: %s: %s" % (f.name[:80], line, text, e))
            except (KeyError, ValueError, IndexError) as e:
                raise Unknown("%s: line %d: %s: %r" % (f.name[:80], line, text, e))

    def declare(self, text):
        m = re.match(r"^\.(reg|local|shared|param)\s+(?:\.align (\d+)\s+)?\.(\w+)\s+(.*)$", text)
        if not m:
            raise Unknown("declaration")
        space, align, typ, names = m.groups()
        for item in split_operands(names):
            r = re.match(r"^([\w$%]+)<(\d+)>$", item)
            if r:
                base, count = r.group(1), int(r.group(2))
                width = WIDTH[typ]
                chunk = []
                for i in range(count):
                    name = "%s%d" % (base, i)
                    var = ident(name) if len(self.scopes) == 1 else "%s_s%d" % (ident(name), self.blocks[-1])
                    self.scopes[-1][name] = ("reg", (width, var))
                    chunk.append(var)
                for i in range(0, len(chunk), 20):
                    self.f.out.append("    [[maybe_unused]] %s %s;" % (utype(width), ", ".join(chunk[i:i + 20])))
                continue
            r = re.match(r"^([\w$%]+)(?:\[(\d+)\])?$", item)
            if not r:
                raise Unknown("declaration of " + item)
            name, count = r.groups()
            if space == "reg":
                width = WIDTH[typ]
                var = ident(name) if len(self.scopes) == 1 else "%s_s%d" % (ident(name), self.blocks[-1])
                self.scopes[-1][name] = ("reg", (width, var))
                self.f.out.append("    [[maybe_unused]] %s %s;" % (utype(width), var))
                continue
            size = WIDTH[typ] // 8 * (int(count) if count else 1)
            bound = int(align) if align else WIDTH[typ] // 8
            if space == "shared":
                self.f.shared[name] = (size, bound)
                continue
            var = name if len(self.scopes) == 1 else "%s_s%d" % (name, self.blocks[-1])
            self.scopes[-1][name] = ("local", var) if space == "local" else ("param", ident(var))
            self.f.out.append("    alignas(%d) [[maybe_unused]] uint8_t %s[%d];" % (max(bound, 8), ident(var), size))

    def statement(self, text, line):
        f = self.f
        if text.startswith("."):
            if text.startswith(".pragma"):
                return
            m = re.match(r"^\.branchtargets\s+(.*)$", text)
            if m:
                # Belongs to the label before it.
                last = f.out.pop().strip()
                raise Unknown(".branchtargets behind " + last)
            self.declare(text)
            return
        m = re.match(r"^@(!?)([\w$%]+)\s+(.*)$", text)
        guard = ""
        if m:
            guard = "if (%s%s) " % (m.group(1), self.read(m.group(2), "pred"))
            text = m.group(3)
        m = re.match(r"^([\w.:]+)\s*(.*)$", text)
        opcode, rest = m.group(1), m.group(2)
        parts = opcode.split(".")
        # Names such as .L2::128B hold two colons.
        op, mods = parts[0], parts[1:]
        self.m.used_ops[op] += 1
        if self.m.count:
            self.counted(op, mods)
        code = self.instruction(op, mods, rest, line, opcode)
        if code is None:
            return
        if guard:
            f.out.append("    %s{ %s }" % (guard, code))
        else:
            f.out.append("    " + code)

    def counted(self, op, mods):
        if self.straight is None:
            self.straight = Counter()
            self.f.out.append("    ++t.counts[%d];" % len(self.m.straights))
            self.m.straights.append(self.straight)
        self.straight["instructions"] += 1
        space, _, width = self.memory(mods)
        if space in ("generic", "global") and op in ("ld", "st"):
            width *= WIDTH[self.type_of(mods)] // 8
            self.straight["loads" if op == "ld" else "stores"] += 1
            self.straight["bytes_loaded" if op == "ld" else "bytes_stored"] += width
        elif op in ("atom", "red"):
            self.straight["atomics"] += 1
        if op in ("bra", "ret", "exit"):
            self.straight = None

    def instruction(self, op, mods, rest, line, opcode):
        ops = split_operands(rest)
        handler = getattr(self, "op_" + op, None)
        if handler is None:
            raise Unknown("opcode " + op)
        self.line = line
        if "approx" in mods or "ftz" in mods or "full" in mods:
            self.m.audit["%s in %s" % (opcode, f_short(self.f.name))] += 1
        return handler(mods, ops)

    @staticmethod
    def type_of(mods):
        for m in reversed(mods):
            if m in WIDTH:
                return m
        raise Unknown("no type in " + ".".join(mods))

    # -- moves -------------------------------------------------------------------------------------------------
    def op_mov(self, mods, ops):
        typ = self.type_of(mods)
        d, a = ops
        if d.startswith("{"):
            names = [x.strip() for x in d[1:-1].split(",")]
            width = WIDTH[typ] // len(names)
            return "{ const %s whole = %s; %s }" % (utype(WIDTH[typ]), self.read(a, "b%d" % WIDTH[typ]), " ".join(
                self.write(x, "b%d" % width, "(%s)(whole >> %d)" % (utype(width), i * width))
                for i, x in enumerate(names) if x != "_"))
        if a.startswith("{"):
            names = [x.strip() for x in a[1:-1].split(",")]
            width = WIDTH[typ] // len(names)
            whole = utype(WIDTH[typ])
            return self.write(d, "b%d" % WIDTH[typ], " | ".join(
                "((%s)%s << %d)" % (whole, self.read(x, "b%d" % width), i * width) for i, x in enumerate(names)))
        if typ == "pred":
            return self.write(d, "pred", self.read(a, "pred"))
        # Bits are bits: floats are not looked at.
        bits = "b%d" % WIDTH[typ]
        return self.write(d, bits, self.read(a, bits))

    def op_cvta(self, mods, ops):
        to = "to" in mods
        space = [m for m in mods if m in ("global", "shared", "local", "const", "param") or m.startswith("shared::")]
        if space and space[0].startswith("shared"):
            a = self.read(ops[1], "u64") if not self.is_narrow(ops[1]) else self.read(ops[1], "u32")
            if to:
                return self.write(ops[0], "u64", "%s - (uint64_t)t.shared" % a)
            return self.write(ops[0], "u64", "(uint64_t)t.shared + (uint32_t)%s" % a)
        return self.write(ops[0], "u64", self.read(ops[1], "u64"))

    def is_narrow(self, text):
        e = self.lookup(text)
        return e is not None and e[0] == "reg" and e[1][0] == 32

    def op_mapa(self, mods, ops):
        # Of generic addresses alone: a place of shared memory as another block of the cluster has it.
        if mods != ["u64"]:
            raise Unknown("mapa of addresses that are not generic")
        return self.write(ops[0], "u64", "ptx::in_block(t, %s, %s, %d)" % (self.read(ops[1], "u64"), self.read(ops[2], "u32"), self.line))

    # -- memory ------------------------------------------------------------------------------------------------
    SPACES = ("global", "shared", "local", "const", "param")

    def memory(self, mods):
        space, strong, vec = "generic", False, 1
        for m in mods:
            base = m.split("::")[0]
            if base in self.SPACES:
                space = base
            elif m in ("volatile", "relaxed", "acquire", "release", "acq_rel"):
                strong = True
            elif m in ("v2", "v4", "v8"):
                vec = int(m[1:])
        return space, strong, vec

    def op_ld(self, mods, ops):
        space, strong, vec = self.memory(mods)
        typ = self.type_of(mods)
        if strong:
            self.f.waits = True
        address = self.address(ops[1].strip(), space)
        what = "param" if space == "param" else "shared" if space == "shared" else "local" if space == "local" else "global"
        raw = "b%d" % WIDTH[typ] if typ in FLOAT else typ
        cpp = ctype(raw)
        if vec == 1:
            load = self.write(ops[0], raw, "load_%s<%s, %s>(t, %s, %d)" % (what, cpp, "true" if strong else "false", address, self.line))
            if "acquire" in mods:  # the address may be in the register that is written
                load = "{ const uintptr_t from = (uintptr_t)%s; %s ptx::acquire(t, from); }" % (address, load)
            return load
        names = [x.strip() for x in ops[0][1:-1].split(",")]
        parts = ["const uintptr_t at = (uintptr_t)%s;" % address, "aligned<%d>(t, at, %d);" % (vec * WIDTH[typ] // 8, self.line)]
        # Into temporaries first: the address may be in a register that is written.
        for i, x in enumerate(names):
            parts.append("const %s e%d = load_%s<%s, %s>(t, at + %d, %d);" % (cpp, i, what, cpp, "true" if strong else "false", i * WIDTH[typ] // 8, self.line))
        for i, x in enumerate(names):
            if x != "_":
                parts.append(self.write(x, raw, "e%d" % i))
        return "{ " + " ".join(parts) + " }"

    def op_ldu(self, mods, ops):
        return self.op_ld(mods, ops)

    def op_st(self, mods, ops):
        space, strong, vec = self.memory(mods)
        typ = self.type_of(mods)
        raw = "b%d" % WIDTH[typ] if typ in FLOAT else typ
        cpp = ctype(raw)
        address = self.address(ops[0].strip(), space)
        what = "param" if space == "param" else "shared" if space == "shared" else "local" if space == "local" else "global"
        flag = "true" if strong else "false"
        if vec == 1:
            store = "store_%s<%s, %s>(t, %s, %s, %d);" % (what, cpp, flag, address, self.read(ops[1], raw), self.line)
            return "ptx::release(t, (uintptr_t)%s, true); %s" % (address, store) if "release" in mods else store
        names = [x.strip() for x in ops[1][1:-1].split(",")]
        parts = ["const uintptr_t at = (uintptr_t)%s;" % address, "aligned<%d>(t, at, %d);" % (vec * WIDTH[typ] // 8, self.line)]
        for i, x in enumerate(names):
            parts.append("store_%s<%s, %s>(t, at + %d, %s, %d);" % (what, cpp, flag, i * WIDTH[typ] // 8, self.read(x, raw), self.line))
        return "{ " + " ".join(parts) + " }"

    def op_atom(self, mods, ops, reduce=False):
        space, _, vec = self.memory(mods)
        if vec != 1:
            raise Unknown("vector atomics")
        typ = self.type_of(mods)
        self.f.waits = True
        known = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
        kind = [m for m in mods if m in known]
        if len(kind) != 1:
            raise Unknown("atomic")
        kind = kind[0]
        d = None if reduce else ops[0]
        rest = ops if reduce else ops[1:]
        address = self.address(rest[0].strip(), space)
        values = ", ".join(self.read(x, typ) for x in rest[1:])
        what = "shared" if space == "shared" else "global"
        call = "atomic_%s<%s, ptx::Space::k%s>(t, (uintptr_t)%s, %d, %s)" % (kind, ctype(typ), what.capitalize(), address, self.line, values)
        code = call + ";" if d is None else self.write(d, typ, call)
        before = "ptx::release(t, place, false); " if "release" in mods or "acq_rel" in mods else ""
        behind = " ptx::acquire(t, place);" if "acquire" in mods or "acq_rel" in mods else ""
        if before or behind:
            code = "{ const uintptr_t place = (uintptr_t)%s; %s%s%s }" % (address, before, code, behind)
        return code

    def op_red(self, mods, ops):
        if "async" in mods:
            raise Unknown("red.async")
        return self.op_atom(mods, ops, reduce=True)

    def op_prefetch(self, mods, ops):
        return ";"

    op_prefetchu = op_prefetch
    op_discard = op_prefetch
    op_applypriority = op_prefetch

    def op_membar(self, mods, ops):
        return "ptx::fence(t);"

    op_fence = op_membar

    def op_isspacep(self, mods, ops):
        a = self.read(ops[1], "u64")
        kind = mods[0].split("::")[0]
        return self.write(ops[0], "pred", "ptx::is_space(t, ptx::Space::k%s, %s)" % (kind.capitalize(), a))

    # -- integers and floats -----------------------------------------------------------------------------------
    def rounding(self, mods, typ, op):
        """Whether the instruction rounds to nearest, as C++ does; audits what ptxas may fuse."""
        if typ not in FLOAT:
            return
        for m in ("rz", "rm", "rp", "rna", "rs"):
            if m in mods:
                raise Unknown("rounding ." + m)
        if op in ("add", "sub", "mul") and "rn" not in mods:
            self.m.audit["%s.%s without a rounding (ptxas may fuse it) in %s" % (op, typ, f_short(self.f.name))] += 1
        if "sat" in mods:
            raise Unknown(".sat")

    def binary(self, mods, ops, op, sign):
        typ = self.type_of(mods)
        self.rounding(mods, typ, op)
        if typ in FLOAT:
            return self.write(ops[0], typ, "result(%s %s %s)" % (self.read(ops[1], typ), sign, self.read(ops[2], typ)))
        if "sat" in mods:
            return self.write(ops[0], typ, "saturated((int64_t)%s %s (int64_t)%s)" % (self.read(ops[1], "s32"), sign, self.read(ops[2], "s32")))
        u = "u%d" % WIDTH[typ]
        return self.write(ops[0], typ, "(%s)(%s %s %s)" % (ctype(u), self.read(ops[1], u), sign, self.read(ops[2], u)))

    def carry(self, mods, ops, sign, take):
        typ = "u%d" % WIDTH[self.type_of(mods)]
        wide = "u128" if typ == "u64" else "uint64_t"
        expr = "(%s)%s %s (%s)%s" % (wide, self.read(ops[1], typ), sign, wide, self.read(ops[2], typ))
        if take:
            expr += " %s (%s)cc" % (sign, wide)
        set_cc = "cc = (bool)((wide_ >> %d) & 1);" % WIDTH[typ] if "cc" in mods else ""
        return "{ const %s wide_ = %s; %s %s }" % (wide, expr, set_cc, self.write(ops[0], typ, "(%s)wide_" % ctype(typ)))

    def op_add(self, mods, ops):
        if "cc" in mods:
            return self.carry(mods, ops, "+", False)
        return self.binary(mods, ops, "add", "+")

    def op_sub(self, mods, ops):
        if "cc" in mods:
            return self.carry(mods, ops, "-", False)
        return self.binary(mods, ops, "sub", "-")

    def op_addc(self, mods, ops):
        return self.carry(mods, ops, "+", True)

    def op_subc(self, mods, ops):
        return self.carry(mods, ops, "-", True)

    def product(self, mods, a, b, typ):
        """(PTX type of the result, C++)"""
        width = WIDTH[typ]
        signed = typ[0] == "s"
        if "wide" in mods:
            wide = ("s" if signed else "u") + str(2 * width)
            return wide, "((%s)%s * (%s)%s)" % (ctype(wide), self.read(a, typ), ctype(wide), self.read(b, typ))
        if "hi" in mods:
            return typ, "mul_hi(%s, %s)" % (self.read(a, typ), self.read(b, typ))
        u = "u%d" % width
        return typ, "(%s)((uint64_t)%s * (uint64_t)%s)" % (ctype(u), self.read(a, u), self.read(b, u))

    def op_mul(self, mods, ops):
        typ = self.type_of(mods)
        if typ in FLOAT:
            return self.binary(mods, ops, "mul", "*")
        result, expr = self.product(mods, ops[1], ops[2], typ)
        return self.write(ops[0], result, expr)

    def op_mul24(self, mods, ops):
        raise Unknown("mul24")

    def op_mad(self, mods, ops):
        typ = self.type_of(mods)
        if typ in FLOAT:
            return self.op_fma(mods, ops)
        result, expr = self.product(mods, ops[1], ops[2], typ)
        u = "u%d" % WIDTH[result]
        if "cc" in mods:
            wide = "u128" if u == "u64" else "uint64_t"
            return "{ const %s wide_ = (%s)(%s)%s + (%s)%s; cc = (bool)((wide_ >> %d) & 1); %s }" % (
                wide, wide, ctype(u), expr, wide, self.read(ops[3], u), WIDTH[u], self.write(ops[0], u, "(%s)wide_" % ctype(u)))
        return self.write(ops[0], result, "(%s)((%s)%s + %s)" % (ctype(u), ctype(u), expr, self.read(ops[3], u)))

    def op_madc(self, mods, ops):
        typ = self.type_of(mods)
        result, expr = self.product(mods, ops[1], ops[2], typ)
        u = "u%d" % WIDTH[result]
        wide = "u128" if u == "u64" else "uint64_t"
        set_cc = "cc = (bool)((wide_ >> %d) & 1);" % WIDTH[u] if "cc" in mods else ""
        return "{ const %s wide_ = (%s)(%s)%s + (%s)%s + (%s)cc; %s %s }" % (
            wide, wide, ctype(u), expr, wide, self.read(ops[3], u), wide, set_cc, self.write(ops[0], u, "(%s)wide_" % ctype(u)))

    def op_fma(self, mods, ops):
        typ = self.type_of(mods)
        self.rounding(mods, typ, "fma")
        return self.write(ops[0], typ, "result(fused(%s, %s, %s))" % tuple(self.read(x, typ) for x in ops[1:4]))

    def op_div(self, mods, ops):
        typ = self.type_of(mods)
        if typ in FLOAT:
            if "rn" not in mods:
                raise Unknown("division that is not rounded to nearest")
            return self.write(ops[0], typ, "result(%s / %s)" % (self.read(ops[1], typ), self.read(ops[2], typ)))
        return self.write(ops[0], typ, "divide(t, %s, %s, %d)" % (self.read(ops[1], typ), self.read(ops[2], typ), self.line))

    def op_rem(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "remainder(t, %s, %s, %d)" % (self.read(ops[1], typ), self.read(ops[2], typ), self.line))

    def op_sqrt(self, mods, ops):
        typ = self.type_of(mods)
        if "rn" not in mods:
            raise Unknown("root that is not rounded to nearest")
        return self.write(ops[0], typ, "result(root(%s))" % self.read(ops[1], typ))

    def op_rcp(self, mods, ops):
        typ = self.type_of(mods)
        if "rn" in mods:
            return self.write(ops[0], typ, "result((%s)1 / %s)" % (ctype(typ), self.read(ops[1], typ)))
        if "approx" in mods:
            return self.write(ops[0], typ, "ptx::approximate(t, %d, (%s)1 / %s)" % (self.line, ctype(typ), self.read(ops[1], typ)))
        raise Unknown("rcp")

    def approximate(self, function, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "ptx::approximate(t, %d, (%s)%s(%s))" % (self.line, ctype(typ), function, self.read(ops[1], typ)))

    def op_rsqrt(self, mods, ops):
        return self.approximate("1 / std::sqrt", mods, ops)

    def op_ex2(self, mods, ops):
        return self.approximate("std::exp2", mods, ops)

    def op_lg2(self, mods, ops):
        return self.approximate("std::log2", mods, ops)

    def op_sin(self, mods, ops):
        return self.approximate("std::sin", mods, ops)

    def op_cos(self, mods, ops):
        return self.approximate("std::cos", mods, ops)

    def op_tanh(self, mods, ops):
        return self.approximate("std::tanh", mods, ops)

    def op_abs(self, mods, ops):
        typ = self.type_of(mods)
        if typ in FLOAT:
            return self.write(ops[0], typ, "std::fabs(%s)" % self.read(ops[1], typ))
        return self.write(ops[0], typ, "absolute(%s)" % self.read(ops[1], typ))

    def op_neg(self, mods, ops):
        typ = self.type_of(mods)
        if typ in FLOAT:
            return self.write(ops[0], typ, "-%s" % self.read(ops[1], typ))
        u = "u%d" % WIDTH[typ]
        return self.write(ops[0], typ, "(%s)(0 - %s)" % (ctype(u), self.read(ops[1], u)))

    def op_copysign(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "std::copysign(%s, %s)" % (self.read(ops[2], typ), self.read(ops[1], typ)))

    def op_testp(self, mods, ops):
        typ = self.type_of(mods)
        tests = {"finite": "std::isfinite(%s)", "infinite": "std::isinf(%s)", "number": "!std::isnan(%s)",
                 "notanumber": "std::isnan(%s)", "normal": "std::isnormal(%s)",
                 "subnormal": "(std::fpclassify(%s) == FP_SUBNORMAL)"}
        return self.write(ops[0], "pred", tests[mods[0]] % self.read(ops[1], typ))

    def extreme(self, mods, ops, which):
        typ = self.type_of(mods)
        a, b = self.read(ops[1], typ), self.read(ops[2], typ)
        if typ in FLOAT:
            name = which + ("_nan" if "NaN" in mods else "")
            value = "%s_of(%s, %s)" % (name, a, b)
            if len(ops) == 4:
                value = "%s_of(%s, %s)" % (name, value, self.read(ops[3], typ))
            return self.write(ops[0], typ, value)
        if len(ops) != 3 or "relu" in mods:
            raise Unknown("min/max")
        return self.write(ops[0], typ, "%s_int(%s, %s)" % (which, a, b))

    def op_min(self, mods, ops):
        return self.extreme(mods, ops, "min")

    def op_max(self, mods, ops):
        return self.extreme(mods, ops, "max")

    # -- logic and shifts --------------------------------------------------------------------------------------
    def logic(self, mods, ops, sign):
        typ = self.type_of(mods)
        a, b = self.read(ops[1], typ), self.read(ops[2], typ)
        return self.write(ops[0], typ, "%s %s %s" % (a, {"&": "&&", "|": "||", "^": "!="}[sign] if typ == "pred" else sign, b))

    def op_and(self, mods, ops):
        return self.logic(mods, ops, "&")

    def op_or(self, mods, ops):
        return self.logic(mods, ops, "|")

    def op_xor(self, mods, ops):
        return self.logic(mods, ops, "^")

    def op_not(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, ("!%s" if typ == "pred" else "~%s") % self.read(ops[1], typ))

    def op_cnot(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "%s == 0 ? 1 : 0" % self.read(ops[1], typ))

    def op_lop3(self, mods, ops):
        if "b32" not in mods or len(ops) != 5:
            raise Unknown("lop3")
        return self.write(ops[0], "b32", "lop3<%d>(%s, %s, %s)" % (int(ops[4], 0), self.read(ops[1], "b32"), self.read(ops[2], "b32"), self.read(ops[3], "b32")))

    def op_shl(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "shift_left(%s, %s)" % (self.read(ops[1], "u%d" % WIDTH[typ]), self.read(ops[2], "u32")))

    def op_shr(self, mods, ops):
        typ = self.type_of(mods)
        read = typ if typ[0] == "s" else "u%d" % WIDTH[typ]
        return self.write(ops[0], typ, "shift_right(%s, %s)" % (self.read(ops[1], read), self.read(ops[2], "u32")))

    def op_shf(self, mods, ops):
        return self.write(ops[0], "b32", "funnel_%s<%s>(%s, %s, %s)" % (
            "left" if "l" in mods else "right", "true" if "wrap" in mods else "false",
            self.read(ops[1], "u32"), self.read(ops[2], "u32"), self.read(ops[3], "u32")))

    def op_prmt(self, mods, ops):
        if mods != ["b32"]:
            raise Unknown("prmt mode")
        return self.write(ops[0], "b32", "permute(%s, %s, %s)" % tuple(self.read(x, "u32") for x in ops[1:4]))

    def op_bfe(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], typ, "extract(%s, %s, %s)" % (self.read(ops[1], typ), self.read(ops[2], "u32"), self.read(ops[3], "u32")))

    def op_bfi(self, mods, ops):
        typ = "u%d" % WIDTH[self.type_of(mods)]
        return self.write(ops[0], typ, "insert(%s, %s, %s, %s)" % (self.read(ops[1], typ), self.read(ops[2], typ), self.read(ops[3], "u32"), self.read(ops[4], "u32")))

    def op_bmsk(self, mods, ops):
        return self.write(ops[0], "b32", "bit_mask<%s>(%s, %s)" % ("true" if "wrap" in mods else "false", self.read(ops[1], "u32"), self.read(ops[2], "u32")))

    def op_bfind(self, mods, ops):
        typ = self.type_of(mods)
        return self.write(ops[0], "u32", "find_high<%s>(%s)" % ("true" if "shiftamt" in mods else "false", self.read(ops[1], typ)))

    def op_brev(self, mods, ops):
        typ = "u%d" % WIDTH[self.type_of(mods)]
        return self.write(ops[0], typ, "reverse(%s)" % self.read(ops[1], typ))

    def op_popc(self, mods, ops):
        typ = "u%d" % WIDTH[self.type_of(mods)]
        return self.write(ops[0], "u32", "(uint32_t)__builtin_popcountll((uint64_t)%s)" % self.read(ops[1], typ))

    def op_clz(self, mods, ops):
        typ = "u%d" % WIDTH[self.type_of(mods)]
        return self.write(ops[0], "u32", "leading_zeros(%s)" % self.read(ops[1], typ))

    def op_fns(self, mods, ops):
        raise Unknown("fns")

    # -- comparing ---------------------------------------------------------------------------------------------
    def compare(self, cmp, typ, a, b):
        a, b = self.read(a, typ), self.read(b, typ)
        plain = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
        if typ in FLOAT:
            if cmp == "ne":  # ordered
                return "(%s < %s || %s > %s)" % (a, b, a, b)
            if cmp in plain:
                return "(%s %s %s)" % (a, plain[cmp], b)
            if cmp == "num":
                return "(!std::isnan(%s) && !std::isnan(%s))" % (a, b)
            if cmp == "nan":
                return "(std::isnan(%s) || std::isnan(%s))" % (a, b)
            inverse = {"equ": "(%s < %s || %s > %s)", "neu": "(%s == %s)", "ltu": "(%s >= %s)", "leu": "(%s > %s)",
                       "gtu": "(%s <= %s)", "geu": "(%s < %s)"}[cmp]
            return "(!%s)" % (inverse % ((a, b, a, b) if cmp == "equ" else (a, b)))
        return "(%s %s %s)" % (a, plain[cmp], b)

    COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")

    def op_setp(self, mods, ops):
        cmp = [m for m in mods if m in self.COMPARISONS][0]
        boolean = [m for m in mods if m in ("and", "or", "xor")]
        typ = self.type_of(mods)
        value = self.compare(cmp, typ, ops[1], ops[2])
        targets = ops[0].split("|")
        join = {"and": "%s && %s", "or": "%s || %s", "xor": "%s != %s"}
        if boolean:
            c = self.read(ops[3], "pred")
            first = join[boolean[0]] % (value, c)
            second = join[boolean[0]] % ("(!%s)" % value, c)
        else:
            first, second = value, "(!%s)" % value
        if len(targets) == 1:
            return self.write(targets[0], "pred", first)
        return "{ const bool p_ = %s, q_ = %s; %s %s }" % (first, second, self.write(targets[0], "pred", "p_"), self.write(targets[1], "pred", "q_"))

    def op_set(self, mods, ops):
        cmp = [m for m in mods if m in self.COMPARISONS][0]
        types = [m for m in mods if m in WIDTH]
        value = self.compare(cmp, types[1], ops[1], ops[2])
        if types[0] == "f32":
            return self.write(ops[0], "f32", "%s ? 1.0f : 0.0f" % value)
        return self.write(ops[0], types[0], "%s ? 0xffffffffu : 0u" % value)

    def op_selp(self, mods, ops):
        typ = self.type_of(mods)
        bits = "b%d" % WIDTH[typ]
        return self.write(ops[0], bits, "%s ? %s : %s" % (self.read(ops[3], "pred"), self.read(ops[1], bits), self.read(ops[2], bits)))

    def op_slct(self, mods, ops):
        types = [m for m in mods if m in WIDTH]
        bits = "b%d" % WIDTH[types[0]]
        return self.write(ops[0], bits, "%s >= 0 ? %s : %s" % (self.read(ops[3], types[1]), self.read(ops[1], bits), self.read(ops[2], bits)))

    # -- conversion --------------------------------------------------------------------------------------------
    def op_cvt(self, mods, ops):
        types = [m for m in mods if m in WIDTH]
        if len(types) != 2:
            raise Unknown("cvt")
        to, frm = types
        a = self.read(ops[1], frm)
        roundings = [m for m in mods if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")]
        r = roundings[0] if roundings else None
        sat = "sat" in mods
        if to in INT and frm in INT:
            if sat:
                return self.write(ops[0], to, "clamp_int<%s>(%s)" % (ctype(to), a))
            return self.write(ops[0], to, "(%s)%s" % (ctype(to), a))
        if to in FLOAT and frm in INT:
            if r != "rn" or sat:
                raise Unknown("cvt rounding")
            return self.write(ops[0], to, "(%s)%s" % (ctype(to), a))
        whole = {"rni": "std::nearbyint(%s)", "rzi": "std::trunc(%s)", "rmi": "std::floor(%s)", "rpi": "std::ceil(%s)"}
        if to in INT:
            if r not in whole:
                raise Unknown("cvt rounding")
            return self.write(ops[0], to, "to_int<%s>(%s)" % (ctype(to), whole[r] % a))
        if sat:
            raise Unknown("cvt.sat")
        if to == frm:
            return self.write(ops[0], to, "result(%s)" % (whole[r] % a if r else a))
        if to == "f64":
            return self.write(ops[0], to, "(double)%s" % a)
        if r == "rn":
            return self.write(ops[0], to, "result((float)%s)" % a)
        if r in ("rz", "rm", "rp"):
            return self.write(ops[0], to, "narrow_%s(%s)" % (r, a))
        raise Unknown("cvt")

    # -- control -----------------------------------------------------------------------------------------------
    def op_bra(self, mods, ops):
        return "goto %s;" % self.label(ops[0])

    def op_brx(self, mods, ops):
        raise Unknown("brx")

    def op_ret(self, mods, ops):
        return "return;"

    def op_exit(self, mods, ops):
        if not self.f.entry:
            raise Unknown("exit in a function")
        return "return;"

    def op_trap(self, mods, ops):
        return "ptx::trap(t, %d);" % self.line

    op_brkpt = op_trap

    def op_call(self, mods, ops):
        returns, rest = [], ops
        if ops[0].startswith("("):
            returns = [x.strip() for x in ops[0][1:-1].split(",") if x.strip()]
            rest = ops[1:]
        name = rest[0]
        if name.startswith("%"):
            raise Unknown("indirect call")
        args = [x.strip() for x in rest[1][1:-1].split(",") if x.strip()] if len(rest) > 1 else []
        places = []
        for x in returns + args:
            e = self.lookup(x)
            if e is None or e[0] != "param":
                raise Unknown("argument " + x)
            places.append("(uint8_t*)" + e[1])
        if name in self.m.functions:
            self.f.calls.add(name)
            return "F_%s(t%s);" % (ident(name), "".join(", " + p for p in places))
        if name in ("__assertfail", "vprintf", "malloc", "free"):
            return "ptx::call_%s(t%s);" % (name.strip("_"), "".join(", " + p for p in places))
        raise Unknown("call of " + name)

    # -- together ----------------------------------------------------------------------------------------------
    def op_bar(self, mods, ops):
        self.f.synchronizes = True
        if mods and mods[0] == "warp":
            return "ptx::warp_sync(t, %s, %d);" % (self.read(ops[0], "u32"), self.line)
        mods = [m for m in mods if m not in ("cta", "aligned")]
        if mods and mods[0] == "red":
            typ = mods[-1]
            kind = mods[1]
            if len(ops) != 3:
                raise Unknown("bar.red with a count")
            value = "ptx::barrier_reduce(t, %s, %s, ptx::Reduce::k%s, %d)" % (
                self.read(ops[1], "u32"), self.read(ops[2], "pred"), kind.capitalize(), self.line)
            return self.write(ops[0], "pred" if typ == "pred" else "u32", value)
        if mods and mods[0] == "arrive":
            raise Unknown("bar.arrive")
        count = self.read(ops[1], "u32") if len(ops) > 1 else "0u"
        return "ptx::barrier(t, %s, %s, %d);" % (self.read(ops[0], "u32"), count, self.line)

    def op_barrier(self, mods, ops):
        if mods[0] != "cluster":
            return self.op_bar(mods, ops)
        self.f.synchronizes = True
        if "relaxed" in mods:
            raise Unknown("barrier.cluster that orders nothing")
        # Who arrives waits at once in our kernels, so arriving is nothing of its own.
        return ";" if mods[1] == "arrive" else "ptx::cluster_barrier(t, %d);" % self.line

    def op_shfl(self, mods, ops):
        self.f.synchronizes = True
        if "sync" not in mods:
            raise Unknown("shfl without .sync")
        mode = [m for m in mods if m in ("up", "down", "bfly", "idx")][0]
        targets = ops[0].split("|")
        a, b, c, mask = (self.read(x, "u32") for x in ops[1:5])
        call = "bool in_ = false; const uint32_t got_ = ptx::shuffle(t, ptx::Shuffle::k%s, %s, %s, %s, %s, in_, %d);" % (mode.capitalize(), a, b, c, mask, self.line)
        code = self.write(targets[0], "b32", "got_")
        if len(targets) == 2:
            code += " " + self.write(targets[1], "pred", "in_")
        return "{ %s %s }" % (call, code)

    def op_vote(self, mods, ops):
        self.f.synchronizes = True
        if "sync" not in mods:
            raise Unknown("vote without .sync")
        mode = [m for m in mods if m in ("all", "any", "uni", "ballot")][0]
        call = "ptx::vote(t, ptx::Vote::k%s, %s, %s, %d)" % (mode.capitalize(), self.read(ops[1], "pred"), self.read(ops[2], "u32"), self.line)
        return self.write(ops[0], "b32" if mode == "ballot" else "pred", call)

    def op_match(self, mods, ops):
        self.f.synchronizes = True
        typ = self.type_of(mods)
        if "any" not in mods:
            raise Unknown("match.all")
        return self.write(ops[0], "b32", "ptx::match_any(t, (uint64_t)%s, %s, %d)" % (self.read(ops[1], typ), self.read(ops[2], "u32"), self.line))

    def op_redux(self, mods, ops):
        self.f.synchronizes = True
        typ = self.type_of(mods)
        kind = [m for m in mods if m in ("add", "min", "max", "and", "or", "xor")][0]
        return self.write(ops[0], typ, "ptx::reduce_warp(t, ptx::Reduce::k%s, %s, %s, %s, %d)" % (
            kind.capitalize(), "true" if typ[0] == "s" else "false", self.read(ops[1], "u32"), self.read(ops[2], "u32"), self.line))

    def op_activemask(self, mods, ops):
        self.f.synchronizes = True
        return self.write(ops[0], "b32", "ptx::active_mask(t, %d)" % self.line)

    def op_elect(self, mods, ops):
        raise Unknown("elect")

    def op_nanosleep(self, mods, ops):
        self.f.synchronizes = True
        return "ptx::yield(t);"

    def op_griddepcontrol(self, mods, ops):
        return ";"  # launches run one after another

    def op_setmaxnreg(self, mods, ops):
        return ";"

    def op_pmevent(self, mods, ops):
        return ";"


def f_short(name):
    return name if len(name) < 60 else name[:57] + "..."


def tag_of(text):
    """FNV-1a, by which the runtime finds the module of a PTX text: one that is stale is never used."""
    tag = 0xCBF29CE484222325
    for byte in text:
        tag = ((tag ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return "%016x" % tag


def ptx_in(data):
    """The PTX of the first fat binary in some bytes that has any."""
    for magic in re.finditer(b"\x50\xed\x55\xba", data):
        start = magic.start()
        if start + 16 > len(data):
            continue
        _, version, header, size = struct.unpack_from("<IHHQ", data, start)
        if version != 1 or header != 16 or size == 0 or start + header + size > len(data):
            continue
        at, end = start + header, start + header + size
        while at + 24 <= end:
            kind, _, entry, length, compressed = struct.unpack_from("<HHIQI", data, at)
            if entry == 0 or entry > 4096:
                break
            if kind == 1:
                if compressed:
                    sys.exit("compressed PTX: compile with -no-compress")
                return data[at + entry : at + entry + length].split(b"\0", 1)[0]
            at += entry + length
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("object", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--compiler", default="g++")
    args = parser.parse_args()
    text = ptx_in(args.object.read_bytes())
    if text is None:
        sys.exit("%s: no PTX in it" % args.object)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.with_suffix(".ptx").write_bytes(text)
    module = Module(text.decode(), tag_of(text), args.count)
    try:
        code = module.translate()
    except Unknown as error:
        sys.exit("%s: not translated: %s" % (args.object, error))
    source = args.output.with_suffix(".cpp")
    source.write_text(code)
    audit = "".join("%6d  %s\n" % (count, what) for what, count in sorted(module.audit.items()))
    args.output.with_suffix(".audit").write_text(audit)
    # -ffp-contract=off: what the PTX rounds twice is rounded twice. -mfma: fma is one instruction, rounded once.
    # -Og compiles in half the time of -O1; what comes of it is a fifth slower, and runs for less long than that takes.
    flags = ["-std=c++20", "-Og", "-march=x86-64-v3", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fPIC", "-shared", "-w"]
    here = pathlib.Path(__file__).parent
    command = [args.compiler, *flags, "-DPTX_CHECK=%d" % args.check, "-I", here, source, "-o", args.output]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
