"""Collision-free paths with proof: cells, edges, RRT-Connect, shortcuts, certificates [US5347459]."""

from __future__ import annotations

from telerobot_nodes.cspace.search.cell_cache import CellCache
from telerobot_nodes.cspace.search.cell_search import search_cells
from telerobot_nodes.cspace.search.cells import CellDatabase, named
from telerobot_nodes.cspace.search.certificate import Certificate, certify
from telerobot_nodes.cspace.search.certificate_check import CheckedCertificate, check_certificate
from telerobot_nodes.cspace.search.edge_validation import EdgeValidator, largest_turn
from telerobot_nodes.cspace.search.find_path import Budget, Search, find_path, reseed, search_of
from telerobot_nodes.cspace.search.planner import Outcome, Plan, Planner, PlannerSettings
from telerobot_nodes.cspace.search.shortcut import path_length, path_samples

__all__ = [
    "Budget",
    "CellCache",
    "CellDatabase",
    "Certificate",
    "CheckedCertificate",
    "EdgeValidator",
    "Outcome",
    "Plan",
    "Planner",
    "PlannerSettings",
    "Search",
    "certify",
    "check_certificate",
    "find_path",
    "largest_turn",
    "named",
    "path_length",
    "path_samples",
    "reseed",
    "search_cells",
    "search_of",
]
