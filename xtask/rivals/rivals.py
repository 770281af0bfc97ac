"""Times PyTorch, torch.compile, Triton and Liger on the course's operations; started by `cargo xtask rivals`.

    rivals.py --probe                        what is installed
    rivals.py softmax=16384x4096,... ...     one JSON object a line
    rivals.py --fused softmax=16384x4096 ... the kernels that eager and compiled code launch, as text
    rivals.py --code softmax=16384x4096 ...  the Triton code that torch.compile writes for them

The rules are those of the course's own timer: a warm-up of 200 ms of GPU time, the L2 flushed before each run by reading a
buffer of twice its size, two sets of inputs in turn (small ones in four places each), CUDA events, the median of at least 31 runs
with its 95% interval. Before that the outputs (of more than four million elements, the first) are compared with a reference in
float64. Python takes longer to queue a call than a small one runs: the GPU is held
back until a whole batch is queued, so that a time is the GPU's own, as it is for kernels that compiled code launches.
"""

import argparse
import importlib
import importlib.metadata
import json
import math
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

WARM_UP_S = 0.2
LEAST_RUNS = 31
MOST_RUNS = 1000
LIMIT_S = 2.0
WIDTH = 0.01
BATCH = 8
# Clock cycles for which the GPU is held back at first, and at most: a second or so, in which any batch should be queued.
LEAST_DELAY, MOST_DELAY = 1 << 20, 1 << 31
# The package that has the variants of that name, and what to import of it.
# PyTorch brings its own fused optimizer, and cuBLASLt's epilogue.
LIBRARIES = {
    "triton": ("triton", "triton"),
    "liger": ("liger-kernel", "liger_kernel.ops"),
    "fused": ("torch", "torch"),
    "cublaslt": ("torch", "torch"),
    "grouped": ("torch", "torch"),
    # Its ways to compute attention, by what it calls them.
    "flash": ("torch", "torch"),
    "cudnn": ("torch", "torch"),
}
# Where buffers lie makes up to a tenth of a small call's time: inputs of at most so many bytes lie in several places.
PLACES, SMALL = 4, 16 << 20
# Elements whose results are compared with the reference.
CHECKED = 1 << 22
CEILING_BYTES = 2 << 30
# Columns of code that is printed.
WIDEST = 96


def say(**line):
    print(json.dumps(line), flush=True)


# --- The operations, as somebody writes them in PyTorch without a thought about speed. -------------------------------------


def average(x, y):
    return (x + y) / 2


def mul_add(q, k, v):
    return q * k + v


def add_mul_relu(a, b):
    return torch.relu((a + b) * a)


def add_mul_exp(x, y):
    return torch.exp((x + y) * 2.0)


def add_gelu(a, b):
    return F.gelu(a + b, approximate="tanh")


def quantize_int8(x):
    return torch.clamp(torch.round(x / 0.05 + 3.0), -128, 127).to(torch.int8)


def add_residual_act(x, residual):
    # Of the three activations the one that the course's own problems of these sizes ask for with their seed.
    return F.gelu(x + residual, approximate="tanh")


def silu_mul(gate, up):
    return F.silu(gate) * up


def scale_shift_offset(x):
    return x * 1.5 + 0.25


def l2norm(x):
    return x / (torch.sqrt((x * x).sum(-1, keepdim=True)) + 1e-12)


def softmax(x):
    return torch.softmax(x, dim=-1)


def transpose_scale(x):
    # The factor is one of the problem's numbers; which one, costs nothing.
    return (0.5 * x.t()).contiguous()


def cross_entropy(x, labels):
    return F.cross_entropy(x, labels.long(), reduction="none")


# An optimizer's numbers, after nine steps.
ADAMW = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.1}
STEP = 10.0


