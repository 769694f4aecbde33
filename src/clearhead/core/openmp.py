"""The native module, told whose OpenMP it shares."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from clearhead import _native

__all__ = ["native", "openmp_of_torch"]


def openmp_of_torch() -> str:
    """The file of the OpenMP library that torch brings, or "" where torch is not installed.

    Its wheels keep one in ``torch/lib`` or beside the package, in some releases under a name of its
    own. torch is looked up, not imported. The native module opens that copy, not the system's, so
    that both have one team of threads, whichever is imported first.

    >>> "libgomp" in openmp_of_torch() or openmp_of_torch() == ""
    True
    """
    try:
        spec = find_spec("torch")
    except (ImportError, ValueError):  # something else goes by that name
        return ""
    for package in (spec and spec.submodule_search_locations) or ():
        for folder in (os.path.join(package, "lib"), os.path.join(package, "..", "torch.libs")):
            try:
                names = sorted(os.listdir(folder))
            except OSError:
                continue
            for name in names:
                if name.startswith("libgomp") and ".so" in name:
                    return os.path.normpath(os.path.join(folder, name))
    return ""


native: Any = _native
native.use_openmp(openmp_of_torch())
