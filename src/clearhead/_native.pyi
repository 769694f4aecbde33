"""The native module, built from native/ by scripts/build; called by core/ alone."""

from collections.abc import Callable
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
def plain(
    query: Any,
    key: Any,
    value: Any,
    scale: float | None,
    mask: Any,
    resolve: Callable[..., Any],
    observe: Callable[..., Any] | None = None,
) -> Any | None: ...
def use_numpy(array: type, empty: Any, dtypes: tuple[Any, ...]) -> None: ...
def use_torch(tensor: type, exchange_api: Any) -> None: ...
def isa() -> str: ...
def isas_built() -> str: ...
def set_threads(count: int) -> None: ...
def threads() -> int: ...