def parts(tensor):
    """The tensors that a list of `rows` of them has, as the course cuts them (`Shape::tensors`): views of one buffer."""
    weights = (1000, 1, 300, 0, 30, 1, 3000, 10)
    before = [0]
    for index in range(tensor.shape[0]):
        before.append(before[-1] + weights[index % len(weights)])
    flat = tensor.view(-1)
    cuts = [flat.numel() * sum_ // before[-1] for sum_ in before]
    return [flat[begin:end] for begin, end in zip(cuts, cuts[1:]) if begin < end]


def adamw_multi(p, g, m, v):
    """`torch.optim.AdamW` with `foreach=True`, which is what it does unasked: a few launches for each step over all tensors."""
    from torch.optim.adamw import adamw

    lists = [parts(tensor) for tensor in (p, g, m, v)]
    steps = [torch.tensor(STEP - 1) for _ in lists[0]]
    adamw(*lists, [], steps, foreach=True, amsgrad=False, maximize=False, **ADAMW)
    return p, m, v


STEPS = {}


def fused_adamw_multi(p, g, m, v):
    """The kernels of `fused=True`, without the launch that counts the steps."""
    lists = [parts(tensor) for tensor in (p, g, m, v)]
    count = len(lists[0])
    if count not in STEPS:
        STEPS[count] = [torch.tensor(STEP, device="cuda") for _ in range(count)]
    torch._fused_adamw_(*lists, [], STEPS[count], amsgrad=False, maximize=False, **ADAMW)
    return p, m, v


def gemm_tile(a, b):
    return a @ b


def gemm_bias_gelu(a, b, bias, residual):
    return F.gelu(torch.addmm(bias, a, b), approximate="tanh") + residual


def gemm_dequant(a, q, scale):
    return a @ (q * scale).to(a.dtype)


# How many slots each expert has, of so many tokens and experts: what the host knows once the router has chosen.
LOADS = {}
# And where in the order each expert's slots end, on the GPU.
ENDS = {}


def moe_expert(x, w1, w2, order, weights):
    out = torch.zeros_like(x)
    for expert, slots in enumerate(order.split(LOADS[x.shape[0], w1.shape[0]])):
        tokens = slots // 2
        gate, up = (x[tokens] @ w1[expert]).chunk(2, -1)
        down = (F.silu(gate) * up) @ w2[expert]
        out.index_add_(0, tokens, (down * weights[slots].unsqueeze(-1)).to(out.dtype))
    return out


def moe_expert_grouped(x, w1, w2, order, weights):
    # The products of all experts in one launch each: the GPU reads where an expert's slots end.
    tokens, ends = order // 2, ENDS[x.shape[0], w1.shape[0]]
    gate, up = torch._grouped_mm(x[tokens], w1, offs=ends).chunk(2, -1)
    down = torch._grouped_mm(F.silu(gate) * up, w2, offs=ends)
    return torch.zeros_like(x).index_add_(0, tokens, (down * weights[order].unsqueeze(-1)).to(x.dtype))


def attention(q, k, v):
    return F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)).squeeze(0)


def attention_causal(q, k, v):
    # Heads of queries that follow each other have a head of keys in common.
    grouped = q.shape[0] != k.shape[0]
    out = F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), is_causal=True, enable_gqa=grouped)
    return out.squeeze(0)


def by_backends(function):
    """The function with each of these back ends of scaled_dot_product_attention."""
    def by(backend):
        def run(q, k, v):
            from torch.nn.attention import SDPBackend, sdpa_kernel

            with sdpa_kernel(getattr(SDPBackend, backend)):
                return function(q, k, v)

        return run

    return {name: by(backend) for name, backend in (("flash", "FLASH_ATTENTION"), ("cudnn", "CUDNN_ATTENTION"))}


def decode_attention(q, k_cache, v_cache, block_table, lengths):
    # The pages of each sequence one behind the other, and a mask for what lies beyond its last token.
    def gather(cache):
        return cache[block_table.long()].transpose(1, 2).flatten(2, 3)

    tokens = 16 * block_table.shape[1]
    mask = torch.arange(tokens, device=q.device) < lengths.unsqueeze(1)
    out = F.scaled_dot_product_attention(
        q.unsqueeze(2), gather(k_cache), gather(v_cache), attn_mask=mask[:, None, None], enable_gqa=True)
    return out.squeeze(2)


def layernorm_bias_gelu(x, gamma, beta, bias):
    return F.gelu(F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5) + bias, approximate="tanh")


def layernorm_wide_rows(x, gamma, beta):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)


def layernorm_quant(x, gamma, beta):
    y = F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)
    scale = y.abs().amax(-1, keepdim=True) / 127.0
    return torch.clamp(torch.round(y / scale), -127, 127).to(torch.int8), scale.squeeze(-1)


def rmsnorm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def add_rmsnorm(x, residual, weight):
    total = x + residual
    return total, F.rms_norm(total, total.shape[-1:], weight, 1e-6)


