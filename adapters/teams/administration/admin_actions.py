"""Does what the cards of the administration submit, and returns the card that shows the effect."""

from collections.abc import Sequence
from typing import Final

from adapters.teams.administration.card_pages import AdminCards, CardRequest, find_granted_subject
from adapters.teams.administration.grant_cards import CardNotice
from adapters.teams.administration.grant_form import NOT_A_PERSON, GrantForm, read_grant_form, read_typed_person
from adapters.teams.administration.overview_cards import page_link_card
from adapters.teams.administration.saved_search_cards import confirm_stop_card
from adapters.teams.administration.submissions import AdminSubmission
from adapters.teams.administration.viewers import CardViewer
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.administration import AdminOperations, BucketOverview, QuestionLimit
from bot.admin.sentences import (
    LIMIT_INVALID,
    LIMITS_SAVED,
    NO_LONGER_ADMIN,
    added_admin_notice,
    granted_notice,
    opaque_key_of,
    parse_limit,
    stale_notice,
    unknown_action_notice,
)
from bot.errors import AdminRefused, BotError, ConcurrentChange, NotAdmin, SavedSearchRefused
from bot.ids import Subject
from bot.saved_searches.personal_searches import PersonalSearches

_REOPEN: Final = "send “grants” again"
_NOTHING_CHOSEN: Final = "Choose something from the menu first."


