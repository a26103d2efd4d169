"""The syntax of persons and subjects, as grants, reader lists and admin lists name them."""

import re

_NAME = r"[^\s:\x00-\x1f]{1,200}"
_TEAMS_ID = r"[^\s\x00-\x1f]{1,300}"  # Teams' own ids hold colons: `19:…@thread.tacv2`
PERSON_PATTERN = re.compile(rf"slack:{_NAME}:{_NAME}|teams:{_NAME}:{_TEAMS_ID}|local:{_NAME}")
SUBJECT_PATTERN = re.compile(
    rf"everyone|user:(?:{PERSON_PATTERN.pattern})|channel:slack:{_NAME}:{_NAME}|channel:teams:{_NAME}:{_TEAMS_ID}"
    rf"|team:teams:{_NAME}:{_TEAMS_ID}|group:slack:{_NAME}:{_NAME}|group:teams:{_NAME}:{_TEAMS_ID}|group:{_NAME}"
)
