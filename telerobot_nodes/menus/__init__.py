"""Menus as data: files with menus and leaves; a leaf's form is made from its primitive or macro [US5231693]."""

from __future__ import annotations

from telerobot_nodes.menus.leaf import FormRefusedError, Leaf, leaf_of
from telerobot_nodes.menus.menu import Ask, Entry, Menu
from telerobot_nodes.menus.menu_files import MenuFolder, NoMenuError, ReadMenu, folder_of, read_menu, read_menus
from telerobot_nodes.menus.sequence_files import add_step, sequence_folder, with_step

__all__ = [
    "Ask",
    "Entry",
    "FormRefusedError",
    "Leaf",
    "Menu",
    "MenuFolder",
    "NoMenuError",
    "ReadMenu",
    "add_step",
    "folder_of",
    "leaf_of",
    "read_menu",
    "read_menus",
    "sequence_folder",
    "with_step",
]
