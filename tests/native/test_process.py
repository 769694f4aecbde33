"""What a call does to its process: forks, Ctrl-C, memory, the state of the processor."""

import signal
import subprocess
import sys
import textwrap
import time


def run(code, timeout=120):
    """``code`` in a process of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_child_of_another_librarys_team_runs_on_one_thread():
    # The team is OpenMP's and shared with torch: the first call of ours may be in the child.
    run(
        """
        import os, torch, clearhead as ch
        torch.set_num_threads(4)
        torch.matmul(torch.randn(800, 800), torch.randn(800, 800))
        ch.set_threads(4)
        import clearhead.core.fused
        child = os.fork()
        if not child:
            x = torch.randn(1, 8, 256, 64)
            ch.attention(x, x, x)
            os._exit(0 if ch.machine().threads == 1 else 3)
        assert os.waitpid(child, 0)[1] == 0
        assert ch.machine().threads == 4
        """,
        timeout=60,
    )


def test_ctrl_c_ends_a_long_call():
    code = """
        import numpy as np, clearhead as ch
        x = np.zeros((1, 1_000_000, 64), np.float32)
        print("ready", flush=True)
        try:
            ch.attention(x, x, x)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)  # the whole call would take minutes
    assert said == "interrupted\n"
    assert process.returncode == 0


def test_thirty_thousand_tokens_fit_in_little_memory():
    grown = run(
        """
        import numpy as np, clearhead as ch
        n = 32768
        x = np.random.default_rng(0).standard_normal((3, 1, n, 64)).astype(np.float32)
        small = x[:, :, :64]
        observe = ch.Observe(top=8, map=256)
        ch.attention(*small, observe=observe)

        def peak():
            for line in open("/proc/self/status"):
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) * 1024

        before = peak()
        out, seen = ch.attention(*x, observe=observe)
        outputs = out.nbytes + seen.top_keys.nbytes + seen.top_weights.nbytes + seen.map.nbytes
        assert seen.map.shape == (1, 256, 256)
        assert abs(seen.map.sum(-1) - 1).max() < 1e-4
        print(peak() - before - outputs)
        """,
        timeout=600,
    )
    assert int(grown) < 200e6


def test_small_numbers_stay_numbers_after_a_call():
    # The workers flush numbers below the normal range to zero; the caller's state comes back.
    run(
        """
        import numpy as np, clearhead as ch
        tiny = np.full(4, 1e-40, np.float32)
        x = np.random.default_rng(0).standard_normal((1, 8, 128, 32)).astype(np.float32)
        ch.attention(x, x, x)
        assert (tiny * np.float32(0.5) != 0).all()
        """
    )
