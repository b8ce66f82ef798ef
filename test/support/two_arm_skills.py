"""Skill files that two arms and a camera do together."""

BRING = """
skill: bring
doc: Bring an arm to a pose that another skill gives.
uses: [arm]
plan: {there: place_pose}
scripts:
  bring:
    - {step: go, do: move_free, target: there, table: motion}
"""

MEET = """
skill: meet
doc: "The camera looks at a place; one arm comes over it, the other arm below the first; the first goes up."
verbs: [meet]
takes: {place: [at]}
uses: [arm, other_arm, camera]
plan:
  high: "compose(shift(place_frame, [0, 0, 1], 0.25), rotate('y', deg(180)))"
  low: "compose(shift(place_frame, [0, 0, 1], 0.20), rotate('y', deg(180)))"
  higher: "compose(shift(place_frame, [0, 0, 1], 0.30), rotate('y', deg(180)))"
scripts:
  meet:
    - {step: see, do: pan, target: place_frame, table: camera_move}
    - {step: first, use: bring, arguments: {there: high}}
    - {step: second, use: bring, arguments: {arm: other_arm, there: low}}
    - {step: apart, use: bring, arguments: {there: higher}}
"""
