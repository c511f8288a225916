"""Who runs when: one queue for the whole machine, a fresh child process for every run."""

from profcore.jobs.children import WORKER
from profcore.jobs.queue import JobRunner
from profcore.jobs.runs import Limits
from profcore.jobs.view import JobView

__all__ = ["WORKER", "JobRunner", "JobView", "Limits"]
