#!/usr/bin/env python3
"""Compiles the kernels in this folder to the PTX beside them: `make.py NVRTC_FOLDER CUDA_INCLUDE_FOLDER`.

The files are checked in, so this is needed only after a kernel changed. Paths are cut to file names,
for they would differ on every machine.
"""

import ctypes
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
TARGETS = {"elementwise": (75, 90, 100), "formats": (75, 90), "copies": (80,)}


def compile(nvrtc, name, source, options):
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None) == 0
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    result = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert result == 0, log.value.decode()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def main(libraries, include):
    libraries = pathlib.Path(libraries)
    ctypes.CDLL(str(next(libraries.glob("libnvrtc-builtins.so*"))), mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(str(next(libraries.glob("libnvrtc.so*"))))
    for kernel in sorted(HERE.glob("*.cu")):
        for target in TARGETS.get(kernel.stem, (90,)):
            options = [f"-arch=compute_{target}", "-lineinfo", f"-I{include}"]
            ptx = compile(nvrtc, kernel.name, kernel.read_text(), options)
            ptx = re.sub(r'(\.file\s+\d+ ")[^"]*/', r"\1", ptx)
            (HERE / f"{kernel.stem}.{target}.ptx").write_text(ptx)


main(*sys.argv[1:])
