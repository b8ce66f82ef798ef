"""The commands under way, their jobs and resources, and the outputs not yet returned [JPL-RTC section 5]."""

from __future__ import annotations

from telerobot_nodes.rtc.decision.command_record import CommandRecord
from telerobot_nodes.rtc.decision.command_states import Event
from telerobot_nodes.rtc.decision.jobs import ElaborateScript, Job, JobDone, Work
from telerobot_nodes.rtc.decision.messages import Dispatch, Output
from telerobot_nodes.rtc.decision.script_trace import ScriptState
from telerobot_nodes.rtc.language import Define
from telerobot_nodes.rtc.skills import Library, ResourceManager


class CommandTable:
    """State shared by the parts of the decision unit. `now` [s] is the time of the message being handled."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.resources = ResourceManager(library.workcell.resources)
        self.commands: dict[int, CommandRecord] = {}
        self.macros: dict[str, Define] = {}
        self.global_error = ""
        self.out: list[Output] = []
        self.ended_scripts: list[ScriptState] = []  # not yet shown
        self.now = 0.0
        self._jobs: dict[int, int] = {}  # job to command
        self._last_command = self._last_job = self._last_primitive = 0

    def open(self, sender: str, text: str | bytes) -> CommandRecord:
        """Add a command."""
        self._last_command += 1
        shown = text if isinstance(text, str) else repr(text[:80])
        record = CommandRecord(self._last_command, sender, shown, self.now, self.library)
        self.commands[record.number] = record
        return record

    def remove(self, record: CommandRecord) -> None:
        """Delete a command; the answer to its outstanding job will be ignored."""
        del self.commands[record.number]
        self.drop_job(record)

    def dispatch(self, record: CommandRecord, work: Work) -> None:
        """Give a command's next job to a worker."""
        self._last_job += 1
        record.job = self._last_job
        self._jobs[record.job] = record.number
        self.out.append(Dispatch(Job(record.job, record.number, record.library, work)))

    def drop_job(self, record: CommandRecord) -> None:
        """Ignore the answer to the outstanding job of a command."""
        self._jobs.pop(record.job, None)
        record.job = 0

    def waiting_for(self, done: JobDone) -> CommandRecord | None:
        """The command that waits for a worker's answer, or None; removes the job."""
        record = self.commands.get(self._jobs.pop(done.job, 0))
        if record is None or record.job != done.job:
            return None
        record.job = 0
        return record

    def executing(self, primitive: int) -> CommandRecord | None:
        """The command whose current primitive has this number, or None."""
        return next((r for r in self.commands.values() if r.primitive and r.primitive.number == primitive), None)

    def next_primitive(self) -> int:
        """The number for a new primitive."""
        self._last_primitive += 1
        return self._last_primitive

    def grant(self, record: CommandRecord) -> None:
        """A command has its resources: have its script elaborated."""
        record.go(Event.GRANTED)
        if record.request is not None:
            self.dispatch(record, ElaborateScript(record.request))

    def take(self) -> list[Output]:
        """The outputs collected since the last call."""
        out, self.out = self.out, []
        return out
