"""The Qt panel without a screen; skipped where Qt is not installed."""

import os

import pytest

_KEPT = []  # the application: Qt ends with it


def application():
    """The one application of the process, off screen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    widgets = pytest.importorskip("python_qt_binding.QtWidgets", exc_type=ImportError)
    if not _KEPT:
        _KEPT.append(widgets.QApplication(["test"]))
    return _KEPT[0]


def until(condition, limit=60.0):
    """Handle the events of Qt until the condition holds; False after `limit` [s]."""
    from python_qt_binding.QtCore import QEventLoop, QTimer

    loop, held = QEventLoop(), []
    look, end = QTimer(), QTimer()
    look.timeout.connect(lambda: condition() and (held.append(True), loop.quit()))
    end.timeout.connect(loop.quit)
    look.start(20)
    end.setSingleShot(True)
    end.start(int(1000 * limit))
    loop.exec_()
    return bool(held)