def rmsnorm_fp8(x, weight):
    # The norm in f32: y is not rounded to bf16.
    wide = x.float() if x.dtype == torch.bfloat16 else x
    y = F.rms_norm(wide, wide.shape[-1:], weight.to(wide.dtype), 1e-6)
    scale = y.abs().amax(-1, keepdim=True) / 448.0
    return torch.clamp(y / scale, -448.0, 448.0).to(torch.float8_e4m3fn), scale.squeeze(-1)


def rope(q, k, positions, table):
    # NeoX. The other pairing differs in where a pair lies, and not in what is done.
    cos, sin = table[positions.long()].to(q.dtype if q.dtype == torch.bfloat16 else table.dtype).unsqueeze(1).chunk(2, -1)

    def turn(x):
        first, second = x.chunk(2, -1)
        turned = torch.cat((-second, first), -1)
        return x * torch.cat((cos, cos), -1) + turned * torch.cat((sin, sin), -1)

    return turn(q), turn(k)


def ffn_sublayer(x, gamma, beta, w, bias):
    normed = F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)
    return x + F.gelu(normed @ w + bias, approximate="tanh")


# --- Written in Triton, where the course's figures name such a kernel as the best other. ----------------------------------

if triton is not None:
    # Division (div_rn, for Triton's own / is 2 units in the last place off) and rounding as the definition has them: ties go to even.
    @triton.jit
    def round_half_even(v):
        # Adding and subtracting 1.5 * 2^23 leaves an integer for |v| < 2^22, rounded as f32 rounds.
        return (v + 12582912.0) - 12582912.0

    @triton.jit
    def add_mul_exp_kernel(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        tl.store(out + at, tl.exp((tl.load(x + at, inside) + tl.load(y + at, inside)) * 2.0), inside)

    @triton.jit
    def quantize_int8_kernel(x, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        v = tl.math.div_rn(tl.load(x + at, inside, other=0.0), tl.full([BLOCK], 0.05, tl.float32)) + 3.0
        v = round_half_even(tl.minimum(tl.maximum(v, -128.0), 127.0))
        tl.store(out + at, v.to(tl.int8), inside)

    @triton.jit
    def layernorm_quant_kernel(x, gamma, beta, out, scales, columns, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, BLOCK)
        inside = at < columns
        v = tl.load(x + row * columns + at, inside, other=0.0)
        mean = tl.sum(v, 0) / columns
        centred = tl.where(inside, v - mean, 0.0)
        rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / columns + 1e-5)
        y = centred * rstd * tl.load(gamma + at, inside, other=0.0) + tl.load(beta + at, inside, other=0.0)
        scale = tl.max(tl.abs(y), 0) / 127.0
        tl.store(scales + row, scale)
        tl.store(out + row * columns + at, round_half_even(tl.math.div_rn(y, tl.full([BLOCK], 0.0, tl.float32) + scale)).to(tl.int8), inside)


def triton_add_mul_exp(x, y):
    out = torch.empty_like(x)
    add_mul_exp_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024, num_warps=8)
    return out


def triton_quantize_int8(x):
    out = torch.empty_like(x, dtype=torch.int8)
    quantize_int8_kernel[(triton.cdiv(x.numel(), 2048),)](x, out, x.numel(), BLOCK=2048, num_warps=4)
    return out


