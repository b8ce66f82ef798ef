"""Run-time control: command language, decision unit and its workers [JPL-RTC]."""
