"""Permissions: one table, from which the routes, the tests and the page of the docs are made.

A route that is not in this table does not exist: `create_app` makes its routes from here, and a
handler without a rule, or a rule without a handler, is an error when the site starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cranfield.campaign.workflow import PUBLISHED, STATES


class Role(StrEnum):
    """What a person or program is on the site or in a campaign; the store keeps the letters."""

    PUBLIC = "P"
    ACCOUNT = "N"
    MEMBER = "T"
    LEAD = "L"
    ASSESSOR = "A"
    WORKER = "C"
    ADJUDICATOR = "J"
    ORGANISER = "O"
    ADMINISTRATOR = "S"


ROLES = {
    Role.PUBLIC: "the public",
    Role.ACCOUNT: "a person with an account",
    Role.MEMBER: "member of a team",
    Role.LEAD: "lead of a team",
    Role.ASSESSOR: "assessor",
    Role.WORKER: "crowd worker or model, by token",
    Role.ADJUDICATOR: "adjudicator",
    Role.ORGANISER: "organiser",
    Role.ADMINISTRATOR: "administrator of the site",
}
# What a token of a person or team is good for, as the pages say where one is made.
SCOPES = {
    "submit": "check, submit and withdraw runs, list them, get the public data",
    "read": "read what its owner may read, change nothing",
    "all": "all that its owner may do",
}
ALL_ROLES = frozenset(Role)
ACCOUNTS = frozenset({Role.ACCOUNT})
TEAMS = frozenset({Role.MEMBER, Role.LEAD})
LEADS = frozenset({Role.LEAD})
WORKERS = frozenset({Role.WORKER})
ASSESSORS = frozenset({Role.ASSESSOR, Role.WORKER, Role.ADJUDICATOR})
ADJUDICATORS = frozenset({Role.ADJUDICATOR})
ORGANISERS = frozenset({Role.ORGANISER})
ADMINISTRATORS = frozenset({Role.ADMINISTRATOR})
# Crowd workers have no account, and take part in nothing else.
ALL_BUT_WORKERS = ALL_ROLES - WORKERS
# Teams register while runs are taken; their members join until the results are out.
OPEN = frozenset({"open"})
RUNNING = frozenset(STATES) - PUBLISHED - {"draft"}

_SUBMITTING = frozenset({"api.check", "api.run.put", "api.run.delete"})
_ABOUT_SUBMITTING = frozenset({"api.runs", "api.public"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One route: who may use it, and in which states of the campaign.

    `roles` may in the states of `when` (by default all of them), those in `always` in any state.
    A page that the roles of a request do not allow is forbidden (403); with `hidden` it looks as
    if it did not exist (404). `confirmed` asks for the password again. A draft is the organiser's,
    but for the pages of those who make its truth (`drafts`): that may come long before the call.
    """

    name: str
    method: str
    path: str
    roles: frozenset[Role]
    about: str
    when: frozenset[str] = frozenset(STATES)
    always: frozenset[Role] = frozenset()
    hidden: bool = False
    confirmed: bool = False
    drafts: bool = False

    @property
    def is_api(self) -> bool:
        return self.path.startswith("/api/")

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes of tokens that the route takes; tokens are for programs and open no page."""
        if not self.is_api:
            return frozenset()
        if Role.PUBLIC in self.roles:
            return frozenset(SCOPES)
        if self.name in _SUBMITTING:
            return frozenset({"submit", "all"})
        if self.name in _ABOUT_SUBMITTING:
            return frozenset(SCOPES)
        return frozenset({"read", "all"} if self.method == "GET" else {"all"})

    @property
    def has_campaign(self) -> bool:
        return self.path.startswith("/{c}") or "/campaigns/{c}" in self.path

    def allows(self, roles: frozenset[Role], state: str | None) -> bool:
        """Whether a person with these roles may use the route while a campaign is in a state."""
        if roles & self.always:
            return True
        if state == "draft" and Role.ORGANISER not in roles and not self.drafts:
            return False
        return bool(roles & self.roles) and (state is None or state in self.when)


def _rule(name: str, route: str, roles: frozenset[Role], about: str, **options: object) -> Rule:
    method, _, path = route.partition(" ")
    return Rule(name, method, path, roles, about, **options)  # type: ignore[arg-type]


_SITE = (
    _rule("home", "GET /", ALL_ROLES, "the campaigns of this site"),
    _rule("health", "GET /healthz", ALL_ROLES, "is the site up"),
    _rule("style", "GET /static/site.css", ALL_ROLES, "the style of all pages"),
    _rule("api.page", "GET /api", ALL_ROLES, "the interface for programs, to be read"),
    _rule("login.form", "GET /login", ALL_ROLES, "log in"),
    _rule("login", "POST /login", ALL_ROLES, "log in"),
    _rule("logout", "POST /logout", ACCOUNTS, "log out"),
    _rule("confirm.form", "GET /confirm", ACCOUNTS, "enter the password again"),
    _rule("confirm", "POST /confirm", ACCOUNTS, "enter the password again"),
    _rule("account", "GET /account", ACCOUNTS, "one's own account and tokens"),
    _rule(
        "account.token", "POST /account/tokens", ACCOUNTS, "a token for programs", confirmed=True
    ),
    _rule("account.revoke", "POST /account/tokens/{id}/revoke", ACCOUNTS, "revoke one's own token"),
    _rule("account.password", "POST /account/password", ACCOUNTS, "change one's own password"),
    _rule("account.session", "POST /account/sessions/{id}/end", ACCOUNTS, "end one's own session"),
    _rule("account.email", "POST /account/email", ACCOUNTS, "one's own address for e-mail"),
    _rule("verify", "GET /verify/{link}", ALL_ROLES, "verify an address for e-mail, by a link"),
    _rule("verify.done", "POST /verify/{link}", ALL_ROLES, "verify an address, by a link"),
    _rule("forgot.form", "GET /forgot", ALL_ROLES, "ask for a link to a new password"),
    _rule("forgot", "POST /forgot", ALL_ROLES, "ask for a link to a new password"),
    _rule("new.form", "GET /new", ORGANISERS | ADMINISTRATORS, "make a campaign"),
    _rule("new", "POST /new", ORGANISERS | ADMINISTRATORS, "make a campaign from files"),
    _rule("admin", "GET /admin", ADMINISTRATORS, "people, roles, backups"),
    _rule("admin.person", "POST /admin/people", ADMINISTRATORS, "add a person"),
    _rule("admin.disable", "POST /admin/people/{id}/disable", ADMINISTRATORS, "close an account"),
    _rule(
        "admin.password",
        "POST /admin/people/{id}/password",
        ADMINISTRATORS,
        "a new password for a person",
        confirmed=True,
    ),
    _rule(
        "admin.link",
        "POST /admin/people/{id}/link",
        ADMINISTRATORS,
        "a link by which a person sets a new password",
        confirmed=True,
    ),
    _rule("reset.form", "GET /reset/{link}", ALL_ROLES, "set a new password, by a link"),
    _rule("reset", "POST /reset/{link}", ALL_ROLES, "set a new password, by a link"),
    _rule("admin.role", "POST /admin/people/{id}/role", ADMINISTRATORS, "give or take a role"),
    _rule("admin.audit", "GET /admin/audit", ADMINISTRATORS, "the audit, and whether it is whole"),
    _rule("admin.site", "POST /admin/site", ADMINISTRATORS, "the name and the text of the site"),
    _rule("admin.backup", "POST /admin/backup", ADMINISTRATORS, "make a backup"),
)
_TAKING_PART = (
    _rule("campaign", "GET /{c}", ALL_ROLES, "a campaign: its tasks, dates and state"),
    _rule("feed", "GET /{c}/feed.xml", ALL_ROLES, "the news of a campaign as an Atom feed"),
    _rule("sample", "GET /{c}/sample/{id}", ALL_ROLES, "a sample picture"),
    _rule(
        "example",
        "GET /{c}/example/{t}",
        TEAMS | ORGANISERS,
        "a submission that the check takes, after signing",
    ),
    _rule("call", "GET /{c}/call", ALL_ROLES, "the call for participation"),
    _rule("register.form", "GET /{c}/register", ALL_BUT_WORKERS, "register a team", when=OPEN),
    _rule(
        "register",
        "POST /{c}/register",
        ALL_BUT_WORKERS,
        "register a team and sign the licence",
        when=OPEN,
    ),
    _rule(
        "join.form",
        "GET /{c}/join/{link}",
        ALL_BUT_WORKERS,
        "join a team by its link",
        when=RUNNING,
    ),
    _rule(
        "join", "POST /{c}/join/{link}", ALL_BUT_WORKERS, "join a team by its link", when=RUNNING
    ),
    _rule(
        "invited.form",
        "GET /{c}/invited/{link}",
        ALL_BUT_WORKERS,
        "take a role by an invitation",
        drafts=True,
    ),
    _rule(
        "invited",
        "POST /{c}/invited/{link}",
        ALL_BUT_WORKERS,
        "take a role by an invitation",
        drafts=True,
    ),
    _rule("licence.form", "GET /{c}/licence", ACCOUNTS, "read and sign the licence"),
    _rule("licence", "POST /{c}/licence", ACCOUNTS, "sign the licence"),
    _rule("data", "GET /{c}/data", TEAMS | ORGANISERS, "the public data, after signing"),
    _rule(
        "data.file", "GET /{c}/data/{file:path}", TEAMS | ORGANISERS, "a file of the public data"
    ),
    _rule("submit.form", "GET /{c}/submit", TEAMS | ORGANISERS, "submit a run"),
    _rule("submit", "POST /{c}/submit", TEAMS | ORGANISERS, "submit or check a run"),
    _rule("runs", "GET /{c}/runs", TEAMS | ORGANISERS, "own runs and receipts"),
    _rule(
        "run",
        "GET /{c}/runs/{id}",
        TEAMS | ORGANISERS,
        "one's own run, its receipt and state",
        hidden=True,
    ),
    _rule(
        "run.file",
        "GET /{c}/runs/{id}/file",
        TEAMS | ORGANISERS,
        "the file of one's own run",
        hidden=True,
    ),
    _rule("run.withdraw", "POST /{c}/runs/{id}/withdraw", LEADS | ORGANISERS, "withdraw a run"),
    _rule("team", "GET /{c}/team", TEAMS, "one's own team"),
    _rule("team.change", "POST /{c}/team", LEADS, "change what is said of the team"),
    _rule("team.invite", "POST /{c}/team/invitation", LEADS, "a new link to join by"),
    _rule("team.remove", "POST /{c}/team/members/{id}/remove", LEADS, "remove a member"),
    _rule("token.add", "POST /{c}/team/tokens", LEADS, "a token for programs"),
    _rule("token.revoke", "POST /{c}/team/tokens/{id}/revoke", LEADS, "revoke a token"),
)
_LIVE = (
    _rule("live.first", "GET /{c}/live", ALL_ROLES, "the live board of the first task"),
    _rule("live", "GET /{c}/live/{t}", ALL_ROLES, "the live board of a task"),
)
_RESULTS = tuple(
    _rule(name, f"GET /{{c}}/results{path}", ALL_ROLES, about, when=PUBLISHED, always=ORGANISERS)
    for name, path, about in (
        ("results", "", "the tasks that have results"),
        ("results.task", "/{t}", "the board of a task"),
        ("results.page", "/{t}/{address:path}", "runs, topics, teams, comparisons, files, ..."),
    )
)
_ORGANISING = tuple(
    _rule(name, f"{method} /{{c}}/organise{path}", ORGANISERS, about, **more)
    for name, method, path, about, more in (
        ("board", "GET", "", "the organiser's board", {}),
        ("board.state", "POST", "/state", "move the campaign to another state", {}),
        ("board.settings.form", "GET", "/settings", "dates, licence, call, quota", {}),
        ("board.settings", "POST", "/settings", "change dates, licence, call, quota", {}),
        ("board.truth", "POST", "/truth", "a new version of the truth", {"confirmed": True}),
        ("board.rescore", "POST", "/rescore", "score every run again", {}),
        ("board.retry", "POST", "/jobs/{id}/retry", "try a failed job again", {}),
        ("board.run", "GET", "/runs/{id}", "a run with its scores and problems", {}),
        ("board.disqualify", "POST", "/runs/{id}/disqualify", "disqualify a run", {}),
        ("board.role", "POST", "/roles", "give or take a role in this campaign", {}),
        ("preview", "GET", "/preview", "the overview as another role sees it", {}),
        ("people", "GET", "/people", "contacts, invitations, merging teams, webhooks", {}),
        (
            "people.contacts",
            "GET",
            "/people/contacts.csv",
            "the list of contacts",
            {"confirmed": True},
        ),
        ("people.invite", "POST", "/people/invitations", "invite people", {}),
        ("people.merge", "POST", "/people/merge", "make two teams one", {}),
        ("people.webhook", "POST", "/people/webhooks", "tell a program what happens", {}),
        ("people.unhook", "POST", "/people/webhooks/{id}/remove", "remove a webhook", {}),
        ("plan", "GET", "/plan", "what the scores so far can show, and what more would cost", {}),
        ("phases", "GET", "/phases", "phases, the live part, late runs", {}),
        ("phases.put", "POST", "/phases", "add or change a phase", {}),
        ("phases.remove", "POST", "/phases/{id}/remove", "remove a phase without runs", {}),
        ("phases.live", "POST", "/phases/live", "choose what a live board is scored on", {}),
        ("phases.extend", "POST", "/phases/late", "take late runs of a team", {}),
        ("board.announce", "POST", "/announcements", "announce something to everybody", {}),
        (
            "board.unsay",
            "POST",
            "/announcements/{id}/withdraw",
            "take an announcement back",
            {},
        ),
        ("board.export", "POST", "/export", "write the export of the campaign", {}),
        ("board.export.file", "GET", "/export/{id}", "download an export", {}),
    )
)
_WORK = tuple(
    replace(rule, drafts=True)
    for rule in (
        _rule("work", "GET /{c}/work", ASSESSORS, "the batches one can work on"),
        _rule("work.next", "GET /{c}/work/{b}", ASSESSORS, "what to judge next", hidden=True),
        _rule(
            "work.unit", "GET /{c}/work/{b}/{id}", ASSESSORS, "one's own assignment", hidden=True
        ),
        _rule(
            "work.save", "POST /{c}/work/{b}/{id}", ASSESSORS, "save, skip or put off", hidden=True
        ),
        _rule(
            "work.picture",
            "GET /{c}/work/{b}/{id}/picture",
            ASSESSORS,
            "what is to judge",
            hidden=True,
        ),
        _rule("enter", "GET /{c}/enter/{link}", ALL_ROLES, "begin to work by a link"),
        _rule("survey.form", "GET /{c}/survey/{link}", ALL_ROLES, "a survey, by its link"),
        _rule("survey", "POST /{c}/survey/{link}", ALL_ROLES, "begin a survey"),
        _rule(
            "agreement",
            "GET /{c}/agreement/{b}",
            frozenset({Role.ASSESSOR}) | ADJUDICATORS | ORGANISERS,
            "agreement so far",
            hidden=True,
        ),
        _rule(
            "adjudicate",
            "GET /{c}/adjudicate/{b}",
            ADJUDICATORS | ORGANISERS,
            "what people disagree about",
        ),
        _rule("adjudicate.save", "POST /{c}/adjudicate/{b}", ADJUDICATORS | ORGANISERS, "decide"),
        _rule(
            "review",
            "GET /{c}/review/{b}",
            ADJUDICATORS | ORGANISERS,
            "a sample of what one person did",
        ),
        _rule(
            "review.save",
            "POST /{c}/review/{b}",
            ADJUDICATORS | ORGANISERS,
            "confirm or correct a form",
        ),
        _rule(
            "screen",
            "GET /{c}/screen/{b}",
            ADJUDICATORS | ORGANISERS,
            "the items of a concept as a grid",
        ),
        _rule(
            "screen.picture",
            "GET /{c}/screen/{b}/picture",
            ADJUDICATORS | ORGANISERS,
            "a picture of the grid",
        ),
        _rule(
            "screen.save",
            "POST /{c}/screen/{b}",
            ADJUDICATORS | ORGANISERS,
            "correct the items of a concept",
        ),
    )
)
_BATCHES = tuple(
    _rule(name, f"{method} /{{c}}/organise/batches{path}", ORGANISERS, about)
    for name, method, path, about in (
        ("batches", "GET", "", "the batches of work"),
        ("batches.add", "POST", "", "a new batch"),
        ("batch", "GET", "/{b}", "how a batch goes: done, agreement, people, cost"),
        ("batch.state", "POST", "/{b}/state", "start, pause, close or merge a batch"),
        ("batch.grow", "POST", "/{b}/grow", "more units for a pool, by the value of judging"),
        ("batch.people", "POST", "/{b}/people", "links for workers, programs and surveys"),
        ("batch.person", "POST", "/{b}/people/{id}", "pause a person, or reject and reissue"),
        ("batch.log", "GET", "/{b}/log.csv", "the judgement log with pseudonyms"),
        ("batch.ledger", "GET", "/{b}/ledger.csv", "drawn units with their probabilities"),
        ("batch.survey", "GET", "/{b}/survey", "the answers to a survey, counted"),
    )
)
_V1 = "/api/v1"
_API = (
    # First, as they are asked for most: addresses are tried in this order.
    _rule("api.work.next", f"GET {_V1}/work/next", WORKERS, "what to judge next"),
    _rule("api.work.put", f"PUT {_V1}/work/{{id}}", WORKERS, "save a judgement"),
    _rule("api.work.skip", f"POST {_V1}/work/{{id}}/skip", WORKERS, "skip or put off"),
    _rule("api.work.comment", f"POST {_V1}/work/{{id}}/comment", WORKERS, "remark something"),
    _rule("api.campaign", f"GET {_V1}/campaigns/{{c}}", ALL_ROLES, "a campaign"),
    _rule("api.state", f"POST {_V1}/campaigns/{{c}}/state", ORGANISERS, "move a campaign"),
    _rule("api.task", f"GET {_V1}/tasks/{{t}}", ALL_ROLES, "a task"),
    _rule(
        "api.public", f"GET {_V1}/tasks/{{t}}/public.tar.gz", TEAMS | ORGANISERS, "the public data"
    ),
    _rule(
        "api.check",
        f"POST {_V1}/tasks/{{t}}/check",
        TEAMS | ORGANISERS,
        "check a run; stores nothing",
    ),
    _rule("api.runs", f"GET {_V1}/tasks/{{t}}/runs", TEAMS | ORGANISERS, "one's own runs"),
    _rule("api.run.put", f"PUT {_V1}/tasks/{{t}}/runs/{{tag}}", TEAMS | ORGANISERS, "submit a run"),
    _rule(
        "api.run.delete",
        f"DELETE {_V1}/tasks/{{t}}/runs/{{tag}}",
        LEADS | ORGANISERS,
        "withdraw a run",
    ),
    _rule(
        "api.scores",
        f"GET {_V1}/tasks/{{t}}/scores",
        ALL_ROLES,
        "the scores of a task",
        when=PUBLISHED,
        always=ORGANISERS,
    ),
    _rule(
        "api.per_topic",
        f"GET {_V1}/runs/{{id}}/per-topic",
        ALL_ROLES,
        "the values of a run per topic or item",
        when=PUBLISHED,
        always=ORGANISERS,
        hidden=True,
    ),
    _rule("api.job", f"GET {_V1}/jobs/{{id}}", ORGANISERS | ADMINISTRATORS, "a job", hidden=True),
    _rule(
        "api.batch.log",
        f"GET {_V1}/campaigns/{{c}}/batches/{{b}}/log.csv",
        ADJUDICATORS | ORGANISERS,
        "a batch's log",
    ),
    _rule(
        "api.batch.agreement",
        f"GET {_V1}/campaigns/{{c}}/batches/{{b}}/agreement",
        ADJUDICATORS | ORGANISERS,
        "the agreement of a batch",
    ),
)
RULES: tuple[Rule, ...] = (
    *_API,
    *_SITE,
    *_BATCHES,
    *_ORGANISING,
    *_LIVE,
    *_RESULTS,
    *_WORK,
    *_TAKING_PART,
)
# First parts of addresses that no campaign can be called.
RESERVED = frozenset(
    {
        "login",
        "logout",
        "confirm",
        "account",
        "admin",
        "api",
        "static",
        "healthz",
        "reset",
        "verify",
        "forgot",
        "new",
        "openapi",
        "docs",
    }
)