def triton_layernorm_quant(x, gamma, beta):
    rows, columns = x.shape
    out, scales = torch.empty_like(x, dtype=torch.int8), torch.empty(rows, device=x.device)
    block = triton.next_power_of_2(columns)
    warps = min(max(block // 512, 1), 16)
    layernorm_quant_kernel[(rows,)](x, gamma, beta, out, scales, columns, BLOCK=block, num_warps=warps)
    return out, scales


# --- With what a library's product does at its end. ------------------------------------------------------------------------


def cublaslt_gemm_bias_gelu(a, b, bias, residual):
    # The tanh form. No epilogue of cuBLASLt adds a residual after it.
    return torch._addmm_activation(bias, a, b, use_gelu=True) + residual


# --- Liger's, where it is installed. Imported when needed: each has its own place in the package. --------------------------


def liger_softmax(x):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return LigerSoftmaxFunction.apply(x)


def liger_silu_mul(gate, up):
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    return LigerSiLUMulFunction.apply(gate, up)


def liger_layernorm(x, gamma, beta):
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    return LigerLayerNormFunction.apply(x, gamma, beta, 1e-5)


def liger_rmsnorm(x, weight):
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False)


def liger_add_rmsnorm(x, residual, weight):
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction

    out, total = LigerFusedAddRMSNormFunction.apply(x, residual, weight, 1e-6, 0.0, "llama", False)
    return total, out


# --- One entry an operation: its inputs, its function, and who else has it. To add one, add a line. -------------------------
# An input is (what it has an element for, type): `elements` of the shape, `columns` of it, a `square` of columns, or `labels`, a
# column for each row, or `squares`, of which none is negative. Tokens have heads of `queries` and of `keys`, and their `positions` in a
# `table`. Experts have a `gate_up` and a `down` matrix each, and `slots` in the `order` of experts. An `offset` input is `elements` in a view that begins one element past where wide accesses would want it to.

E32, C32 = ("elements", "float32"), ("columns", "float32")
E16, C16, S16 = ("elements", "float16"), ("columns", "float16"), ("square", "float16")
EB, CB = ("elements", "bfloat16"), ("columns", "bfloat16")
AB, BB = ("left", "bfloat16"), ("right", "bfloat16")
LABELS = ("labels", "int32")

OPERATIONS = {
    "average": ([E32, E32], average, {}),
    "mul_add": ([E32, E32, E32], mul_add, {}),
    "add_mul_relu": ([E32, E32], add_mul_relu, {}),
    "add_mul_exp": ([E32, E32], add_mul_exp, {"triton": triton_add_mul_exp}),
    "add_gelu": ([E32, E32], add_gelu, {}),
    "add_gelu_vec": ([E32, E32], add_gelu, {}),
    "quantize_int8": ([E32], quantize_int8, {"triton": triton_quantize_int8}),
    "quantize_int8_vec": ([E32], quantize_int8, {"triton": triton_quantize_int8}),
    "add_residual_act": ([E32, E32], add_residual_act, {}),
    "silu_mul": ([EB, EB], silu_mul, {"liger": liger_silu_mul}),
    "silu_mul_vec": ([EB, EB], silu_mul, {"liger": liger_silu_mul}),
    "scale_shift_offset": ([("offset", "float32")], scale_shift_offset, {}),
    "l2norm": ([E32], l2norm, {}),
    "softmax": ([E32], softmax, {"liger": liger_softmax}),
    "layernorm_bias_gelu": ([E32, C32, C32, C32], layernorm_bias_gelu, {}),
    "transpose_scale": ([E32], transpose_scale, {}),
    "cross_entropy": ([E32, LABELS], cross_entropy, {}),
    "layernorm_quant": ([E32, C32, C32], layernorm_quant, {"triton": triton_layernorm_quant}),
    "add_rmsnorm": ([EB, EB, CB], add_rmsnorm, {"liger": liger_add_rmsnorm}),
    "rmsnorm_fp8": ([EB, CB], rmsnorm_fp8, {}),
    "rope": ([("queries", "bfloat16"), ("keys", "bfloat16"), ("positions", "int32"), ("table", "float32")], rope, {}),
    "rmsnorm_short_rows": ([E16, C16], rmsnorm, {"liger": liger_rmsnorm}),
    "layernorm_wide_rows": ([E32, C32, C32], layernorm_wide_rows, {"liger": liger_layernorm}),
    "ffn_sublayer": ([E16, C16, C16, S16, C16], ffn_sublayer, {}),
    "adamw_multi": ([E32, E32, E32, ("squares", "float32")], adamw_multi, {"fused": fused_adamw_multi}),
    "gemm_tile": ([AB, BB], gemm_tile, {}),
    "gemm_bias_gelu": ([AB, BB, CB, EB], gemm_bias_gelu, {"cublaslt": cublaslt_gemm_bias_gelu}),
    "gemm_dequant": ([AB, ("right", "int8"), C32], gemm_dequant, {}),
    "moe_expert": ([EB, ("gate_up", "bfloat16"), ("down", "bfloat16"), ("order", "int64"), ("slots", "float32")], moe_expert,
                   {"grouped": moe_expert_grouped}),
    "attention_row": ([("sequences", "float32")] * 3, attention, {}),
    "flash_attention": ([("sequences", "bfloat16")] * 3, attention, by_backends(attention)),
    "flash_attention_causal": (
        [("sequences", "bfloat16"), ("key_sequences", "bfloat16"), ("key_sequences", "bfloat16")],
        attention_causal,
        by_backends(attention_causal),
    ),
    "decode_attention": (
        [("queries", "bfloat16"), ("cache", "bfloat16"), ("cache", "bfloat16"), ("pages", "int32"), ("lengths", "int32")],
        decode_attention, {}),
}

# Sublayers in the orders that models have them, for --fused and --code alone.
ORDERS = {
    "layernorm_linear_gelu": ([E16, C16, C16, S16, C16], lambda x, gamma, beta, w, bias: F.gelu(
        F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5) @ w + bias, approximate="tanh")),
    "linear_layernorm_gelu": ([E16, C16, C16, S16, C16], lambda x, gamma, beta, w, bias: F.gelu(
        F.layer_norm(x @ w + bias, x.shape[-1:], gamma, beta, 1e-5), approximate="tanh")),
}

