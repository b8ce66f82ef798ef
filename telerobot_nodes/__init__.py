"""Telerobot: drive robot arms well over any delay.

graph        the node graph as one table          supervisor  starts, watches, stops it
core         shared values and mathematics        plan        queue, clutches, log, executor
simulation   forward simulation, delay            motion      compliant motion, fusion law
cspace       collision-free paths, force field    rtc         command language, decision unit
operator     devices, client, review              hardware    MuJoCo and real arms
nodes        the only room that knows ROS         bench, cli  measurements, the command
"""

from telerobot_nodes.compiled import use_cache as _use_cache

__version__ = "0.1.0"

_use_cache()  # before anything imports Numba
