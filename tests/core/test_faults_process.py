"""Faults of other software, as kinds: results that wander, forks that hang, memory that grows."""

import subprocess
import sys
import textwrap

import numpy as np
import torch

import clearhead as ch
from support.cases import same_bits
from support.observations import everything


def run(code):
    """``code`` in a process of its own, which may not take longer than a minute."""
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60)


def test_the_same_call_gives_the_same_bits(attention, rng):
    q, k, v = (rng.standard_normal((2, 4, 150, 32)).astype(np.float32) for _ in "qkv")
    observe = everything()
    first, seen = attention(q, k, v, mask=ch.causal(), observe=observe)
    for _ in range(30):
        again, seen_again = attention(q, k, v, mask=ch.causal(), observe=observe)
        assert again.tobytes() == first.tobytes()
        assert same_bits(seen_again, seen)


def test_the_same_backward_gives_the_same_bits(attention):
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 40, 16, requires_grad=True) for _ in "qkv")

    def gradients():
        out = attention(q, k, v, mask=ch.causal())
        return [g.clone() for g in torch.autograd.grad(out.sum(), (q, k, v))]

    first = gradients()
    for _ in range(30):
        assert all(torch.equal(a, b) for a, b in zip(gradients(), first, strict=True))


def test_a_fork_after_use_does_not_hang():
    run(
        """
        import multiprocessing, numpy as np, clearhead as ch
        ch.set_threads(4)
        x = np.random.default_rng(0).standard_normal((2, 8, 256, 64)).astype(np.float32)
        before = ch.attention(x, x, x)

        def child():
            assert ch.attention(x, x, x).tobytes() == before.tobytes()

        context = multiprocessing.get_context("fork")
        for _ in range(2):
            process = context.Process(target=child)
            process.start()
            process.join(20)
            assert process.exitcode == 0, process.exitcode
        assert ch.attention(x, x, x).tobytes() == before.tobytes()
        """
    )


def test_a_worker_of_a_data_loader_may_call():
    run(
        """
        import torch, clearhead as ch
        ch.set_threads(4)
        x = torch.randn(1, 8, 256, 64)
        torch.matmul(torch.randn(512, 512), torch.randn(512, 512))
        before = ch.attention(x, x, x)

        class Dataset(torch.utils.data.Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                return ch.attention(x, x, x)

        loader = torch.utils.data.DataLoader(
            Dataset(), num_workers=2, timeout=20, multiprocessing_context="fork"
        )
        for out in loader:
            assert torch.equal(out[0], before)
        """
    )


def test_calls_from_two_threads_do_not_share_anything():
    run(
        """
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np, clearhead as ch
        ch.set_threads(4)
        rng = np.random.default_rng(0)
        inputs = [rng.standard_normal((1, 4, n, 32)).astype(np.float32) for n in (64, 200, 333, 70)]
        observe = ch.Observe(top=3, entropy=True, received=True)

        def call(x):
            out, seen = ch.attention(x, x, x, mask=ch.causal(), observe=observe)
            return out.tobytes() + seen.top_keys.tobytes() + seen.received.tobytes()

        alone = [call(x) for x in inputs]
        with ThreadPoolExecutor(4) as pool:
            for _ in range(20):
                assert list(pool.map(call, inputs)) == alone
        """
    )


def test_memory_does_not_grow_with_calls_of_varying_shapes():
    run(
        """
        import numpy as np, clearhead as ch
        rng = np.random.default_rng(0)
        base = rng.standard_normal((1, 2, 1024, 16)).astype(np.float32)
        observe = ch.Observe(top=2, entropy=True)

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * 4096

        def calls(count):
            for size in rng.integers(128, 1025, count):
                x = base[:, :, :size]
                window = ch.window(int(size) % 50, 0, offset=int(size) % 7)
                mask = window & ch.lengths(keys=[size - 1])
                ch.attention(x, x, x, mask=mask, observe=observe)
                ch.attention(x[:, :, :1], x, x, mask=ch.causal(offset=int(size)))

        calls(300)
        before = resident()
        calls(1000)
        grown = resident() - before
        assert grown < 8 << 20, grown
        """
    )