# |actual - reference| <= absolute + relative * |reference|: enough to know that the operation is the same one.
TOLERANCES = {"float32": (1e-4, 1e-3), "float16": (2e-2, 1e-2), "bfloat16": (5e-2, 3e-2)}


# Rows of a table of cosines and sines.
POSITIONS = 250


def make_inputs(spec, rows, columns, seed, depth=None, head=None, pages=None, *_):
    """One set of inputs. A single row is flat: an elementwise operation has no rows. A product of matrices has sums of `depth` terms;
    tokens have `depth` heads of keys, and a head has `head` elements, and where keys are in a cache, up to `pages` pages of 16; attention has
    sequences of `depth` tokens, and `head` of them of keys; of `head` experts each has `depth` elements between its matrices."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def make(kind, dtype):
        if kind == "labels":
            shape = (rows,) if rows > 1 else ()
            return torch.randint(columns, shape, generator=generator, device="cuda", dtype=torch.int32)
        if kind == "positions":
            return torch.randint(POSITIONS, (rows,), generator=generator, device="cuda", dtype=torch.int32)
        if kind == "table":
            angles = torch.rand((POSITIONS, head // 2), generator=generator, device="cuda") * math.tau
            return torch.cat((angles.cos(), angles.sin()), -1)
        if kind in ("queries", "keys"):
            heads = columns // head if kind == "queries" else depth
            return torch.randn((rows, heads, head), generator=generator, device="cuda").to(getattr(torch, dtype))
        # A ninth of the cache is no sequence's. Lengths end on the last page, as those that the course times do.
        if kind == "cache":
            size = (rows * pages * 9 // 8, depth, 16, head)
            return torch.randn(size, generator=generator, device="cuda").to(getattr(torch, dtype))
        if kind == "pages":
            order = torch.randperm(rows * pages * 9 // 8, generator=generator, device="cuda", dtype=torch.int32)
            return order[:rows * pages].view(rows, pages)
        if kind == "lengths":
            return 16 * pages - torch.randint(16, (rows,), generator=generator, device="cuda", dtype=torch.int32)
        if kind in ("sequences", "key_sequences"):
            size = (rows // depth if kind == "sequences" else head, depth, columns)
            return torch.randn(size, generator=generator, device="cuda").to(getattr(torch, dtype))
        if kind == "order":
            # The same for all seeds: a compiled function knows how many slots each expert has.
            chosen = torch.rand((rows, head), generator=torch.Generator().manual_seed(0)).topk(2).indices.flatten()
            loads = chosen.bincount(minlength=head)
            LOADS[rows, head], ENDS[rows, head] = loads.tolist(), loads.cumsum(0).to(torch.int32).cuda()
            return chosen.argsort(stable=True).cuda()
        if kind == "slots":
            return torch.rand(2 * rows, generator=generator, device="cuda")
        if kind in ("gate_up", "down"):
            size = (head, columns, 2 * depth) if kind == "gate_up" else (head, depth, columns)
            values = torch.randn(size, generator=generator, device="cuda") / math.sqrt(size[1])
            return values.to(getattr(torch, dtype))
        elements = (rows, columns) if rows > 1 else (columns,)
        if kind == "offset":
            aligned = make("elements", dtype)
            return aligned.new_empty(aligned.numel() + 1)[1:].view(elements).copy_(aligned)
        if kind in ("left", "right"):
            size = (rows, depth) if kind == "left" else (depth, columns)
            if dtype == "int8":
                return torch.randint(-128, 128, size, generator=generator, device="cuda", dtype=torch.int8)
            values = torch.randn(size, generator=generator, device="cuda", dtype=torch.float32)
            return (values / depth**0.25).to(getattr(torch, dtype))
        size = {"elements": elements, "squares": elements, "columns": (columns,), "square": (columns, columns)}[kind]
        values = torch.randn(size, generator=generator, device="cuda", dtype=torch.float32)
        if kind == "square":
            values /= math.sqrt(columns)
        elif kind == "squares":
            values *= values
        elif kind == "columns":
            values = 1.0 + 0.25 * values
        return values.to(getattr(torch, dtype))

    return [make(kind, dtype) for kind, dtype in spec]


def tuple_of(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def wrong(function, eager, spec, inputs):
    """What is wrong with the outputs beside the same function in float64, or None.

    Rows do not depend on each other, so the first of them are enough."""
    first = inputs[0]
    count = min(first.shape[0], max(1, CHECKED // max(1, first[0].numel())))
    flat = ("elements", "squares", "offset")
    rowwise = ("labels", "left", "queries", "keys", "positions", "sequences", "pages", "lengths")
    by_row = (*flat, *rowwise) if first.dim() > 1 else flat
    if any(kind == "key_sequences" for kind, _ in spec):
        # Whole groups of heads that have their keys in common.
        group = first.shape[0] // inputs[1].shape[0]
        count = max(group, count - count % group)
    some = [tensor[:count] if kind in by_row else tensor for (kind, _), tensor in zip(spec, inputs)]
    some = [tensor[: count // group] if kind == "key_sequences" else tensor for (kind, _), tensor in zip(spec, some)]
    # Of a matrix that was turned over, the first columns are those of the first rows.
    along = 1 if eager is transpose_scale else 0
    # First the references: an operation may work in place.
    references = tuple_of(eager(*[tensor.double() if tensor.is_floating_point() else tensor for tensor in some]))
    outputs = [output.narrow(along, 0, count) for output in tuple_of(function(*inputs))]
    for index, (output, expected) in enumerate(zip(outputs, references)):
        error = (output.double() - expected.double()).abs()
        if output.dtype == torch.int8:
            # Near a tie either neighbour is right.
            off, many = int(error.max()), int((error > 0).sum())
            if off > 1 or many > 1e-3 * error.numel() + 1:
                return f"output {index}: {many} of {error.numel()} values are off, by up to {off}"
            continue
        if output.dtype == torch.float8_e4m3fn:
            # Neighbours are an eighth of a value apart. Near a tie either is right.
            size, many = expected.double().abs(), int((error > 0).sum())
            if bool((error > size / 7 + 2**-9).any()) or many > 1e-3 * error.numel() + 1:
                return f"output {index}: {many} of {error.numel()} values are off"
            continue
        absolute, relative = TOLERANCES[spec[0][1]]
        size = expected.double().abs()
        if any(kind in ("right", "down") for kind, _ in spec):
            # The terms of a product may cancel. Their rounding does not: it is to the size that such sums have.
            size = size.clamp(min=float(size.square().mean().sqrt()))
        bad = ~(error <= absolute + relative * size)
        if bool(bad.any()):
            return f"output {index}: {int(bad.sum())} of {bad.numel()} values are off, by up to {float(error.max()):.3g}"
    return None


class Timer:
    def __init__(self):
        properties = torch.cuda.get_device_properties(0)
        l2 = getattr(properties, "L2_cache_size", 64 << 20)
        self.flush = torch.rand(max(2 * l2, 32 << 20) // 4, device="cuda")
        self.delay, self.count = LEAST_DELAY, BATCH

    def batch(self, call):
        """Milliseconds of some cold runs, all queued before the GPU begins the first, and of the whole batch."""
        while True:
            pairs = []
            torch.cuda._sleep(self.delay)
            whole = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            whole[0].record()
            for index in range(self.count):
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self.flush.sum()
                start.record()
                call(index)
                end.record()
                pairs.append((start, end))
            whole[1].record()
            # Had the GPU begun by now, it might have waited for the host between two events.
            fed = not pairs[0][0].query()
            torch.cuda.synchronize()
            if fed:
                return [start.elapsed_time(end) for start, end in pairs], whole[0].elapsed_time(whole[1])
            if self.delay < MOST_DELAY:
                self.delay *= 2
            elif self.count > 1:
                # The driver queues a thousand launches or so, and then makes the host wait.
                self.delay, self.count = LEAST_DELAY, self.count // 2
            else:
                raise RuntimeError("it cannot be queued ahead: it waits for the GPU")

    def measure(self, call):
        """Median and 95% interval in nanoseconds, and the number of runs."""
        self.delay, self.count = LEAST_DELAY, BATCH
        begun, done = time.monotonic(), 0.0
        while done < WARM_UP_S and time.monotonic() - begun < 10 * WARM_UP_S:
            done += self.batch(call)[1] / 1e3
        begun, times = time.monotonic(), []
        while True:
            times += self.batch(call)[0]
            median, low, high = interval(times)
            narrow = high - median <= WIDTH * median and median - low <= WIDTH * median
            enough = len(times) >= LEAST_RUNS and (narrow or time.monotonic() - begun > LIMIT_S)
            if enough or len(times) >= MOST_RUNS:
                return {"median": median * 1e6, "low": low * 1e6, "high": high * 1e6}, len(times)


def interval(times):
    """The median and its 95% interval by order statistics: the number of runs below the median is binomial, and nearly normal."""
    ordered, n = sorted(times), len(times)
    middle = n // 2
    median = ordered[middle] if n % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    reach = math.ceil(0.98 * math.sqrt(n))
    return median, ordered[max(0, middle - reach)], ordered[min(n - 1, middle + reach)]


def ceiling(timer):
    """GB/s of a copy of 2 GiB of float32 within the device, each byte read and written."""
    source = torch.rand(CEILING_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    time_ns, runs = timer.measure(lambda _: target.copy_(source))
    say(ceiling={"gb_per_s": 2 * CEILING_BYTES / time_ns["median"], "runs": runs})


def run(timer, operation, shapes):
    if operation not in OPERATIONS:
        say(missing=operation)
        return
    spec, eager, others = OPERATIONS[operation]
    others = {name: function for name, function in others.items() if trouble(LIBRARIES[name][1]) is None}
    for rows, columns, *depth in shapes:
        sets = None
        # A compiled function knows the sizes of its inputs, as one does that is compiled for its model.
        torch.compiler.reset()
        compiled = torch.compile(eager, dynamic=False, fullgraph=True)
        variants = {"eager": eager, "torch.compile": compiled, **others}
        for name, function in variants.items():
            line = {"operation": operation, "rows": rows, "columns": columns, "variant": name}
            try:
                if sets is None:
                    sets = [make_inputs(spec, rows, columns, seed, *depth) for seed in (1, 2)]
                    if sum(tensor.nbytes for tensor in sets[0]) <= SMALL:
                        sets += [[tensor.clone() for tensor in sets[index % 2]] for index in range(2 * (PLACES - 1))]
                with torch.no_grad():
                    problem = wrong(function, eager, spec, sets[0])
                    if problem is not None:
                        say(**line, wrong=problem)
                        continue
                    time_ns, runs = timer.measure(lambda index: function(*sets[index % len(sets)]))
                say(**line, time_ns=time_ns, runs=runs)
            except Exception as error:  # Whatever a library does wrong costs its own line only.
                say(**line, failed=brief(error))
        sets = None
        torch.cuda.empty_cache()


def known(wanted):
    """The inputs, the function, and the sizes of an argument such as softmax=16384x4096."""
    operation, _, shape = wanted.partition("=")
    spec, function = (ORDERS.get(operation) or OPERATIONS[operation])[:2]
    return operation, spec, function, tuple(int(part) for part in shape.split("x"))


def compiled_and_inputs(spec, function, sizes):
    torch.compiler.reset()
    inputs = make_inputs(spec, *((1, *sizes) if len(sizes) == 1 else sizes[:2]), 1, *sizes[2:])
    return torch.compile(function, dynamic=False, fullgraph=True), inputs


def launches(function, inputs):
    """The kernels that a call launches in their order, each with its microseconds, by PyTorch's profiler."""
    from torch.profiler import ProfilerActivity, profile

    for _ in range(3):
        function(*inputs)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        function(*inputs)
        torch.cuda.synchronize()
    events = [event for event in seen.events() if str(event.device_type).endswith("CUDA")]
    events.sort(key=lambda event: event.time_range.start)
    return [(event.name, event.time_range.elapsed_us()) for event in events]


