"""Synthetic secrets and look-alikes for the corpus, built at test time from parts and a fixed seed.

No file of the project holds a whole token, so that no scanner of a code host is set off. A corpus line holds places:
`⟦name⟧` is replaced by what MAKERS makes, `⟦kind=text⟧` by the text itself, and `⏎` is a line break.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PLACE = re.compile("⟦([^⟧]*)⟧")
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text and the secrets in it, as (kind, start, end)."""

    text: str
    secrets: tuple[tuple[str, int, int], ...]


def run(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def made(*parts: str | tuple[str, int]) -> Callable[[random.Random], str]:
    """A maker of texts from fixed parts and random runs."""
    return lambda rng: "".join(part if isinstance(part, str) else run(rng, *part) for part in parts)


def pem(label: str, *, lines: int = 8, newline: str = "\n", header: str = "") -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        body = [run(rng, BASE64, 64) for _ in range(lines)] + [run(rng, BASE64, 30) + "=="]
        begin, end = ("-----" + word + " " + label + "-----" for word in ("BEGIN", "END"))
        return newline.join([begin, *([header, ""] if header else []), *body, end])

    return make


def web_token(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": rng.choice(["HS256", "RS256"]), "typ": "JWT"})
    return f"{head}.{part({'sub': run(rng, string.digits, 10), 'iat': rng.randrange(10**9)})}.{run(rng, WORD, 43)}"


def card(first: str, length: int, groups: tuple[int, ...] = (), separator: str = " ") -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        digits = first + run(rng, string.digits, length - len(first) - 1)
        doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits))]
        digits += str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)
        cuts = [sum(groups[:place]) for place in range(len(groups))] or [0]
        return separator.join(digits[start:end] for start, end in zip(cuts, [*cuts[1:], length], strict=True))

    return make


def basic(rng: random.Random) -> str:
    return base64.b64encode(f"svc-{run(rng, HEX, 4)}:{run(rng, ALNUM, 14)}".encode()).decode()


def some_uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


