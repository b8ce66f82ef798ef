"""One run of a macro that is recorded, whatever its end [US5231693]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from telerobot_nodes.macros.binding import BoundStep, steps_of
from telerobot_nodes.macros.bound_values import Context
from telerobot_nodes.macros.macro_files import MacroFolder
from telerobot_nodes.macros.play import Ended, MacroEnd, StepEnd, play
from telerobot_nodes.macros.run_records import Place, RunRecord, add_record, records_of, require_test


@dataclass(frozen=True)
class RecordedRun:
    """A run of the macro `name` on a robot, by its name; `date` ISO 8601, UTC; `delay` [s] from operator to robot."""

    macros: MacroFolder
    name: str
    arguments: Mapping[str, object]
    robot: str
    date: str
    place: Place = Place.PHYSICS
    delay: float = 0.0
    override: bool = False

    def require_test(self) -> None:
        """Raise NotTestedError unless it was tested with these numbers on this robot, or `override`."""
        require_test(self._record(), records_of(self.macros.folder, self.name))

    def play(
        self,
        context: Callable[[], Context],
        send: Callable[[BoundStep], Ended],
        show: Callable[[StepEnd], None],
        ask: Callable[[int], str] = lambda number: "",
    ) -> MacroEnd:
        """Run it step by step, and record it; `show` gets the end of each step, `ask` is that of `play`."""
        return self.record(lambda: play(steps_of(self.macros, self.name, self.arguments, context), send, show, ask))

    def record(self, run: Callable[[], MacroEnd]) -> MacroEnd:
        """Run it by `run`, and record its end, whatever it is."""
        record = self._record()
        try:
            end = run()
            record = replace(record, succeeded=end.succeeded, reason=end.reason)
        except BaseException as error:
            record = replace(record, reason=str(error) or type(error).__name__)
            raise
        finally:
            add_record(self.macros.folder, record)
        return end

    def _record(self) -> RunRecord:
        """Of a run that has not ended."""
        macro = self.macros.get(self.name)
        return RunRecord(
            macro=self.name,
            version=macro.version,
            hash=self.macros.fingerprint(self.name),
            robot=self.robot,
            arguments=macro.arguments(self.arguments),
            place=self.place,
            delay=self.delay,
            succeeded=False,
            reason="not ended",
            override=self.override,
            date=self.date,
        )
