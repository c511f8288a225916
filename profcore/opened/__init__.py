"""Traces that somebody opened: read in a child process with limits, kept as columns on disk.

Nothing is imported here: the child sets its limits before it loads numpy.
"""
