"""Tokens that say what they are: a table of prefixes and the exact shape of what follows.

A row is (kind, prefixes, body). N, W and H are the usual alphabets. Of rows that match at one place the longest match
takes it, then the first row. Checksums that some issuers append are not asked for: prefix and length leave no doubt,
and a token with one wrong letter still tells most of the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .plausible import is_filler
from .view import FILL, Secret, opens

N, W, H = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-f]"
UUID = f"{H}{{8}}-{H}{{4}}-{H}{{4}}-{H}{{4}}-{H}{{12}}"

FORMS: tuple[tuple[str, str, str], ...] = (
    ("age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    ("aws access key id", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}"),
    ("aws secret key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
    ("google key", "AIza", f"{W}{{35}}"),
    ("google key", "GOCSPX-", f"{W}{{28}}"),
    ("google key", "ya29.", f"{W}{{20,}}"),
    ("google key", "1//0", f"{W}{{40,}}"),
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{N}{{36,255}}"),
    ("github token", "github_pat_", f"{N}{{22}}_{N}{{59}}"),
    (
        "gitlab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- gloas-",
        f"[\\w.-]{{19,300}}{N}",
    ),
    ("gitlab token", "GR1348941", f"{W}{{20}}"),
    ("slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd-", f"(?:{N}++-)*+[A-Za-z0-9%]{{20,}}"),
    ("slack token", "xapp-", f"\\d-{N}+-\\d+-{N}{{32,}}"),
    ("slack token", "xoxe- xoxe.xoxp- xoxe.xoxb-", f"\\d-{N}{{60,}}"),
    ("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", f"{N}{{16,247}}"),
    ("stripe key", "whsec_", "[A-Za-z0-9+/]{32,64}={0,2}"),
    ("twilio key", "SK", f"{H}{{32}}"),
    ("sendgrid key", "SG.", f"{W}{{16,32}}\\.{W}{{32,64}}"),
    ("mailgun key", "key- pubkey-", f"{H}{{32}}"),
    ("brevo key", "xkeysib- xsmtpsib-", f"{H}{{64}}-{N}{{16}}"),
    ("anthropic key", "sk-ant-", f"{N}{{3,12}}-{W}{{40,}}"),
    ("openrouter key", "sk-or-v1-", f"{H}{{64}}"),
    ("langfuse key", "sk-lf-", UUID),
    ("openai key", "sk-proj- sk-svcacct- sk-admin- sk-None-", f"{W}{{20,}}"),
    ("openai key", "sk-", f"{N}{{32,64}}"),
    ("openai key", "sess-", f"{N}{{40}}"),
    ("hugging face token", "hf_ api_org_", "[A-Za-z0-9]{34,40}"),
    ("groq key", "gsk_", f"{N}{{52}}"),
    ("xai key", "xai-", f"{N}{{70,90}}"),
    ("perplexity key", "pplx-", f"{N}{{40,64}}"),
    ("replicate token", "r8_", f"{N}{{37}}"),
    ("nvidia key", "nvapi-", f"{W}{{60,72}}"),
    ("cerebras key", "csk-", "[a-z0-9]{48}"),
    ("fireworks key", "fw_", f"{N}{{24}}"),
    ("pinecone key", "pcsk_", "[A-Za-z0-9_]{60,80}"),
    ("tavily key", "tvly-", f"{W}{{32,}}"),
    ("langsmith key", "lsv2_pt_ lsv2_sk_", f"{H}{{32}}_{H}{{10}}"),
    ("weights and biases key", "wandb_v1_", f"{W}{{60,}}"),
    ("elevenlabs key", "sk_", f"{H}{{48}}"),
    ("npm token", "npm_", f"{N}{{36}}"),
    ("pypi token", "pypi-AgE", f"{W}{{50,}}"),
    ("docker token", "dckr_pat_ dckr_oat_", f"{W}{{27,36}}"),
    ("rubygems key", "rubygems_", f"{H}{{48}}"),
    ("nuget key", "oy2", "[a-z0-9]{43}"),
    ("crates.io token", "cio", f"{N}{{32}}"),
    ("artifactory key", "AKCp", f"{N}{{69}}"),
    ("clojars token", "CLOJARS_", f"{H}{{60}}"),
    ("vault token", "hvs. hvb. hvr.", f"{W}{{24,}}"),
    ("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", f"{H}{{64}}"),
    ("shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_", "[0-9a-fA-F]{32}"),
    ("square token", "sq0atp- sq0csp- sq0idb-", f"{W}{{22,43}}"),
    ("facebook token", "EAA", f"{N}{{90,}}"),
    ("square token", "EAAA", f"{W}{{60}}"),
    ("heroku key", "HRKU-", f"(?:{UUID}|{W}{{58,66}})"),
    ("cloudflare token", "v1.0-", f"{H}{{24}}-{H}{{146}}"),
    ("atlassian token", "ATATT3 ATCTT3 ATSTT3", "[A-Za-z0-9_=-]{60,1000}"),
    ("atlassian token", "ATBB", f"{N}{{32}}"),
    ("notion token", "ntn_", f"{N}{{40,60}}"),
    ("notion token", "secret_", f"{N}{{43}}"),
    ("linear key", "lin_api_ lin_oauth_", f"{N}{{40,64}}"),
    ("new relic key", "NRAK- NRIQ- NRSP-", "[A-Z0-9]{27}"),
    ("new relic key", "NRII- NRJS- NRAA-", f"{W}{{19,64}}"),
    ("grafana token", "glsa_", f"{N}{{32}}_[0-9A-Fa-f]{{8}}"),
    ("grafana token", "glc_eyJ", "[A-Za-z0-9+/]{40,1000}={0,2}"),
    ("sentry token", "sntryu_", f"{H}{{64}}"),
    ("sentry token", "sntrys_eyJ", "[A-Za-z0-9+/=_-]{60,1000}"),
    ("postman key", "PMAK-", f"{H}{{24}}-{H}{{34}}"),
    ("figma token", "figd_ figo_ figu_", f"{W}{{36,48}}"),
    ("airtable token", "pat", f"{N}{{14}}\\.{H}{{64}}"),
    ("hubspot token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", UUID),
    ("databricks token", "dapi", f"{H}{{32}}(?:-\\d)?"),
    ("planetscale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", f"[\\w.=-]{{31,63}}{N}"),
    ("pulumi token", "pul-", f"{H}{{40}}"),
    ("supabase token", "sbp_ sb_secret_", f"{W}{{31,48}}"),
    ("doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", f"(?:[a-z0-9_-]+\\.)?{N}{{40,44}}"),
    ("1password token", "ops_eyJ", "[A-Za-z0-9+/=_-]{80,2000}"),
    ("tailscale key", "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-", f"{N}{{8,24}}-{N}{{16,64}}"),
    ("sonarqube token", "sqp_ squ_ sqa_", f"{H}{{40}}"),
    ("dynatrace token", "dt0c01. dt0s16.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    ("buildkite token", "bkua_ bkat_", f"{H}{{40}}"),
    ("circleci token", "CCIPAT_ CCIPRJ_", f"{N}{{16,32}}_{H}{{40}}"),
    ("netlify token", "nfp_", f"{N}{{36}}"),
    ("fly.io token", "FlyV1 fm2_ fo1_", "[A-Za-z0-9_+/=,-]{40,1000}"),
    ("easypost key", "EZAK EZTK", f"{N}{{54}}"),
    ("mapbox token", "sk.eyJ", f"{W}{{40,}}\\.{W}{{16,}}"),
    ("typeform token", "tfp_", f"{W}{{40,64}}"),
    ("dropbox token", "sl.", f"{W}{{100,}}"),
    ("shippo token", "shippo_live_ shippo_test_", f"{H}{{40}}"),
    ("braintree token", "access_token$production$", f"[0-9a-z]{{16}}\\${H}{{32}}"),
    ("openshift token", "sha256~", f"{W}{{43}}"),
    ("postgres api key", "neon_ napi_", f"{N}{{48,72}}"),
    ("prefect key", "pnu_ pnb_", f"{N}{{36}}"),
    ("contentful token", "CFPAT-", f"{W}{{43}}"),
    ("jwt", "eyJ", f"{W}{{8,}}\\.eyJ{W}{{8,}}\\.{W}{{16,}}"),
    ("jwt", "eyJ", f"{W}{{8,}}(?:\\.{W}+){{4}}"),
)


@dataclass(frozen=True, slots=True)
class Form:
    kind: str
    prefixes: tuple[str, ...]
    body: re.Pattern[str]


def compiled() -> tuple[Form, ...]:
    ends = f"(?!-?[A-Za-z0-9_{FILL}])"
    return tuple(Form(kind, tuple(prefixes.split()), re.compile(body + ends, re.A)) for kind, prefixes, body in FORMS)


_PREFIXED = tuple((prefix, form) for form in compiled() for prefix in form.prefixes)


def formed(view: str) -> Iterator[Secret]:
    """Every token of the table; those of different rows may overlap."""
    for prefix, form in _PREFIXED:
        if prefix in view:
            yield from _with_prefix(view, form, prefix)


def _with_prefix(view: str, form: Form, prefix: str) -> Iterator[Secret]:
    start = view.find(prefix)
    while start >= 0:
        after = start + len(prefix)
        body = form.body.match(view, after) if opens(view, start) else None
        if body is not None and not is_filler(body.group()):
            yield Secret(form.kind, start, body.end())
            after = body.end()
        start = view.find(prefix, after)
