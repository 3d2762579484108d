"""The report: an offline HTML page with every claim and every figure."""

from widenet.report.build import build, prepare

__all__ = ["build", "prepare"]