def short(name):
    """A kernel's name without its parameters, and of C++ the operation that it is an instance of."""
    for prefix in ("void ", "at::native::"):
        name = name.removeprefix(prefix)
    inner = [part for part in name.replace("(anonymous namespace)::", "").replace("at::native::", "").split("<") if part]
    useful = [part.split("(")[0].split(",")[0].split(">")[0].strip() for part in inner]
    useful = [part for part in useful if part and not part.isdigit()]
    return " ".join(dict.fromkeys(useful))[:72]


def fused(wanted):
    """Prints what runs eager and compiled: each kernel's time is that of one warm call."""
    operation, spec, function, sizes = known(wanted)
    compiled, inputs = compiled_and_inputs(spec, function, sizes)
    print(f"{operation} at {' x '.join(str(size) for size in sizes)}")
    with torch.no_grad():
        for name, variant in (("eager", function), ("torch.compile", compiled)):
            found = launches(variant, inputs)
            print(f"  {name}: {len(found)} kernel{'' if len(found) == 1 else 's'}, {sum(us for _, us in found):.1f} us")
            for kernel, us in found:
                print(f"    {us:8.1f} us  {short(kernel)}")


def folded(line):
    """A long line in pieces that fit a page: within parentheses Python may go on in the next line."""
    pieces, indent = [], " " * (len(line) - len(line.lstrip()) + 8)
    while len(line) > WIDEST:
        at = line.rfind(", ", len(indent), WIDEST)
        if at < 0:
            break
        pieces.append(line[: at + 1])
        line = indent + line[at + 2 :]
    return [*pieces, line]


