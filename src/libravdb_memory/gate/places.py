"""How paths and addresses look in running text, as regular expressions other tables are built from.

Law: a slash between words ("and/or", "12/05", "client/server") is no path. A path has a root, a file ending that is
used for files, or a folder name that means nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

ENDINGS = tuple(
    """
    py pyi ipynb js jsx mjs cjs ts tsx go rs java kt scala c h cc cpp hpp cs rb php swift sh bash zsh ps1 sql json jsonl
    yaml yml toml ini cfg conf env lock xml htm html css scss md rst txt csv tsv log proto gradle tf vue svelte db
    sqlite so dll jar whl tar gz zip pem key service dockerfile
    """.split()
)
_ROOTS = "etc usr var opt home tmp mnt srv bin lib dev proc sys root app api data Users".split()
_FOLDERS = """src libs? pkg cmd docs db crates vendor node_modules packages services infra internal scripts migrations
    [.]github [.]vscode [.]circleci""".split()
_WORDS_TOO = """tests? apps? configs? deploy tools build dist core web server client include modules examples components
    release feature hotfix""".split()
_FRAMEWORKS = "node next vue react express three d3 nuxt nest ember backbone chart discord".split()
_SEGMENT = r"[\w.@+-]{0,63}[\w@+-]"


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"


PATH_LIKE = (
    r"(?<![\w/\\.:@~-])(?:"
    rf"(?:~|\.{{1,2}})/(?:{_SEGMENT})?|"
    rf"/{_any(_ROOTS)}\b|/{_SEGMENT}/{_SEGMENT}|"
    rf"{_any(_FOLDERS)}/(?:{_SEGMENT})?|"
    rf"{_any(_WORDS_TOO)}/(?:(?=[\s,;:.)]|$)|{_SEGMENT}/|[\d.]{{0,11}}\d\b)|"
    r"[A-Za-z]:\\[\w.-]{1,64}|"
    rf"(?:[\w.@+-]{{1,64}}/){{0,12}}(?!(?i:{_any(_FRAMEWORKS)})\.js\b)[\w@+-]{{1,64}}(?:\.[\w-]{{1,20}}){{0,3}}"
    rf"\.{_any(ENDINGS)}\b(?!\.\w)|"
    r"(?:Dockerfile|Makefile|Jenkinsfile|\.env|\.gitignore|\.bashrc|\.zshrc)\b"
    rf")(?:/(?:{_SEGMENT})?){{0,24}}"
)
PATH_NEEDS = " ".join(
    ["/", "\\", "akefile", "ockerfile", "enkinsfile", ".git", ".bashrc", ".zshrc", *(f".{e}" for e in ENDINGS)]
)

URL_LIKE = (
    r"(?<![\w/])(?:(?:https?|ftp|ssh|git|s3|gs|wss?|file|postgres(?:ql)?|redis|mysql)://[^\s<>\"'`]{1,300}|"
    r"git@[\w.-]{1,80}:[\w./-]{1,120}|www\.[\w-]{1,63}\.[\w./-]{1,200})"
)
URL_NEEDS = ":// git@ www."
