"""Loads what the cards show at this moment. Each card of the administration is refused to all but admins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adapters.teams.administration.grant_cards import (
    CardNotice,
    bucket_grants_card,
    bucket_list_card,
    confirm_revoke_card,
    shown_grants,
)
from adapters.teams.administration.overview_cards import (
    BUCKETS_IN_HELP,
    OWN_BUCKETS_PER_PAGE,
    help_card,
    own_buckets_card,
)
from adapters.teams.administration.people_cards import (
    CHANGES_IN_CARD,
    QUESTIONS_PER_LIST,
    admins_card,
    changes_card,
    confirm_removal_card,
    limits_card,
    past_questions_card,
    shown_admins,
    subject_of_admin,
    subject_of_change,
)
from adapters.teams.administration.report_card import REPORT_DAYS_SHOWN, report_card
from adapters.teams.administration.saved_search_cards import saved_searches_card
from adapters.teams.administration.subject_names import load_subject_names
from adapters.teams.administration.submissions import AdminSubmission
from adapters.teams.administration.viewers import CardViewer
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminEntry, AdminOperations, BucketOverview
from bot.admin.person_names import ProfileSource
from bot.admin.sentences import opaque_key_of
from bot.conversation.personal_history import PersonalHistory
from bot.ids import Subject
from bot.saved_searches.personal_searches import PersonalSearches
from bot.surface.inbound import PrivateAudience


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRequest:
    """What to show with a list: its page, what to say above it, and what a refused form held."""

    first: int = 0
    notice: CardNotice | None = None
    typed: AdminSubmission | None = None


_FIRST_PAGE = CardRequest()
T = TypeVar("T")


class AdminCards:
    """Raises `NotAdmin` for what is the administration's, and what the index and the database raise."""

    def __init__(
        self,
        administration: AdminOperations,
        personal_history: PersonalHistory,
        searches: PersonalSearches,
        reports: AdminReports,
        profiles: ProfileSource,
    ) -> None:
        self._administration, self._personal_history, self._profiles = administration, personal_history, profiles
        self._searches, self._reports = searches, reports

    # -- for everybody

    async def load_help_card(self, viewer: CardViewer) -> JsonObject:
        overview = await self._personal_history.load_overview(_audience_of(viewer), max_buckets=BUCKETS_IN_HELP)
        is_admin = await self._administration.is_admin(viewer.person)
        return help_card(overview, viewer.time_zone, is_admin=is_admin)

    async def load_own_buckets_card(self, viewer: CardViewer, first: int = 0) -> JsonObject:
        overview = await self._personal_history.load_overview(
            _audience_of(viewer), offset=first, max_buckets=OWN_BUCKETS_PER_PAGE
        )
        return own_buckets_card(overview, first)

    async def load_saved_searches_card(self, viewer: CardViewer, request: CardRequest = _FIRST_PAGE) -> JsonObject:
        searches = await self._searches.list_searches(viewer.person)
        return saved_searches_card(searches, request.first, viewer.time_zone, request.notice)

    # -- for admins

    async def load_bucket_list_card(self, viewer: CardViewer, request: CardRequest = _FIRST_PAGE) -> JsonObject:
        buckets = await self._administration.list_buckets(viewer.person)
        return bucket_list_card(buckets, request.first, viewer.time_zone, request.notice)

    async def load_grants_card(
        self, viewer: CardViewer, bucket: BucketOverview, request: CardRequest = _FIRST_PAGE
    ) -> JsonObject:
        groups = await self._administration.list_groups(viewer.person)
        subjects = [grant.subject for grant in shown_grants(bucket, request.first)]
        return bucket_grants_card(
            bucket,
            request.first,
            groups=groups,
            names=await load_subject_names(subjects, self._profiles),
            zone=viewer.time_zone,
            notice=request.notice,
            typed=request.typed,
        )

    async def load_confirm_revoke_card(
        self, viewer: CardViewer, bucket: BucketOverview, subject: Subject, first: int
    ) -> JsonObject:
        name = (await load_subject_names([subject], self._profiles))[subject]
        return confirm_revoke_card(bucket, subject, name, first, viewer.time_zone)

    async def load_admins_card(self, viewer: CardViewer, request: CardRequest = _FIRST_PAGE) -> JsonObject:
        admins = await self._administration.list_admins(viewer.person)
        subjects = [subject_of_admin(admin) for admin in shown_admins(admins, request.first)]
        names = await load_subject_names(subjects, self._profiles)
        return admins_card(admins, request.first, names, notice=request.notice, typed=request.typed)

    async def load_confirm_removal_card(self, admin: AdminEntry, first: int) -> JsonObject:
        subject = subject_of_admin(admin)
        return confirm_removal_card(admin, (await load_subject_names([subject], self._profiles))[subject], first)

    async def load_limits_card(self, viewer: CardViewer, request: CardRequest = _FIRST_PAGE) -> JsonObject:
        limits = await self._administration.list_limits(viewer.person)
        return limits_card(limits, notice=request.notice, typed=request.typed)

    async def load_questions_card(self, viewer: CardViewer) -> JsonObject:
        unanswered = await self._administration.list_unanswered_questions(viewer.person, QUESTIONS_PER_LIST)
        badly_rated = await self._administration.list_badly_rated_questions(viewer.person, QUESTIONS_PER_LIST)
        return past_questions_card(unanswered, badly_rated)

    async def load_changes_card(self, viewer: CardViewer) -> JsonObject:
        changes = await self._administration.list_changes(viewer.person, CHANGES_IN_CARD)
        names = await load_subject_names([subject_of_change(change) for change in changes], self._profiles)
        return changes_card(changes, names, viewer.time_zone)

    async def load_report_card(self, viewer: CardViewer) -> JsonObject:
        """Takes some seconds on many questions."""
        return report_card(await self._reports.load_report(REPORT_DAYS_SHOWN, viewer.person, is_fresh=False))

    # -- what a key stands for

    async def find_bucket(self, viewer: CardViewer, key: str) -> BucketOverview | None:
        return _find_by_key(await self._administration.list_buckets(viewer.person), key, lambda bucket: bucket.id)

    async def find_admin(self, viewer: CardViewer, key: str) -> AdminEntry | None:
        return _find_by_key(await self._administration.list_admins(viewer.person), key, lambda admin: admin.person)

    async def name_subjects(self, subjects: Sequence[Subject]) -> str:
        names = await load_subject_names(subjects, self._profiles)
        return " · ".join(names[subject] for subject in subjects)


def find_granted_subject(bucket: BucketOverview, key: str) -> Subject | None:
    grant = _find_by_key(bucket.grants, key, lambda grant: grant.subject)
    return None if grant is None else grant.subject


def _find_by_key(entries: Sequence[T], key: str, id_of: Callable[[T], str]) -> T | None:
    return next((entry for entry in entries if opaque_key_of(id_of(entry)) == key), None)


def _audience_of(viewer: CardViewer) -> PrivateAudience:
    return PrivateAudience(person=viewer.person, is_guest=True)
