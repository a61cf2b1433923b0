"""Fixed phrases: talk that looks like an order, nouns that look like verbs, and words of standing instructions."""

from __future__ import annotations

Phrases = dict[str, tuple[tuple[str, ...], ...]]


def phrases(text: str) -> Phrases:
    """Phrases separated by bars, filed under their first word."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for entry in text.split("|"):
        phrase = tuple(entry.split())
        table.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(listed) for first, listed in table.items()}


def phrase_at(table: Phrases, words: list[str], index: int) -> bool:
    """Whether one of the phrases begins at words[index]."""
    if index >= len(words):
        return False
    return any(tuple(words[index : index + len(phrase)]) == phrase for phrase in table.get(words[index], ()))


def is_talk(words: list[str], index: int) -> bool:
    """Whether an idiom begins at words[index]; a saying counts only when it stands nearly alone."""
    return phrase_at(IDIOMS, words, index) or any(
        tuple(words[index : index + len(phrase)]) == phrase and _stands_alone(words, index + len(phrase))
        for phrase in SAYINGS.get(words[index] if index < len(words) else "", ())
    )


def _stands_alone(words: list[str], after: int) -> bool:
    return len(words) - after <= 1 or words[after] == ","


# Words that turn a polite question or a proposal into a standing instruction.
STANDING = phrases(
    """
    always | never | from now on | going forward | in future | in the future | every time | each time | whenever
    | henceforth | from here on | from today | starting today | from this point on
    """
)

# Openings that look like imperatives and are talk.
IDIOMS = phrases(
    """
    better late | better safe | say hi | say hello | thank you | thank god | thank goodness | thank heavens | thanks
    | guess | suppose | hope | wish | love | like | want | need | hate | miss | agree ! | seem | mean | bet
    | imagine | see | welcome | depend | matter | look at that | look at this | look , | look ! | wait , | wait !
    | listen , | say , | never mind | never again | never been | never a | never too | never have | never fear
    | never know | go on ! | take care , | have a nice | have a good | have a great | have a lovely
    | have a wonderful | have a safe | have fun | have to | have you | have been | have not | have i | have we
    | have they | have n't | have no idea | have got | enjoy | let me | let us | believe me | believe it | think so
    | think i | think we | think he | think she | god | bless | be right back | be back | be it | be that as
    | be there | believe i | remember when | remember how | remember that time | remember me | remember ?
    | please advise | please find | please let me know | please see | please ! | do you | do i | do we | do they
    | do not you | do not we | do not i | do not worry | do not know | do not think so | do not think i
    | do not think we | do not think it | do not think that | do not think you | do not think he | do not think she
    | do not think they | do not care | do not mind | do not mention it | do not get me | do not tell me
    | do not want | do not like | do not feel like | do not believe me | do not need | do not even | do not have
    | do not remember | do not recall | do not see why | do not understand | do not get why | do not get it
    | do well | do it yourself | do as | does | last | have a seat | be right there | never say never | time to
    | time for | back then | back in | back when | notice how | notice that | notice the | doubt it | doubt that
    """
)

# The same, but only when hardly anything follows: "Hold on." is talk, "Hold on to the receipt." is not.
SAYINGS = phrases(
    """
    agree with | look like | look who | wait . | wait what | wait a | wait no | wait so | come on | come to think
    | come again | hang on | hang in | hold on | hold up | go figure | go for it | forget it | forget about it
    | take care and | take your time | check this out | get well | get out | get this | get it ? | keep up the good
    | keep it up | keep me posted | stay tuned | stay safe | let it be | let there | let alone | mind you | trust me
    | long story | rest in peace | rest assured | cheer up | fast forward | think it is | think that
    | think about it | give me a break | give it a rest | give or take | tell me about it | tell you what | speak of
    | speak soon | talk soon | talk later | talk to you | call it a day | fancy that | feel like | feel better
    | feel bad | feel good | feel sorry | know what | know that feeling | sound good | sound great
    | work in progress | better late | better safe | better than | may the | sleep well | sleep tight | excuse me
    | pardon me | pardon ? | forgive me | count me | sign me up | beats me | search me | note to self | stop it
    | shut up | shut the | make no mistake | make yourself | let you know | head over heels | hats off | let it
    | bring it on | break a leg | check it out | watch this | say hello | say thanks | give me a sec
    | give me a second | give me a minute | give me a moment | time flies | keep calm | you can do it | check this
    | long live | drive safe | drive safely | stay strong | stay healthy | hang tight | sit tight | cry me | lie low
    | back home | back at | back to | rain or shine | rain check | fair enough
    """
)

# Compounds whose first noun is also a verb.
COMPOUNDS = phrases(
    """
    use case | use cases | run time | run times | run book | test suite | test suites | test case | test cases
    | test data | test coverage | test plan | test results | test runner | test files | test environment
    | test strategy | build system | build time | build times | build tools | build tool | build commands
    | build command | build process | build steps | build output | build artefacts | build artifacts
    | build pipeline | build status | build instructions | code style | code base | code review | code reviews
    | code quality | code conventions | code structure | code organization | code organisation | code snippets
    | code examples | code generation | commit message | commit messages | commit hooks | commit history
    | commit format | commit style | commit conventions | release notes | release process | release cycle
    | release schedule | release candidate | release builds | release checklist | change log | change requests
    | check list | check constraints | stack trace | stack traces | log file | log files | log level | log levels
    | log lines | log output | return value | return values | return type | return types | trace id | trace ids
    | load balancer | load balancing | access token | access tokens | access control | design doc | design docs
    | design documents | design system | design principles | design patterns | design decisions | design goals
    | format string | format strings | search results | search engine | search index | cache invalidation
    | cache key | cache keys | debug mode | debug builds | debug output | plan type | model weights | model name
    | model names | branch names | branch name | branch naming | branch protection | branch strategy
    | project structure | project overview | project layout | project goals | project setup | project name
    | project root | file structure | file names | file naming | file organization | file organisation | file layout
    | error handling | error messages | error codes | pull request | pull requests | merge conflict
    | merge conflicts | merge requests | merge request | rate limit | rate limits | rate limiting | type hints
    | type definitions | type safety | type system | type annotations | type checking | import order | import maps
    | import paths | import style | import statements | import conventions | support channels | support team
    | work items | work tree | question marks | phone number | phone numbers | state machine | state management
    | process management | deploy time | deploy process | deploy pipeline | deploy keys | review process
    | review comments | review checklist | review guidelines | document structure | document store
    | update frequency | install instructions | install script | install steps | start time | stop words | end users
    | end result | control flow | data flow | data model | data flows | key concepts | key features | key files
    | key points | key components | key takeaways | key commands | key directories | key dependencies
    | feature flags | feature requests | feature branches | open questions | open issues | open source | open items
    | open points | open tasks | open problems | cache miss | cache misses | cache hit | cache hits | stack overflow
    | buffer overflow | lock contention | secure by | sound quality | trust issues | print statements
    | record rainfall | review copy | mock server | mock servers
    """
)
