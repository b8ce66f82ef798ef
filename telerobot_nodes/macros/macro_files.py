"""The operator's folder of macros: a YAML file each, read strictly; errors name file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from telerobot_nodes.core.config import Spot, build, read_yaml
from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError
from telerobot_nodes.macros.bound_values import expressions_of
from telerobot_nodes.macros.macro import CONTEXT, Macro, MacroStep, fingerprint
from telerobot_nodes.rtc.language import did_you_mean
from telerobot_nodes.rtc.skills import ExpressionError


class NoMacroError(TelerobotError):
    """There is no macro of this name."""


DEEPEST = 50  # macros in macros
OWN = Path("macros")  # the operator's folder, below the working directory


@dataclass(frozen=True)
class MacroFolder:
    """The macros of a folder by name, and the error of each file that cannot be read."""

    folder: Path
    macros: Mapping[str, Macro]
    broken: Mapping[str, ParameterFileError]

    def get(self, name: str) -> Macro:
        """The macro of this name. Raises NoMacroError, or the ParameterFileError of its file."""
        if name in self.broken:
            raise self.broken[name]
        if name not in self.macros:
            hint = did_you_mean(name, self.macros) or f"there are: {', '.join(self.macros) or 'none'}"
            raise NoMacroError(f"no macro is called {name!r} in {self.folder}; {hint}")
        return self.macros[name]

    def closure(self, name: str) -> tuple[Macro, ...]:
        """The macro and all that it uses, itself last. Raises NoMacroError, ParameterFileError: also of a cycle."""
        found: dict[str, Macro] = {}
        self._collect(self.get(name), (), found, {})
        return tuple(found.values())

    def fingerprint(self, name: str) -> str:
        """Hash of the macro and all that it uses."""
        return fingerprint(self.closure(name))

    def _collect(self, macro: Macro, above: tuple[str, ...], found: dict[str, Macro], depths: dict[str, int]) -> None:
        """Add a macro to `found`, after those that it uses. `depths`: macros below each that was found, and itself."""
        above = (*above, macro.name)
        depths[macro.name] = 1
        for step in (step for step in macro.steps if step.macro):
            if step.macro in above:
                step.source.reject("macro", f"a cycle: {' -> '.join((*above, step.macro))}")
            if len(above) + depths.get(step.macro, 1) > DEEPEST:
                step.source.reject("macro", f"macros use one another at most {DEEPEST} deep")
            if step.macro not in found:
                self._collect(self._used(step), above, found, depths)
            depths[macro.name] = max(depths[macro.name], 1 + depths[step.macro])
        found[macro.name] = macro

    def _used(self, step: MacroStep) -> Macro:
        try:
            return self.get(step.macro)
        except NoMacroError as error:
            step.source.reject("macro", str(error))


def check_name(name: str) -> None:
    """Raise InvalidValueError unless a new macro may be called so."""
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        raise InvalidValueError("name", name, "allowed: letters, digits and _")


def read_macros(folder: Path) -> MacroFolder:
    """Every macro of a folder; a broken file does not hide the others. Raises NoMacroError: there is no folder."""
    if not folder.is_dir():
        raise NoMacroError(f"there is no folder {folder}")
    macros: dict[str, Macro] = {}
    broken: dict[str, ParameterFileError] = {}
    for file in sorted(folder.glob("*.yaml")):
        try:
            macros[file.stem] = read_macro(file)
        except ParameterFileError as error:
            broken[file.stem] = error
    return MacroFolder(folder, macros, broken)


def read_macro(file: Path) -> Macro:
    """The macro of one file. Raises ParameterFileError."""
    macro = build(Macro, read_yaml(file), Spot(str(file)))
    if macro.name != file.stem:
        macro.source.reject("macro", f"{macro.name!r} is not allowed; allowed: {file.stem}, the name of its file")
    for step in macro.steps:
        _check_names(macro, step)
    return macro


def _check_names(macro: Macro, step: MacroStep) -> None:
    """Refuse an expression with an unknown name."""
    known = (*macro.parameters, *CONTEXT)
    for key, value in (("text", step.text), *step.values.items()):
        try:
            used = [name for expression in expressions_of(value) for name in sorted(expression.names - set(known))]
        except ExpressionError as error:
            step.reject(key, str(error))
        if used:
            step.reject(
                key, f"nothing is called {used[0]!r}; {did_you_mean(used[0], known) or 'known: ' + ', '.join(known)}"
            )
