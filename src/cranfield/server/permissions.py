"""Permissions: one table, from which the routes, the tests and the page of the docs are made.

A route that is not in this table does not exist: `create_app` makes its routes from here, and a
handler without a rule, or a rule without a handler, is an error when the site starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cranfield.campaign.workflow import PUBLISHED, STATES

ROLES = {
    "P": "the public",
    "N": "a person with an account",
    "T": "member of a team",
    "L": "lead of a team",
    "A": "assessor",
    "C": "crowd worker or model, by token",
    "J": "adjudicator",
    "O": "organiser",
    "S": "administrator of the site",
}
# What a token of a person or team is good for, as the pages say where one is made.
SCOPES = {
    "submit": "check, submit and withdraw runs, list them, get the public data",
    "read": "read what its owner may read, change nothing",
    "all": "all that its owner may do",
}
ALL_ROLES = frozenset("PNTLACJOS")
# Teams register while runs are taken; their members join until the results are out.
OPEN = frozenset({"open"})
RUNNING = frozenset(STATES) - PUBLISHED - {"draft"}
# Crowd workers have no account, and take part in nothing else.
ALL_BUT_C = " ".join(sorted(ALL_ROLES - {"C"}))


_SUBMITTING = frozenset({"api.check", "api.run.put", "api.run.delete"})
_ABOUT_SUBMITTING = frozenset({"api.runs", "api.public"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One route: who may use it, and in which states of the campaign.

    `who` may in the states of `when` (all of them unless said otherwise), `always` in any state.
    A page that the roles of a request do not allow is forbidden (403); with `hidden` it looks as
    if it did not exist (404). `confirmed` asks for the password again. A draft is the organiser's,
    but for the pages of those who make its truth (`drafts`): that may come long before the call.
    """

    name: str
    method: str
    path: str
    who: frozenset[str]
    about: str
    when: frozenset[str] = frozenset(STATES)
    always: frozenset[str] = frozenset()
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
        if "P" in self.who:
            return frozenset(SCOPES)
        if self.name in _SUBMITTING:
            return frozenset({"submit", "all"})
        if self.name in _ABOUT_SUBMITTING:
            return frozenset(SCOPES)
        return frozenset({"read", "all"} if self.method == "GET" else {"all"})

    @property
    def has_campaign(self) -> bool:
        return self.path.startswith("/{c}") or "/campaigns/{c}" in self.path

    def allows(self, roles: frozenset[str], state: str | None) -> bool:
        """Whether a person with these roles may use the route while a campaign is in a state."""
        if roles & self.always:
            return True
        if state == "draft" and "O" not in roles and not self.drafts:
            return False
        return bool(roles & self.who) and (state is None or state in self.when)


def _rule(name: str, route: str, letters: str, about: str, **options: object) -> Rule:
    method, _, path = route.partition(" ")
    roles = frozenset(letters.replace("all", " ".join(ALL_ROLES)).split())
    return Rule(name, method, path, roles, about, **options)  # type: ignore[arg-type]


