"""The answers of Confluence Cloud's REST API, as far as they are read."""

from pydantic import BaseModel, Field


class AnswerLinks(BaseModel):
    next: str = ""
    webui: str = ""


class PageVersion(BaseModel):
    number: int = 0
    created_at: str = Field(default="", alias="createdAt")


class StoredBody(BaseModel):
    value: str = ""


class BodyFormats(BaseModel):
    storage: StoredBody = StoredBody()


class WikiPage(BaseModel):
    id: str
    title: str = ""
    parent_id: str | None = Field(default=None, alias="parentId")
    parent_type: str | None = Field(default=None, alias="parentType")
    version: PageVersion = PageVersion()
    body: BodyFormats = BodyFormats()
    links: AnswerLinks = Field(default=AnswerLinks(), alias="_links")


class WikiSpace(BaseModel):
    id: str
    key: str


class PageAncestor(BaseModel):
    id: str


class WikiPageList(BaseModel):
    results: list[WikiPage]
    links: AnswerLinks = Field(default=AnswerLinks(), alias="_links")


class WikiSpaceList(BaseModel):
    results: list[WikiSpace]
    links: AnswerLinks = Field(default=AnswerLinks(), alias="_links")


class PageAncestorList(BaseModel):
    results: list[PageAncestor]
    links: AnswerLinks = Field(default=AnswerLinks(), alias="_links")


class RestrictedUser(BaseModel):
    account_id: str = Field(default="", alias="accountId")
    email: str | None = None  # only of people whose profile shows it


class RestrictedGroup(BaseModel):
    id: str = ""
    name: str = ""


class RestrictedUsers(BaseModel):
    results: list[RestrictedUser]


class RestrictedGroups(BaseModel):
    results: list[RestrictedGroup]


class RestrictionLists(BaseModel):
    user: RestrictedUsers
    group: RestrictedGroups


class ReadRestriction(BaseModel):
    restrictions: RestrictionLists
