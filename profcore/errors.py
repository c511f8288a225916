"""Every error that a person may see.

ProfcoreError
├── InputError            what was given is at fault; the command line ends with 2
│   ├── TraceError        not a trace, damaged, or larger than allowed
│   ├── ExperimentError   a knob out of range, or more than this device can do
│   └── RecordingError    a recording is missing or incomplete
└── RunError              the run could not be made; the command line ends with 1
    ├── QueueFullError    too many runs are waiting
    └── MachineBusyError  another run holds the machine

A message is one sentence that says what is wrong, where, and what to do.
"""


class ProfcoreError(Exception):
    """Base of all errors whose message is written for the user."""


class InputError(ProfcoreError):
    """What the user gave is at fault."""


class TraceError(InputError):
    """The file is not a trace that can be opened."""


class ExperimentError(InputError):
    """A knob is out of range, or the experiment is too much for this device."""


class RecordingError(InputError):
    """There is no such recording, or a part of it is missing."""


class RunError(ProfcoreError):
    """The run could not be made."""


class QueueFullError(RunError):
    """As many runs are waiting as this server allows."""


class MachineBusyError(RunError):
    """Another run holds the machine for longer than this one may wait."""
