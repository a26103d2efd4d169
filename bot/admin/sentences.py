"""The sentences of a person's overview and of the administration, the same in every chat product.

Names and texts of people are put in as they are: each product shortens and escapes them.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Final

from bot.access.limits import MAX_LIMIT
from bot.admin.administration import AuditEntry, BucketOverview, QuestionLimit, local_group_of
from bot.admin.bucket_syncs import BucketSync
from bot.conversation.personal_history import ExportStatus, PastExport, PastQuestion
from bot.ids import EVERYONE, OPERATOR, Subject
from bot.saved_searches.personal_searches import OwnSearch
from bot.translation import translate_message, translate_plural

# -- a person's overview

INTRODUCTION: Final = (
    "I answer questions about your company's documents, and ask back where a question can mean several things."
)
NO_BUCKETS: Final = (
    "No documents are open to you alone yet. In channels you may see more: ask me there, or ask an admin."
)
NO_QUESTIONS: Final = "You have not asked anything yet."
NO_EXPORTS: Final = "You have not asked for a file yet. Under any list there is a button for it."
NO_SAVED_SEARCHES: Final = (
    "You have no saved searches. “Tell me when a new contract arrives” or “every Monday at 9:00: receipts over 5,000” "
    "makes one."
)
STOP_SEARCH_WARNING: Final = "I will not ask this again by myself, and forget what it has found."
CLOSED_EXPORT: Final = "what it lists is not open to you now"
HELP_SENTENCES: Final = (
    "Narrow down as you would with a colleague: “only 2024”, “and from Acme?”. “Start over” forgets what was said.",
    "Where there is too much, I offer buttons. Each says how many documents it leads to.",
    "“As CSV” makes a file of any list, whole, however long it is.",
)
_ENDING_LABELS: Final = {
    None: "being answered",
    "answer": "answered",
    "overload": "asked back",
    "ambiguous": "asked back",
    "no_results": "nothing found",
    "refused": "nothing you may see",
    "failed": "failed",
    "limited": "put off",
    "stopped": "stopped",
}
_EXPORT_STATUS_LABELS: Final = {
    ExportStatus.QUEUED: "waiting",
    ExportStatus.RUNNING: "being written",
    ExportStatus.DONE: "in the conversation where you asked",
    ExportStatus.FAILED: "stopped",
    ExportStatus.EXPIRED: "expired; ask for it again",
}

# -- administration

_CHANGE_LABELS: Final = {
    "grant": "Granted",
    "revoke": "Removed the grant",
    "admin.add": "Added the admin",
    "admin.remove": "Removed the admin",
    "admin.enter": "Opened the admin page by the link",
    "group.create": "Made the group",
    "group.add": "Added to the group",
    "group.remove": "Removed from the group",
    "person.link": "Linked as one person",
    "person.unlink": "Unlinked the person",
    "limits": "Changed the limits",
    "retention": "Changed how long documents are kept in",
    "schema.change": "Changed the schema of",
    "schema.synonym": "Added a synonym to",
    "value.accepted": "Accepted a value in",
    "value.corrected": "Corrected a value in",
    "value.emptied": "Removed a value in",
    "value.withdrawn": "Took a decision on a value back in",
    "source.sync": "Asked for a sync of the source",
    "source.pause": "Paused the source",
    "source.resume": "Resumed the source",
    "source.remove": "Removed the source",
    "token.create": "Made a token for a program of",
    "token.revoke": "Revoked the token of a program of",
    "installation.add": "Installed in the workspace",
    "installation.remove": "Removed from the workspace",
}
LIMIT_LABELS: Final = {
    QuestionLimit.PERSON_HOUR: "per person in an hour",
    QuestionLimit.PERSON_DAY: "per person in 24 hours",
    QuestionLimit.TENANT_HOUR: "by everyone together in an hour",
    QuestionLimit.TENANT_DAY: "by everyone together in 24 hours",
}
_LIMIT_NAMES: Final = {limit.value: label for limit, label in LIMIT_LABELS.items()}
NO_BUCKETS_AT_ALL: Final = "There are no buckets here."
NO_GRANTS: Final = "Nobody may see this bucket yet."
NO_ADMINS: Final = "Nobody yet but the owner of the machine. Name the first in PARLEY_ADMINS."
NO_LIMITS: Final = "Any number of questions may be asked."
EVERYONE_NAME: Final = "Everyone in the organisation, guests not included"
OPERATOR_NAME: Final = "The operator of the machine"
EXTERNAL_NOTE: Final = "guests and other organisations included"
EXTERNAL_OPTION: Final = "Also where guests or other organisations read along"
CHANNEL_HINT: Final = "Whoever can read it may ask there."
ADMIN_FROM_SETTINGS: Final = "named in PARLEY_ADMINS"
REVOKE_WARNING: Final = "They no longer see this bucket from their next question on."
REMOVE_ADMIN_WARNING: Final = "They can no longer change who may see what."
CHANNEL_MISSING: Final = "Choose the channel that this is for, or leave it out."
SUBJECT_MISSING: Final = "Choose somebody who may see this bucket."
GROUP_MISSING: Final = "There is no such group any more."
LIMIT_INVALID: Final = "A whole number from 1 on; leave it empty for any number."
LIMITS_SAVED: Final = "Saved; it holds from the next question on."
PAGE_LINK_NOTE: Final = "This link is for you alone. It opens the admin page once, within ten minutes."
OPEN_PAGE: Final = "Open the admin page"
NO_CHANGES: Final = "Nothing has been changed yet."
NO_LONGER_ADMIN: Final = "You are no longer an admin."


def opaque_key_of(text: str) -> str:
    """Returns a hash to put behind a button. The id itself may be long and is not for the chat product."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def count_with_noun(count: int, noun: str, plural: str = "") -> str:
    """`plural`: of a noun that does not take an "s"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def format_local_time(time: datetime, zone: tzinfo) -> str:
    """Returns the time with the zone's name, because not every client shows the zone of its other times."""
    return f"{time.astimezone(zone):%d %b %Y, %H:%M %Z}"