class AdminActions:
    """The submission holds keys only: each is looked up among what there is now, as the viewer may see it."""

    def __init__(self, administration: AdminOperations, searches: PersonalSearches, cards: AdminCards) -> None:
        self._administration, self._searches, self._cards = administration, searches, cards

    async def apply_submission(self, viewer: CardViewer, submission: AdminSubmission | None) -> JsonObject:
        """`submission` None: one that Parley does not understand. Raises `BotError` for a refusal without a card."""
        match submission.action if submission else "":
            case "help":
                return await self._cards.load_help_card(viewer)
            case "buckets" if submission:
                return await self._cards.load_own_buckets_card(viewer, submission.first)
            case "saved" | "stop_saved" | "stop_saved_confirmed" | "resume_saved" if submission:
                return await self._apply_to_saved_searches(viewer, submission)
            case "grants" if submission:
                return await self._cards.load_bucket_list_card(viewer, CardRequest(first=submission.first))
            case "bucket" | "grant" | "revoke" | "revoke_confirmed" if submission:
                return await self._apply_to_bucket(viewer, submission)
            case "admins" | "add_admin" | "remove_admin" | "remove_admin_confirmed" if submission:
                return await self._apply_to_admins(viewer, submission)
            case "limits":
                return await self._cards.load_limits_card(viewer)
            case "save_limits" if submission:
                return await self._save_limits(viewer, submission)
            case "questions":
                return await self._cards.load_questions_card(viewer)
            case "changes":
                return await self._cards.load_changes_card(viewer)
            case "report":
                return await self._cards.load_report_card(viewer)
            case "browser":
                return page_link_card(await self._administration.create_page_link(viewer.person))
            case _:
                return await self._show_start(viewer, unknown_action_notice(_REOPEN))

    async def _apply_to_saved_searches(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        notice = None
        try:
            match submission.action:
                case "stop_saved":
                    search = await self._searches.load_search(submission.number, by=viewer.person)
                    return confirm_stop_card(search, submission.first, viewer.time_zone)
                case "stop_saved_confirmed":
                    await self._searches.stop_search(submission.number, by=viewer.person)
                case "resume_saved":
                    await self._searches.resume_search(submission.number, by=viewer.person)
                case _:
                    pass
        except SavedSearchRefused as exc:
            notice = _error_notice(str(exc))
        return await self._cards.load_saved_searches_card(viewer, CardRequest(first=submission.first, notice=notice))

    async def _show_start(self, viewer: CardViewer, sentence: str) -> JsonObject:
        """The list of buckets below an error."""
        return await self._cards.load_bucket_list_card(viewer, CardRequest(notice=_error_notice(sentence)))

    # -- grants

    async def _apply_to_bucket(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        key = submission.bucket or submission.chosen
        if not key:
            return await self._show_start(viewer, _NOTHING_CHOSEN)
        bucket = await self._cards.find_bucket(viewer, key)
        if bucket is None:
            return await self._show_start(viewer, stale_notice(_REOPEN))
        match submission.action:
            case "grant":
                return await self._grant_typed_subjects(viewer, bucket, submission)
            case "revoke":
                return await self._ask_before_revoking(viewer, bucket, submission)
            case "revoke_confirmed":
                return await self._revoke_grant(viewer, bucket, submission)
            case _:
                return await self._cards.load_grants_card(viewer, bucket, CardRequest(first=submission.first))

    async def _grant_typed_subjects(
        self, viewer: CardViewer, bucket: BucketOverview, submission: AdminSubmission
    ) -> JsonObject:
        form = read_grant_form(submission, viewer.tenant, await self._administration.list_groups(viewer.person))
        errors = list(form.errors) or await self._grant_subjects(viewer, bucket, form)
        if errors:
            request = CardRequest(notice=_error_notice(" ".join(errors)), typed=submission)
        else:
            request = CardRequest(notice=CardNotice(sentence=granted_notice(await self._name_subjects(form.subjects))))
        return await self._load_present_grants(viewer, bucket, request)

    async def _grant_subjects(self, viewer: CardViewer, bucket: BucketOverview, form: GrantForm) -> list[str]:
        """Returns the first refusal, if there is one. Raises `NotAdmin`."""
        for subject in form.subjects:
            is_external_grant = form.include_external and subject == form.channel
            try:
                await self._administration.grant_bucket(
                    bucket.id, subject, include_external=is_external_grant, by=viewer.person
                )
            except NotAdmin:
                raise
            except BotError as exc:
                return [str(exc)]
        return []

    async def _ask_before_revoking(
        self, viewer: CardViewer, bucket: BucketOverview, submission: AdminSubmission
    ) -> JsonObject:
        if not submission.chosen:
            request = CardRequest(first=submission.first, notice=_error_notice(_NOTHING_CHOSEN))
            return await self._cards.load_grants_card(viewer, bucket, request)
        subject = find_granted_subject(bucket, submission.chosen)
        if subject is None:  # the present list shows that the grant is gone already
            return await self._cards.load_grants_card(viewer, bucket, CardRequest(first=submission.first))
        return await self._cards.load_confirm_revoke_card(viewer, bucket, subject, submission.first)

    async def _revoke_grant(
        self, viewer: CardViewer, bucket: BucketOverview, submission: AdminSubmission
    ) -> JsonObject:
        subject = find_granted_subject(bucket, submission.key)
        if subject is not None:
            await self._administration.revoke_grant(bucket.id, subject, by=viewer.person)
        return await self._load_present_grants(viewer, bucket, CardRequest(first=submission.first))

    async def _load_present_grants(
        self, viewer: CardViewer, bucket: BucketOverview, request: CardRequest
    ) -> JsonObject:
        present = await self._cards.find_bucket(viewer, opaque_key_of(bucket.id))
        if present is None:
            return await self._show_start(viewer, stale_notice(_REOPEN))
        return await self._cards.load_grants_card(viewer, present, request)

    async def _name_subjects(self, subjects: Sequence[Subject]) -> str:
        return await self._cards.name_subjects(subjects)

    # -- admins

    async def _apply_to_admins(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        match submission.action:
            case "add_admin":
                return await self._add_typed_admin(viewer, submission)
            case "remove_admin":
                return await self._ask_before_removing(viewer, submission)
            case "remove_admin_confirmed":
                return await self._remove_admin(viewer, submission)
            case _:
                return await self._cards.load_admins_card(viewer, CardRequest(first=submission.first))

    async def _add_typed_admin(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        person = read_typed_person(submission.typed_person, viewer.tenant)
        if person is None:
            return await self._show_admins(viewer, _error_notice(NOT_A_PERSON), submission)
        try:
            is_new = await self._administration.add_admin(person, by=viewer.person)
        except NotAdmin:
            raise
        except AdminRefused as exc:
            return await self._show_admins(viewer, _error_notice(str(exc)), submission)
        name = await self._name_subjects([Subject(f"user:{person}")])
        return await self._show_admins(viewer, CardNotice(sentence=added_admin_notice(name, is_new=is_new)))

    async def _ask_before_removing(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        if not submission.chosen:
            return await self._show_admins(viewer, _error_notice(_NOTHING_CHOSEN))
        admin = await self._cards.find_admin(viewer, submission.chosen)
        if admin is None:
            return await self._cards.load_admins_card(viewer, CardRequest(first=submission.first))
        return await self._cards.load_confirm_removal_card(admin, submission.first)

    async def _remove_admin(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        admin = await self._cards.find_admin(viewer, submission.key)
        if admin is not None:
            try:
                await self._administration.remove_admin(admin.person, by=viewer.person)
            except NotAdmin:
                raise
            except AdminRefused as exc:
                return await self._show_admins(viewer, _error_notice(str(exc)))
            if not await self._administration.is_admin(viewer.person):
                raise FormerAdmin()
        return await self._cards.load_admins_card(viewer, CardRequest(first=submission.first))

    async def _show_admins(
        self, viewer: CardViewer, notice: CardNotice, typed: AdminSubmission | None = None
    ) -> JsonObject:
        return await self._cards.load_admins_card(viewer, CardRequest(notice=notice, typed=typed))

    # -- limits

    async def _save_limits(self, viewer: CardViewer, submission: AdminSubmission) -> JsonObject:
        numbers = {limit: parse_limit(submission.typed_limit_of(limit)) for limit in QuestionLimit}
        if None in numbers.values():
            notice = _error_notice(LIMIT_INVALID)
            return await self._cards.load_limits_card(viewer, CardRequest(notice=notice, typed=submission))
        new_limits = {limit: number for limit, number in numbers.items() if number}
        try:
            await self._administration.change_limits(submission.limits, new_limits, by=viewer.person)
            notice = CardNotice(sentence=LIMITS_SAVED)
        except ConcurrentChange as exc:
            notice = _error_notice(str(exc))
        return await self._cards.load_limits_card(viewer, CardRequest(notice=notice))


class FormerAdmin(AdminRefused):
    """The viewer has removed themselves."""

    def __init__(self) -> None:
        super().__init__(NO_LONGER_ADMIN)


def _error_notice(sentence: str) -> CardNotice:
    return CardNotice(sentence=sentence, is_error=True)
