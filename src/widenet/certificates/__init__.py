"""Certificates: which theorems apply to your data, what they guarantee, and what training really does.

Names are loaded on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widenet.certificates.certificate import Certificate, Findings
    from widenet.certificates.making import certify

_MODULE_OF = {
    "Certificate": "widenet.certificates.certificate",
    "Findings": "widenet.certificates.certificate",
    "certify": "widenet.certificates.making",
}

__all__ = ["Certificate", "Findings", "certify"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet.certificates' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