_SITE = (
    _rule("home", "GET /", "all", "the campaigns of this site"),
    _rule("health", "GET /healthz", "all", "is the site up"),
    _rule("style", "GET /static/site.css", "all", "the style of all pages"),
    _rule("login.form", "GET /login", "all", "log in"),
    _rule("login", "POST /login", "all", "log in"),
    _rule("logout", "POST /logout", "N", "log out"),
    _rule("confirm.form", "GET /confirm", "N", "enter the password again"),
    _rule("confirm", "POST /confirm", "N", "enter the password again"),
    _rule("account", "GET /account", "N", "one's own account and tokens"),
    _rule("account.token", "POST /account/tokens", "N", "a token for programs", confirmed=True),
    _rule("account.revoke", "POST /account/tokens/{id}/revoke", "N", "revoke one's own token"),
    _rule("account.password", "POST /account/password", "N", "change one's own password"),
    _rule("account.session", "POST /account/sessions/{id}/end", "N", "end one's own session"),
    _rule("admin", "GET /admin", "S", "people, roles, backups"),
    _rule("admin.person", "POST /admin/people", "S", "add a person"),
    _rule("admin.disable", "POST /admin/people/{id}/disable", "S", "close an account"),
    _rule(
        "admin.password",
        "POST /admin/people/{id}/password",
        "S",
        "a new password for a person",
        confirmed=True,
    ),
    _rule("admin.role", "POST /admin/people/{id}/role", "S", "give or take a role"),
    _rule("admin.audit", "GET /admin/audit", "S", "the audit, and whether it is whole"),
    _rule("admin.backup", "POST /admin/backup", "S", "make a backup"),
)
_TAKING_PART = (
    _rule("campaign", "GET /{c}", "all", "a campaign: its tasks, dates and state"),
    _rule("call", "GET /{c}/call", "all", "the call for participation"),
    _rule("register.form", "GET /{c}/register", ALL_BUT_C, "register a team", when=OPEN),
    _rule(
        "register",
        "POST /{c}/register",
        ALL_BUT_C,
        "register a team and sign the licence",
        when=OPEN,
    ),
    _rule("join.form", "GET /{c}/join/{link}", ALL_BUT_C, "join a team by its link", when=RUNNING),
    _rule("join", "POST /{c}/join/{link}", ALL_BUT_C, "join a team by its link", when=RUNNING),
    _rule("licence.form", "GET /{c}/licence", "N", "read and sign the licence"),
    _rule("licence", "POST /{c}/licence", "N", "sign the licence"),
    _rule("data", "GET /{c}/data", "T L O", "the public data, after signing"),
    _rule("data.file", "GET /{c}/data/{file:path}", "T L O", "a file of the public data"),
    _rule("submit.form", "GET /{c}/submit", "T L O", "submit a run"),
    _rule("submit", "POST /{c}/submit", "T L O", "submit or check a run"),
    _rule("runs", "GET /{c}/runs", "T L O", "own runs and receipts"),
    _rule(
        "run", "GET /{c}/runs/{id}", "T L O", "one's own run, its receipt and state", hidden=True
    ),
    _rule("run.file", "GET /{c}/runs/{id}/file", "T L O", "the file of one's own run", hidden=True),
    _rule("run.withdraw", "POST /{c}/runs/{id}/withdraw", "L O", "withdraw a run"),
    _rule("team", "GET /{c}/team", "T L", "one's own team"),
    _rule("team.change", "POST /{c}/team", "L", "change what is said of the team"),
    _rule("team.invite", "POST /{c}/team/invitation", "L", "a new link to join by"),
    _rule("team.remove", "POST /{c}/team/members/{id}/remove", "L", "remove a member"),
    _rule("token.add", "POST /{c}/team/tokens", "L", "a token for programs"),
    _rule("token.revoke", "POST /{c}/team/tokens/{id}/revoke", "L", "revoke a token"),
)
_RESULTS = tuple(
    _rule(name, f"GET /{{c}}/results{path}", "all", about, when=PUBLISHED, always=frozenset("O"))
    for name, path, about in (
        ("results", "", "the tasks that have results"),
        ("results.task", "/{t}", "the board of a task"),
        ("results.page", "/{t}/{address:path}", "runs, topics, teams, comparisons, files, ..."),
    )
)
_ORGANISING = tuple(
    _rule(name, f"{method} /{{c}}/organise{path}", "O", about, **more)
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
        ("board.export", "POST", "/export", "write the export of the campaign", {}),
        ("board.export.file", "GET", "/export/{id}", "download an export", {}),
    )
)
_WORK = tuple(
    replace(rule, drafts=True)
    for rule in (
        _rule("work", "GET /{c}/work", "A C J", "the batches one can work on"),
        _rule("work.next", "GET /{c}/work/{b}", "A C J", "what to judge next", hidden=True),
        _rule("work.unit", "GET /{c}/work/{b}/{id}", "A C J", "one's own assignment", hidden=True),
        _rule(
            "work.save", "POST /{c}/work/{b}/{id}", "A C J", "save, skip or put off", hidden=True
        ),
        _rule(
            "work.picture",
            "GET /{c}/work/{b}/{id}/picture",
            "A C J",
            "what is to judge",
            hidden=True,
        ),
        _rule("enter", "GET /{c}/enter/{link}", "all", "begin to work by a link"),
        _rule("survey.form", "GET /{c}/survey/{link}", "all", "a survey, by its link"),
        _rule("survey", "POST /{c}/survey/{link}", "all", "begin a survey"),
        _rule("agreement", "GET /{c}/agreement/{b}", "A J O", "agreement so far", hidden=True),
        _rule("adjudicate", "GET /{c}/adjudicate/{b}", "J O", "what people disagree about"),
        _rule("adjudicate.save", "POST /{c}/adjudicate/{b}", "J O", "decide"),
        _rule("screen", "GET /{c}/screen/{b}", "J O", "the items of a concept as a grid"),
        _rule("screen.picture", "GET /{c}/screen/{b}/picture", "J O", "a picture of the grid"),
        _rule("screen.save", "POST /{c}/screen/{b}", "J O", "correct the items of a concept"),
    )
)
_BATCHES = tuple(
    _rule(name, f"{method} /{{c}}/organise/batches{path}", "O", about)
    for name, method, path, about in (
        ("batches", "GET", "", "the batches of work"),
        ("batches.add", "POST", "", "a new batch"),
        ("batch", "GET", "/{b}", "how a batch goes: done, agreement, people, cost"),
        ("batch.state", "POST", "/{b}/state", "start, pause, close or merge a batch"),
        ("batch.grow", "POST", "/{b}/grow", "more units for a pool, by the value of judging"),
        ("batch.people", "POST", "/{b}/people", "links for workers, programs and surveys"),
        ("batch.person", "POST", "/{b}/people/{id}", "pause a person, or reject and reissue"),
        ("batch.log", "GET", "/{b}/log.csv", "the judgement log with pseudonyms"),
        ("batch.survey", "GET", "/{b}/survey", "the answers to a survey, counted"),
    )
)
_V1 = "/api/v1"
_API = (
    # First, as they are asked for most: addresses are tried in this order.
    _rule("api.work.next", f"GET {_V1}/work/next", "C", "what to judge next"),
    _rule("api.work.put", f"PUT {_V1}/work/{{id}}", "C", "save a judgement"),
    _rule("api.work.skip", f"POST {_V1}/work/{{id}}/skip", "C", "skip or put off"),
    _rule("api.work.comment", f"POST {_V1}/work/{{id}}/comment", "C", "remark something"),
    _rule("api.campaign", f"GET {_V1}/campaigns/{{c}}", "all", "a campaign"),
    _rule("api.state", f"POST {_V1}/campaigns/{{c}}/state", "O", "move a campaign"),
    _rule("api.task", f"GET {_V1}/tasks/{{t}}", "all", "a task"),
    _rule("api.public", f"GET {_V1}/tasks/{{t}}/public.tar.gz", "T L O", "the public data"),
    _rule("api.check", f"POST {_V1}/tasks/{{t}}/check", "T L O", "check a run; stores nothing"),
    _rule("api.runs", f"GET {_V1}/tasks/{{t}}/runs", "T L O", "one's own runs"),
    _rule("api.run.put", f"PUT {_V1}/tasks/{{t}}/runs/{{tag}}", "T L O", "submit a run"),
    _rule("api.run.delete", f"DELETE {_V1}/tasks/{{t}}/runs/{{tag}}", "L O", "withdraw a run"),
    _rule(
        "api.scores",
        f"GET {_V1}/tasks/{{t}}/scores",
        "all",
        "the scores of a task",
        when=PUBLISHED,
        always=frozenset("O"),
    ),
    _rule(
        "api.per_topic",
        f"GET {_V1}/runs/{{id}}/per-topic",
        "all",
        "the values of a run per topic or item",
        when=PUBLISHED,
        always=frozenset("O"),
        hidden=True,
    ),
    _rule("api.job", f"GET {_V1}/jobs/{{id}}", "O S", "a job", hidden=True),
    _rule(
        "api.batch.log", f"GET {_V1}/campaigns/{{c}}/batches/{{b}}/log.csv", "J O", "a batch's log"
    ),
    _rule(
        "api.batch.agreement",
        f"GET {_V1}/campaigns/{{c}}/batches/{{b}}/agreement",
        "J O",
        "the agreement of a batch",
    ),
)
RULES: tuple[Rule, ...] = (
    *_API,
    *_SITE,
    *_BATCHES,
    *_ORGANISING,
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
        "openapi",
        "docs",
    }
)