MAKERS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "pem-rsa": ("private key", pem("RSA PRIVATE KEY")),
    "pem-pkcs8": ("private key", pem("PRIVATE KEY")),
    "pem-ec": ("private key", pem("EC PRIVATE KEY", lines=2)),
    "pem-escaped": ("private key", pem("PRIVATE KEY", newline="\\n")),
    "pem-indented": ("private key", pem("PRIVATE KEY", newline="\n    ")),
    "pem-encrypted": (
        "private key",
        pem("RSA PRIVATE KEY", header="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,9F0A"),
    ),
    "pem-openssh": ("private key", pem("OPENSSH PRIVATE KEY")),
    "pem-pgp": ("private key", pem("PGP PRIVATE KEY BLOCK", header="Version: GnuPG v2")),
    "age": ("age key", made("AGE-SECRET-", "KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
    "aws-id": ("aws access key id", made("AK", "IA", (string.ascii_uppercase + "234567", 16))),
    "aws-session-id": ("aws access key id", made("AS", "IA", (string.ascii_uppercase + "234567", 16))),
    "aws-secret": ("aws secret key", made("k7", (BASE64, 38))),
    "google-api": ("google key", made("AI", "za", (WORD, 34), "Q")),
    "google-client": ("google key", made("GOC", "SPX-", (WORD, 27), "d")),
    "google-token": ("google key", made("ya", "29.a0", (WORD, 120), "k")),
    "azure-storage": ("azure key", made("Zq3", (BASE64, 83), "==")),
    "azure-bus": ("azure key", made("h8", (BASE64, 41), "=")),
    "azure-sas": ("azure key", made("b4", (ALNUM, 16), "%2B", (ALNUM, 22), "%3D")),
    "azure-client": ("azure key", made((ALNUM, 3), "8", "Q~", (ALNUM + "_.-", 33), "x")),
    "github-classic": ("github token", made("gh", "p_", (ALNUM, 36))),
    "github-oauth": ("github token", made("gh", "o_", (ALNUM, 36))),
    "github-app": ("github token", made("gh", "s_", (ALNUM, 36))),
    "github-fine": ("github token", made("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    "gitlab": ("gitlab token", made("gl", "pat-", (WORD, 19), "z")),
    "gitlab-runner": ("gitlab token", made("gl", "rt-", (WORD, 19), "z")),
    "slack-bot": ("slack token", made("xo", "xb-", ("123456789", 12), "-", ("123456789", 13), "-", (ALNUM, 24))),
    "slack-user": ("slack token", made("xo", "xp-", ("123456789", 12), "-", ("123456789", 12), "-", (HEX, 32))),
    "slack-app": ("slack token", made("xa", "pp-1-A0", (UPPER, 9), "-", ("123456789", 13), "-", (HEX, 64))),
    "slack-hook": ("slack webhook", made("T0", (UPPER, 9), "/B0", (UPPER, 9), "/", (ALNUM, 24))),
    "discord": ("discord token", made("MT", (ALNUM, 24), ".G", (ALNUM, 5), ".", (WORD, 37), "k")),
    "discord-hook": ("discord webhook", made(("123456789", 19), "/", (WORD, 67), "k")),
    "stripe": ("stripe key", made("sk", "_live_", (ALNUM, 24))),
    "stripe-long": ("stripe key", made("sk", "_live_51", (ALNUM, 99))),
    "stripe-restricted": ("stripe key", made("rk", "_live_51", (ALNUM, 99))),
    "stripe-test": ("stripe key", made("sk", "_test_51", (ALNUM, 99))),
    "stripe-hook": ("stripe key", made("wh", "sec_", (ALNUM, 32))),
    "twilio-key": ("twilio key", made("S", "K", (HEX, 32))),
    "twilio-auth": ("twilio key", made("4f", (HEX, 30))),
    "sendgrid": ("sendgrid key", made("S", "G.", (WORD, 21), "k.", (WORD, 42), "z")),
    "mailgun": ("mailgun key", made("ke", "y-", (HEX, 32))),
    "mailchimp": ("mailchimp key", made((HEX, 32), "-us", "14")),
    "openai": ("openai key", made("sk", "-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20))),
    "openai-project": ("openai key", made("sk", "-proj-", (WORD, 74), "T3Blbk", "FJ", (WORD, 73), "A")),
    "openai-service": ("openai key", made("sk", "-svcacct-", (WORD, 74), "T3Blbk", "FJ", (WORD, 73), "A")),
    "anthropic": ("anthropic key", made("sk", "-ant-", "api03-", (WORD, 93), "AA")),
    "anthropic-admin": ("anthropic key", made("sk", "-ant-", "admin01-", (WORD, 93), "AA")),
    "hugging": ("hugging face token", made("h", "f_", (string.ascii_letters, 34))),
    "openrouter": ("openrouter key", made("sk", "-or-v1-", (HEX, 64))),
    "groq": ("groq key", made("gs", "k_", (ALNUM, 52))),
    "xai": ("xai key", made("xa", "i-", (ALNUM, 80))),
    "perplexity": ("perplexity key", made("pp", "lx-", (ALNUM, 48))),
    "replicate": ("replicate token", made("r", "8_", (ALNUM, 37))),
    "langsmith": ("langsmith key", made("lsv", "2_pt_", (HEX, 32), "_", (HEX, 10))),
    "npm": ("npm token", made("np", "m_", (ALNUM, 36))),
    "pypi": ("pypi token", made("py", "pi-", "AgEIcHlwaS5vcmc", (WORD, 150), "w")),
    "docker": ("docker token", made("dckr", "_pat_", (WORD, 26), "k")),
    "rubygems": ("rubygems key", made("ruby", "gems_", (HEX, 48))),
    "telegram": ("telegram token", made(("123456789", 10), ":A", "A", (WORD, 32), "x")),
    "jwt": ("jwt", web_token),
    "basic": ("basic credentials", basic),
    "opaque": ("bearer token", made((ALNUM, 40))),
    "opaque-dotted": ("bearer token", made("v2.", (ALNUM, 22), ".", (WORD, 30), "k")),
    "visa-spaced": ("card number", card("4539", 16, (4, 4, 4, 4))),
    "visa-dashed": ("card number", card("4916", 16, (4, 4, 4, 4), "-")),
    "mastercard": ("card number", card("5425", 16)),
    "amex": ("card number", card("3782", 15, (4, 6, 5))),
    "vault": ("vault token", made("hv", "s.", "CAESI", (WORD, 90), "k")),
    "vault-legacy": ("vault token", made("s.", (ALNUM, 24))),
    "digitalocean": ("digitalocean token", made("dop", "_v1_", (HEX, 64))),
    "shopify": ("shopify token", made("shp", "at_", (HEX, 32))),
    "shopify-secret": ("shopify token", made("shp", "ss_", (HEX, 32))),
    "square": ("square token", made("sq0", "atp-", (WORD, 21), "k")),
    "square-long": ("square token", made("EA", "AAE", (WORD, 58), "k")),
    "heroku": ("heroku key", some_uuid),
    "heroku-new": ("heroku key", made("HR", "KU-AA", (ALNUM, 58))),
    "cloudflare": ("cloudflare token", made((WORD, 39), "k")),
    "cloudflare-global": ("cloudflare token", made((HEX, 37))),
    "atlassian": ("atlassian token", made("ATA", "TT3xFfGF0", (WORD, 176), "=", (UPPER, 8))),
    "bitbucket": ("atlassian token", made("AT", "BB", (ALNUM, 32))),
    "notion": ("notion token", made("nt", "n_", (string.digits, 11), (ALNUM, 35))),
    "notion-old": ("notion token", made("secr", "et_", (ALNUM, 43))),
    "linear": ("linear key", made("lin", "_api_", (ALNUM, 40))),
    "datadog": ("datadog key", made("7c", (HEX, 30))),
    "datadog-app": ("datadog key", made("7c", (HEX, 38))),
    "newrelic": ("new relic key", made("NR", "AK-", (UPPER, 27))),
    "newrelic-license": ("new relic key", made((HEX, 36), "NR", "AL")),
    "grafana": ("grafana token", made("gl", "sa_", (ALNUM, 32), "_", (HEX, 8))),
    "sentry": ("sentry token", made("sntr", "yu_", (HEX, 64))),
    "postman": ("postman key", made("PM", "AK-", (HEX, 24), "-", (HEX, 34))),
    "figma": ("figma token", made("fi", "gd_", (WORD, 39), "k")),
    "airtable": ("airtable token", made("pa", "t", (ALNUM, 14), ".", (HEX, 64))),
    "databricks": ("databricks token", made("da", "pi", (HEX, 32))),
    "planetscale": ("planetscale token", made("psc", "ale_tkn_", (WORD, 42), "k")),
    "terraform": ("terraform token", made((ALNUM, 14), ".atl", "asv1.", (WORD, 66), "k")),
    "pulumi": ("pulumi token", made("pu", "l-", (HEX, 40))),
    "supabase": ("supabase token", made("sb", "p_", (HEX, 40))),
    "doppler": ("doppler token", made("dp", ".pt.", (ALNUM, 43))),
    "tailscale": ("tailscale key", made("ts", "key-auth-", (ALNUM, 16), "-", (ALNUM, 32))),
    "sonar": ("sonarqube token", made("sq", "p_", (HEX, 40))),
    "hubspot": (
        "hubspot token",
        made("pa", "t-na1-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
    ),
    "brevo": ("brevo key", made("xke", "ysib-", (HEX, 64), "-", (ALNUM, 16))),
    "facebook": ("facebook token", made("EA", "AG", (ALNUM, 150))),
    "nvidia": ("nvidia key", made("nv", "api-", (WORD, 63), "k")),
    # values of no kind of their own
    "api-hex": ("api key", made("9d", (HEX, 30))),
    "api-mixed": ("api key", made((ALNUM, 30), "7q")),
    "token-mixed": ("token", made((ALNUM, 38), "4z")),
    "secret-mixed": ("secret", made((ALNUM, 30), "5x")),
    "secret-base64": ("secret", made((BASE64, 42), "9=")),
    "secret-uuid": ("secret", some_uuid),
    "password-strong": ("password", made((ALNUM, 8), "!", (ALNUM, 4), "7")),
    # look-alikes, for the negatives
    "sha1": ("", made((HEX, 40))),
    "sha256": ("", made((HEX, 64))),
    "md5": ("", made((HEX, 32))),
    "sri": ("", made((BASE64, 86), "==")),
    "h1": ("", made((BASE64, 43), "=")),
    "uuid": ("", some_uuid),
    "image": ("", made("iVBORw0KGgoAAAANSUhEUgAA", (BASE64, 300), "ggg==")),
    "base64-line": ("", made((BASE64, 76))),
    "bcrypt": ("", made("$2b", "$12$", (ALNUM + "./", 53))),
    "ulid": ("", made("01H", ("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23))),
    "nanoid": ("", made((WORD, 20), "k")),
    "digits-16": ("", made("17", (string.digits, 14))),
    "public-body": ("", made("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", (BASE64, 32))),
    "ssh-public": ("", made("AAAAC3NzaC1lZDI1NTE5AAAAI", (BASE64, 43))),
    "publishable": ("", made("pk", "_live_51", (ALNUM, 99))),
    "account-sid": ("", made("A", "C", (HEX, 32))),
    "x-github": ("", made("gh", "p_", "x" * 36)),
    "x-openai": ("", made("sk", "-", "x" * 48)),
    "x-aws": ("", made("AK", "IAIOSFODNN7", "EXAMPLE")),
    "x-aws-secret": ("", made("wJalrXUtnFEMI/K7MDENG", "/bPxRfiCY", "EXAMPLEKEY")),
    "x-slack": ("", made("xo", "xb-your-token-here")),
    "x-stripe": ("", made("sk", "_test_", "your_key_goes_here")),
    "x-anthropic": ("", made("sk", "-ant-", "api03-", "...")),
    "x-google": ("", made("AI", "za", "YOUR_API_KEY_HERE_0000000000000000")),
    "x-gitlab": ("", made("gl", "pat-", "x" * 20)),
    "x-hugging": ("", made("h", "f_", "your_token_goes_here_please_thanks")),
    "x-npm": ("", made("np", "m_", "0" * 36)),
    "x-short-github": ("", made("gh", "p_", (ALNUM, 8))),
}


def samples(name: str) -> list[Sample]:
    """The samples of a corpus file, secrets filled in."""
    lines = (HERE / f"secrets_{name}.txt").read_text("utf-8").splitlines()
    return [sample(line, place) for place, line in enumerate(lines) if line and not line.startswith("##")]


def sample(line: str, seed: int) -> Sample:
    rng = random.Random(f"{seed}:{line}")
    text, secrets, position = "", [], 0
    for place in PLACE.finditer(line):
        text += line[position : place.start()].replace("⏎", "\n")
        name, equals, literal = place[1].partition("=")
        kind, value = (name, literal) if equals else (MAKERS[name][0], MAKERS[name][1](rng))
        if kind:
            secrets.append((kind, len(text), len(text) + len(value)))
        text, position = text + value, place.end()
    return Sample(text + line[position:].replace("⏎", "\n"), tuple(secrets))