def ending_label_of(question: PastQuestion) -> str:
    return label_of_ending(question.ending)


def label_of_ending(ending: str | None) -> str:
    return _ENDING_LABELS.get(ending, "answered")


def export_label_of(export: PastExport) -> str:
    """What has become of an export without a link."""
    return _EXPORT_STATUS_LABELS[export.status]


def describe_saved_search(search: OwnSearch, zone: tzinfo) -> str:
    """Returns the line below the question: its number, when it reports, and when next."""
    schedule = "when documents change" if search.watches_changes else search.schedule
    if search.due_at is None:
        state = "paused"
    else:
        due = format_local_time(search.due_at, zone)
        state = f"looks again {due}" if search.watches_changes else f"next {due}"
    return f"Search {search.number} · {schedule} · {state}"


def describe_bucket(bucket: BucketOverview) -> str:
    """Returns the line below the title: how many documents and grants."""
    grants = count_with_noun(len(bucket.grants), "grant")
    if bucket.document_count is None:
        return f"{'this bucket is gone' if bucket.sync is None else 'nothing is loaded'} · {grants}"
    return f"{count_with_noun(bucket.document_count, 'document')} · {grants}"


def describe_sync(bucket: BucketOverview, zone: tzinfo) -> list[str]:
    """Returns what is to be said of the last sync of the bucket's sources, then of the next one. Nothing for a bucket
    that has no source.
    """
    if bucket.sync is None:
        return []
    return [text for text in (_describe_last_sync(bucket.sync, zone), _describe_next_sync(bucket.sync, zone)) if text]


def _describe_last_sync(sync: BucketSync, zone: tzinfo) -> str:
    if sync.ended_at is None:
        return translate_message("not synced yet")
    time, name = format_local_time(sync.ended_at, zone), f"{sync.source}: " if sync.source else ""
    if not (sync.has_failed or sync.is_partial):
        return translate_message("synced {time}", time=time)
    reason = sync.reason or translate_message("only who may see the bucket reads why")
    if sync.is_partial:
        told = translate_message("synced in part at {time}: {reason}", time=time, reason=reason)
    elif sync.succeeded_at is None:
        told = translate_message("could not sync at {time}: {reason} (never synced)", time=time, reason=reason)
    else:
        last = format_local_time(sync.succeeded_at, zone)
        told = translate_message(
            "could not sync at {time}: {reason} (synced last {last})", time=time, reason=reason, last=last
        )
    return name + told + _describe_other_problems(sync.other_problems)


