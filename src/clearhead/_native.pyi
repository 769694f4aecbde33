"""The native module, built from native/ by scripts/build; called by core/ alone."""

from typing import Any

def attention(
    kind: int,
    query: Any,
    key: Any,
    value: Any,
    out: Any,
    scale: float,
    softcap: float,
    mask: tuple[Any, ...] | None,
    extras: tuple[Any, ...] | None,
    observe: tuple[Any, ...] | None,
) -> None: ...
def isa() -> str: ...
def isas_built() -> str: ...
def set_threads(count: int) -> None: ...
def threads() -> int: ...