def code(wanted):
    """Prints the Triton kernels that torch.compile writes, without the launch code around them."""
    from torch._inductor.utils import run_and_get_code

    operation, spec, function, sizes = known(wanted)
    compiled, inputs = compiled_and_inputs(spec, function, sizes)
    with torch.no_grad():
        _, sources = run_and_get_code(compiled, *inputs)
    for source in sources:
        for part in source.split("async_compile.triton(")[1:]:
            text = part.split("'''")[1]
            print(f"# {operation} at {' x '.join(str(size) for size in sizes)}")
            lines = text[text.index("@triton.jit"):].rstrip().splitlines()
            print("\n".join(piece for line in lines for piece in folded(line)) + "\n")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def trouble(module):
    """Why a module cannot be imported, or None."""
    try:
        importlib.import_module(module)
    except Exception as error:  # Whatever it does wrong, it cannot be timed.
        return brief(error)
    return None


def brief(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def probe(everything):
    """Says what there is, and returns whether anything can be timed. `everything` also tries the libraries."""
    if torch is None:
        say(unable="PyTorch is not installed for this Python")
        return False
    if not torch.cuda.is_available():
        say(unable="PyTorch finds no CUDA GPU")
        return False
    versions, notes = {"torch": torch.__version__}, []
    for package, module in LIBRARIES.values() if everything else ():
        installed = version(package)
        problem = trouble(module) if installed else None
        if problem:
            notes.append(f"{package} {installed} is installed, and left out: {problem}")
        elif installed:
            versions[package] = installed
    say(device=torch.cuda.get_device_name(0), versions=versions, notes=notes)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("--list", action="store_true", help="name the operations; needs no GPU")
    parser.add_argument("--fused", action="store_true", help="name the kernels that eager and compiled code launch")
    parser.add_argument("--code", action="store_true", help="print the Triton code that torch.compile writes")
    parser.add_argument("operations", nargs="*", metavar="OPERATION=SHAPES")
    options = parser.parse_args()
    if options.list:
        say(operations=list(OPERATIONS))
        return 0
    if not probe(everything=options.probe):
        return 2
    if options.fused or options.code:
        for wanted in options.operations:
            (fused if options.fused else code)(wanted)
        return 0
    if options.operations:
        timer = Timer()
        ceiling(timer)
        torch.cuda.empty_cache()
    for wanted in options.operations:
        operation, _, shapes = wanted.partition("=")
        run(timer, operation, [tuple(int(part) for part in shape.split("x")) for shape in shapes.split(",") if shape])
    return 0


if __name__ == "__main__":
    sys.exit(main())