def _describe_other_problems(count: int) -> str:
    if not count:
        return ""
    more = translate_plural(
        "{count} more source has a problem", "{count} more sources have problems", count, count=f"{count:,}"
    )
    return f"; {more}"


def _describe_next_sync(sync: BucketSync, zone: tzinfo) -> str:
    """Empty where the sources are synced only by hand."""
    if sync.is_syncing:
        return translate_message("syncing now")
    if sync.is_due:
        return translate_message("next at once")
    if sync.due_at is not None:
        return translate_message("next at {time}", time=format_local_time(sync.due_at, zone))
    return translate_message("paused") if sync.is_paused else ""


def name_subject(subject: Subject) -> str:
    """Returns a subject that no product knows by name."""
    if subject == EVERYONE:
        return EVERYONE_NAME
    if subject == f"user:{OPERATOR}":
        return OPERATOR_NAME
    group = local_group_of(subject)
    return subject.removeprefix("user:") if group is None else f"Group {group}"


def describe_limits(limits: Mapping[QuestionLimit, int]) -> list[str]:
    """Returns a line for each limit that is set."""
    lines = [
        f"{count_with_noun(limits[limit], 'question')} {label}"
        for limit, label in LIMIT_LABELS.items()
        if limit in limits
    ]
    return lines or [NO_LIMITS]


def describe_meaning(field: str, value: str | None) -> str:
    """What a word stands for: a value of the field, or with `value` None the field itself."""
    label = field.replace("_", " ")
    return f"the field “{label}”" if value is None else f"{label} “{value}”"


def describe_likeness(clicks: int, likeness: float) -> str:
    """Why a word may stand for a value: `clicks` by people after asking, or how alike the meanings are, from 0 to 1."""
    return f"people chose it {clicks:,}×" if clicks else f"similar meaning ({likeness:.2f})"


def parse_limit(text: str) -> int | None:
    """Returns the number of a limit as it was typed; 0 for none, None where it is invalid."""
    typed = text.strip()
    number = int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= 12 else 0
    if not typed:
        return 0
    return number if 1 <= number <= MAX_LIMIT else None


def stale_notice(reopen: str) -> str:
    """`reopen`: what to do to see the present state, such as “open the Home tab again”."""
    return f"This is no longer as it was shown. Nothing was changed; please {reopen}."


def unknown_action_notice(reopen: str) -> str:
    return f"I do not know what this is. Nothing was changed; please {reopen}."


def granted_notice(names: str) -> str:
    return f"{names} may see this bucket now."


def added_admin_notice(name: str, *, is_new: bool) -> str:
    return f"{name} is an admin now." if is_new else f"{name} was an admin already."


def past_questions_heading(title: str, count: int, most: int) -> str:
    """Returns the heading of a list of `count` questions, which has at most `most`."""
    newest = f", the newest {most}" if count >= most else ""
    return f"{title} in the last 30 days{newest}" if count else f"{title}: none"


def describe_change(entry: AuditEntry) -> str:
    """Returns what was changed, with the values that differ before and after; without who did it."""
    before, after = entry.before or {}, entry.after or {}
    changed = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    values = [
        text
        for name in changed
        if not name.endswith("_by") and (text := _describe_new_value(name, before.get(name), after.get(name)))
    ]
    label = _CHANGE_LABELS.get(entry.action, entry.action)
    matter = f": {_name_matter(entry.matter)}" if entry.matter != entry.action else ""
    return f"{label}{matter}" + (f" ({', '.join(values)})" if values else "")


def _name_matter(matter: str) -> str:
    """ "receipts → Group lawyers": a grant with the name of who it is for; anything else as it is."""
    bucket, arrow, subject = matter.rpartition(" → ")
    return f"{bucket}{arrow}{name_subject(Subject(subject))}" if arrow else matter


def _describe_new_value(name: str, before: object, after: object) -> str:
    """The value with its name, before and after. Empty for a new value that is merely off."""
    if name == "include_external":
        return EXTERNAL_NOTE if after else "" if before is None else f"no longer {EXTERNAL_NOTE}"
    limit = _LIMIT_NAMES.get(name)
    absent = "any number of" if limit else "none"
    shown = (before, after) if before is not None else (after,)
    values = " → ".join(
        value if isinstance(value, str) else absent if value is None else json.dumps(value) for value in shown
    )
    return f"{values} questions {limit}" if limit else f"{name.replace('_', ' ')} {values}"
