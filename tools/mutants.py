"""Plant small errors in the laws, one at a time, and see that a test fails for each.

Each mutant is one fragment of one file replaced in a temporary copy of the source; the quick tests of that file run
against the copy. A mutant that survives means that a law is not tested: the exit code is then 1. A fragment that is not
found exactly once is an error too, so that this list cannot rot in silence.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from libravdb_memory.wording import counted

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "libravdb_memory"
TIMEOUT_S = 180
T = TypeVar("T")

_COMPACTING = (
    "memory/test_compaction.py",
    "memory/test_compaction_models.py",
    "laws/test_compaction_settles.py",
    "laws/test_lineage.py",
    "laws/test_compaction_races.py",
    "laws/test_erasure_to_the_byte.py",
    "laws/test_keystone.py",
)

TESTS: dict[str, tuple[str, ...]] = {
    "tokens.py": ("stages/test_tokens.py", "stages/test_claims.py"),
    "assemble/budget.py": ("stages/test_claims.py", "stages/test_assemble.py"),
    "assemble/fill.py": ("stages/test_claims.py", "stages/test_assemble.py"),
    "assemble/render.py": ("stages/test_injection.py",),
    "assemble/tail.py": ("stages/test_claims.py", "stages/test_assemble.py"),
    "assemble/messages.py": ("stages/test_claims.py", "stages/test_messages.py"),
    "retrieve/rank.py": ("stages/test_rank.py",),
    "retrieve/question.py": ("stages/test_question.py",),
    "retrieve/late.py": ("stages/test_late.py",),
    "retrieve/weigh.py": ("stages/test_weigh.py",),
    "retrieve/temporal.py": ("stages/test_claims.py", "stages/test_temporal.py"),
    "retrieve/recovery.py": ("stages/test_routes.py",),
    "retrieve/hops.py": ("stages/test_hops.py",),
    "gate/settings.py": ("stages/test_gate_score.py",),
    "gate/signals.py": ("stages/test_gate_score.py",),
    "gate/score.py": ("stages/test_gate_score.py",),
    "gate/calibrate.py": ("stages/test_gate_calibrate.py",),
    "gate/echo.py": ("stages/test_gate_echo.py",),
    "gate/regret.py": ("stages/test_gate_calibrate.py",),
    "ingest/partition.py": ("stages/test_partition.py",),
    "gathering.py": ("memory/test_recall.py",),
    "recall.py": ("memory/test_recall.py",),
    "gating.py": ("memory/test_gating.py",),
    "receipts.py": ("memory/test_receipts.py", "laws/test_erasure_to_the_byte.py"),
    "compacting/uncovered.py": _COMPACTING,
    "apart/process.py": ("apart/test_apart.py", "memory/test_compaction_apart.py"),
    "apart/serving.py": ("apart/test_apart.py",),
    "compacting/compactor.py": ("memory/test_compaction_apart.py",),
    "compacting/covering.py": _COMPACTING,
    "compacting/making.py": ("memory/test_sharing_processors.py", *_COMPACTING),
    "compacting/making_apart.py": ("memory/test_compaction_apart.py",),
    "compacting/folding.py": _COMPACTING,
    "compacting/writing.py": ("durability/test_what_may_wait.py", *_COMPACTING),
    "tailing.py": ("memory/test_tailing.py",),
    "condensing.py": (
        "memory/test_compaction.py",
        "memory/test_compaction_models.py",
        "memory/test_compaction_seq2seq.py",
        "laws/test_hostile_endpoint.py",
        "laws/test_keystone.py",
    ),
    "verifying.py": ("laws/test_lineage.py",),
    "lineage.py": (
        "memory/test_compaction.py",
        "laws/test_lineage.py",
        "laws/test_erasure_to_the_byte.py",
        "laws/test_keystone.py",
    ),
    "forgetting.py": (
        "memory/test_compaction.py",
        "memory/test_erasing.py",
        "laws/test_erasure_to_the_byte.py",
        "laws/test_keystone.py",
    ),
    "copies.py": ("laws/test_erasure_to_the_byte.py",),
    "notes.py": ("laws/test_erasure_to_the_byte.py",),
    "masking.py": ("memory/test_masking.py",),
    "ingest/secrets/facts.py": ("memory/test_masking.py",),
    "authored.py": ("memory/test_masking.py",),
    "context.py": ("memory/test_masking.py",),
    "arriving.py": ("memory/test_masking.py",),
    "compact/certificate.py": ("stages/test_compact_reading.py", "stages/test_compact_spans.py"),
    "compact/changes.py": ("stages/test_compact_changes.py",),
    "compact/extract.py": ("stages/test_compact_changes.py", "stages/test_compact_extract.py"),
    "compact/grounding.py": ("stages/test_compact_grounding.py",),
    "compact/preserve.py": ("stages/test_compact_preserve.py", "memory/test_compaction_models.py"),
    "compact/plan.py": ("stages/test_compact_plan.py", "laws/test_keystone.py"),
    "compact/views.py": ("stages/test_compact_voices.py",),
    "compact/voices.py": ("stages/test_compact_voices.py",),
    "compact/guidance.py": ("stages/test_compact_guidance.py",),
    "compact/weighing.py": ("stages/test_compact_weighing.py", "memory/test_guidance_by_likeness.py"),
    "compact/clauses.py": ("stages/test_compact_clauses.py",),
    "nimble.py": ("memory/test_nimble.py",),
    "engines/places.py": ("engines/test_places.py",),
    "engines/session.py": ("memory/test_sharing_processors.py",),
    "indexing.py": ("memory/test_sharing_processors.py", "memory/test_compaction_apart.py"),
    "store/sqlite/connections.py": ("store/test_sqlite_upkeep.py",),
    "store/sqlite/schema.py": ("store/test_sqlite_upkeep.py",),
    "store/sqlite/upkeep.py": ("store/test_sqlite_upkeep.py",),
    "store/sqlite/erasure.py": ("store/test_sqlite_upkeep.py",),
    "store/sqlite/background.py": ("store/test_sqlite_upkeep.py",),
    "store/sqlite/writer.py": ("durability/test_what_may_wait.py", "store/test_sqlite_upkeep.py"),
    "elevating.py": (
        "memory/test_guidance_by_likeness.py",
        "memory/test_guidance_taken_back.py",
        "memory/test_compaction_endures.py",
    ),
    "excluding.py": ("laws/test_compaction_races.py",),
    "compact/taking_back.py": ("stages/test_compact_taking_back.py", "memory/test_guidance_taken_back.py"),
    "compact/passed_over.py": ("stages/test_compact_passed_over.py", "memory/test_compaction_reasons.py"),
    "compact/prior.py": ("stages/test_compact_preserve.py", "memory/test_compaction_models.py"),
    "engines/lenient.py": ("memory/test_compaction_endures.py",),
    "store/sqlite/ann.py": ("store/test_vectors_approximate.py", "store/test_sqlite_erase.py"),
    "store/sqlite/vectors.py": ("store/test_vectors_approximate.py", "store/test_sqlite_erase.py"),
    "hosting.py": ("memory/test_hosting.py", "memory/test_masking.py", "serve/test_hosts.py"),
    "usage.py": ("memory/test_usage.py",),
    "journal.py": ("serve/test_journal.py",),
    "hooks/transcript.py": ("hooks/test_claude_code.py",),
    "mcp_server/handshake.py": ("mcp_server/test_handshake.py",),
    "mcp_server/http.py": ("mcp_server/test_http.py",),
    "mcp_server/resources.py": ("mcp_server/test_server.py",),
    "mcp_server/schemas.py": ("mcp_server/test_server.py",),
    "mcp_server/server.py": ("mcp_server/test_server.py",),
    "mcp_server/tools.py": ("mcp_server/test_server.py",),
    "mcp_server/wire.py": ("mcp_server/test_handshake.py",),
    "serve/access.py": ("serve/test_access.py", "serve/bridge/test_remote.py"),
    "serve/bridge/codec.py": ("serve/bridge/test_codec.py",),
    "serve/bridge/finding.py": ("serve/bridge/test_remote.py",),
    "serve/bridge/importing.py": ("serve/bridge/test_remote.py",),
    "serve/bridge/keeping.py": ("serve/bridge/test_remote.py",),
    "serve/bridge/line.py": ("serve/bridge/test_remote.py",),
    "serve/bridge/methods.py": ("serve/bridge/test_remote.py",),
    "serve/calls.py": ("serve/test_access.py", "serve/test_own.py"),
    "serve/connection.py": ("serve/test_connection.py",),
    "serve/pace.py": ("serve/test_pace.py",),
    "serve/workers.py": ("serve/test_workers.py",),
    "serve/client/core.py": ("serve/client/test_core.py",),
    "serve/client/delivering.py": ("serve/client/test_delivering.py",),
    "serve/client/entries.py": ("serve/client/test_spool.py",),
    "serve/client/spool.py": ("serve/client/test_spool.py",),
    "serve/client/verbs.py": ("serve/client/test_verbs.py", "serve/client/test_delivering.py"),
    "overflow.py": ("memory/test_compaction.py", "memory/test_compaction_by_itself.py"),
    "serve/dispatch.py": ("serve/test_dispatch.py", "serve/test_brief_calls.py"),
    "serve/epochs.py": ("serve/test_hosts.py",),
    "serve/exposition.py": ("serve/test_exposition.py",),
    "serve/http/addressed.py": ("serve/test_http_hosts.py",),
    "serve/http/feed.py": ("serve/test_http_feed.py",),
    "serve/http/guard.py": ("serve/test_http_guard.py",),
    "serve/http/hub.py": ("serve/test_http_feed.py",),
    "serve/http/readiness.py": ("serve/test_http_readiness.py",),
    "serve/http/server.py": ("serve/test_http_server.py",),
    "serve/inspecting/lists.py": ("serve/test_inspecting.py",),
    "serve/inspecting/prompts.py": ("serve/test_inspecting.py",),
    "serve/inspecting/ranked.py": ("serve/test_inspecting.py",),
    "serve/inspector/index.html": ("serve/test_inspector_page.py",),
    "cli/openclaw_host.py": ("plugins/test_openclaw.py",),
    "serve/inspector/turn.js": ("serve/test_inspector_page.py",),
    "serve/shapes.py": ("serve/test_results.py",),
    "serve/results/conversation.py": ("serve/test_own.py", "serve/test_hosts.py"),
    "serve/signing.py": ("serve/test_inspecting.py",),
    "serve/otel.py": ("serve/test_telemetry.py",),
    "serve/fields.py": ("serve/test_fields.py",),
    "serve/jsonrpc.py": ("serve/test_jsonrpc.py",),
    "serve/metrics.py": ("serve/test_dispatch.py",),
    "serve/opening.py": ("serve/faults/test_slow_opening.py",),
    "serve/own/condition.py": ("serve/faults/test_slow_opening.py",),
    "serve/links.py": ("serve/test_hosts.py",),
    "sessions.py": ("serve/reference/test_reach.py", "serve/reference/test_records.py"),
    "serve/own/conversation.py": ("serve/test_own.py", "serve/test_hosts.py"),
    "serve/own/explaining.py": ("serve/test_access.py", "serve/test_own.py"),
    "serve/own/forgetting.py": ("serve/test_own.py",),
    "serve/own/keeping.py": ("serve/test_own.py",),
    "serve/own/where.py": ("serve/test_access.py", "serve/test_own.py"),
    "serve/reference/documents.py": ("serve/test_watched_documents.py",),
    "serve/reference/records.py": ("serve/reference/test_records.py", "serve/reference/test_reach.py"),
    "store/sqlite/fulltext.py": ("store/test_sqlite_conformance.py", "store/test_sqlite_upkeep.py"),
    "store/sqlite/shelving.py": ("store/test_vectors_arriving.py",),
    "store/sqlite/store.py": ("store/test_vectors_arriving.py",),
}

MUTANTS: tuple[tuple[str, str, str], ...] = (
    # MCP and hooks
    ("mcp_server/schemas.py", "sorted(set(given) - set(names))", "sorted(set(given) - set(given))"),
    ("mcp_server/resources.py", 'if told["userId"] != user:', "if False:"),
    ("mcp_server/tools.py", "else place.session + READING", "else place.session"),
    ("mcp_server/tools.py", "if params.skip < 0:", "if False:"),
    ("mcp_server/server.py", "reason if len(reason) <= _LONGEST_REASON else", "reason if reason else"),
    ("mcp_server/handshake.py", "version in WITH_HANDSHAKE and", "version and"),
    ("mcp_server/handshake.py", "value.isprintable()", "value == value"),
    ("mcp_server/wire.py", "if heard is None else heard", "if not heard else heard + heard"),
    ("mcp_server/http.py", "place.user not in access.namespaces", "not place.user"),
    ("mcp_server/http.py", 'if query or scope.get("query_string"):', "if False:"),
    ("mcp_server/http.py", "if user is None or user in _WAYS:", "if user is None:"),
    ("hooks/transcript.py", "begin if 0 <= begin <= size else 0", "max(begin, 0)"),
    ("hooks/transcript.py", "not any(entry.get(mark) for mark in _LEFT_OUT)", "entry"),
    # tokens
    ("tokens.py", "(8, 5), (5, 2), (4, 1)", "(8, 5), (5, 2), (5, 1)"),
    ("tokens.py", "(8, 5), (5, 2), (4, 1)", "(2, 1), (5, 2), (4, 1)"),
    ("tokens.py", "(8, 5), (5, 2), (4, 1)", "(8, 5), (3, 1), (4, 1)"),
    ("tokens.py", "-(-length * denominator // numerator)", "length * denominator // numerator"),
    ("tokens.py", "max(len(text) // 4, 1)", "len(text) // 4"),
    ("tokens.py", " + max(self.lines - 1, 0)", ""),
    ("tokens.py", "max(before.density, more.density)", "min(before.density, more.density)"),
    (
        "tokens.py",
        "max(map(self._density.__getitem__, lines), default=0)",
        "min(map(self._density.__getitem__, lines), default=0)",
    ),
    ("tokens.py", "int(Decimal(repr(share)) * budget)", "int(share * budget)"),
    # budget and the six claims
    ("assemble/budget.py", "min(max(budget // 10, 16), 128)", "min(max(budget // 10, 16), 256)"),
    ("assemble/budget.py", "min(max(budget // 10, 16), 128)", "min(max(budget // 10, 8), 128)"),
    ("assemble/budget.py", "not 0.0 <= value <= 1.0", "not value <= 1.0"),
    ("assemble/budget.py", "> 1.0 + 1e-9", "> 1.2"),
    ("assemble/fill.py", "if self._price > self._offer.budget:", "if self._price >= self._offer.budget:"),
    ("assemble/fill.py", "if over > 0:", "if over > 1:"),
    ("assemble/fill.py", "share_of(tau, self._settings.soft_share), tau - self._price)", "tau, tau - self._price)"),
    (
        "assemble/fill.py",
        "max(share_of(tau, self._settings.tail_share), base)",
        "share_of(tau, self._settings.tail_share)",
    ),
    ("assemble/fill.py", "min(share_of(tau, self._settings.elevated_share), tau - self._price)", "tau - self._price"),
    ("assemble/fill.py", "if candidate.score > bound:", "if candidate.score >= bound:"),
    ("assemble/fill.py", '(candidate.ts, candidate.place) if tier == "elevated" else (0, 0)', "(0, 0)"),
    ("assemble/fill.py", "entries.insert(self._place(order), rendered)", "entries.clear()"),
    ("assemble/fill.py", "recovery_reserve(self._offer.budget) if self._offer.recovered else 0", "0"),
    ("assemble/fill.py", "or self._is_visible(candidate.text):", "or False:"),
    ("assemble/fill.py", "if same_text(candidate.text) in self._taken_texts else None", "if False else None"),
    ("assemble/fill.py", "high = middle - 1", "high = middle - 2"),
    ("assemble/fill.py", "for rule in soft[:length]]", "for rule in soft[: length + 1]]"),
    # frames, tail, messages
    ("assemble/render.py", '.replace("<", "&lt;")', ""),
    ("assemble/render.py", 'text.replace("&", "&amp;")', "text"),
    ("assemble/render.py", '.replace(\'"\', "&quot;")', ""),
    ("assemble/tail.py", "max(len(turns) - least, 0)", "max(len(turns) - least + 1, 0)"),
    ("assemble/tail.py", "first <= current[1]", "first <= current[1] + 1"),
    ("assemble/tail.py", "yield callers[call], index", "yield index, index"),
    ("assemble/tail.py", 'turn.role == "user" and following.role == "assistant"', 'turn.role == "user"'),
    ("assemble/messages.py", "if cost <= limit)", "if cost < limit)"),
    ("assemble/messages.py", "len(turns) - start >= least", "len(turns) - start > least"),
    ("assemble/messages.py", "return suffix if request == start else (request, *suffix)", "return suffix"),
    ("assemble/messages.py", "+ MESSAGE_OVERHEAD", ""),
    # ranking, fusion, time, recovery
    ("retrieve/rank.py", "KEYWORD_GAIN = 0.3", "KEYWORD_GAIN = 0.4"),
    ("retrieve/rank.py", "QUALITY_LOSS = 0.5", "QUALITY_LOSS = 0.6"),
    ("retrieve/rank.py", "0.5, 0.2, 0.3\n", "0.5, 0.3, 0.2\n"),
    ("retrieve/rank.py", "math.log(2.0 + most)", "math.log(1.0 + most)"),
    ("retrieve/rank.py", "return min(max(_finite(value), 0.0), 1.0)", "return max(_finite(value), 0.0)"),
    ("retrieve/rank.py", "return value if math.isfinite(value) else 0.0", "return value"),
    ("retrieve/rank.py", '"session": 1e-4', '"session": 1e-3'),
    ("retrieve/rank.py", "1.0 - MODULATION + MODULATION * modulation", "MODULATION * modulation"),
    # what a question asks for, and what every kind of evidence weighs
    ("retrieve/question.py", 'name.lower() != "may" or name[0] == "M"', "True"),
    ("retrieve/question.py", "_MOST_IDENTIFIERS = 8", "_MOST_IDENTIFIERS = 9"),
    ("retrieve/question.py", "and beyond.isalnum())", "and False)"),
    ("retrieve/question.py", "and not _PAST.search(text)", ""),
    ("retrieve/question.py", "word.lower() not in _ORDINARY or", "True or"),
    ("retrieve/question.py", "{text[-READ_AT_EACH_END:]}", ""),
    ("retrieve/question.py", "whole, text = text, what_counts(text)", "whole = text"),
    ("retrieve/question.py", "|(?<=s)['’])", ")"),
    ("retrieve/late.py", "_ONE = 127.0", "_ONE = 128.0"),
    ("retrieve/weigh.py", "_SUPERSEDED_WITHIN = 0.95, 0.2", "_SUPERSEDED_WITHIN = 0.95, 0.4"),
    ("retrieve/weigh.py", "alike = _alike(met[best]) >= _SAME_FACT", "alike = _alike(met[best]) >= 0.0"),
    ("retrieve/weigh.py", "moments > moments[older] + _AN_HOUR_MS", "moments > moments[older]"),
    ("retrieve/weigh.py", "_SCALE = 0.16", "_SCALE = 0.2"),
    ("retrieve/weigh.py", "_LENT_BY_EARLIER = (0.8, 0.65, 0.5)", "_LENT_BY_EARLIER = (0.8, 0.5, 0.65)"),
    ("retrieve/weigh.py", "_LENT_BY_A_QUESTION = 0.95", "_LENT_BY_A_QUESTION = 0.8"),
    ("retrieve/weigh.py", "_LENT_BY_LATER = 0.6", "_LENT_BY_LATER = 0.7"),
    ("retrieve/weigh.py", "_PIECES_BY_EARLIER = (0.7, 0.5)", "_PIECES_BY_EARLIER = (0.7,)"),
    ("retrieve/weigh.py", "_PIECES_BY_LATER = 0.5", "_PIECES_BY_LATER = 0.0"),
    ("retrieve/weigh.py", "_MEANING_LENT = 0.25", "_MEANING_LENT = 0.3"),
    ("retrieve/weigh.py", "_SELF_CONTAINED_WORDS = 40.0", "_SELF_CONTAINED_WORDS = 60.0"),
    ("retrieve/weigh.py", "_SHORT_WORDS = 25.0", "_SHORT_WORDS = 26.0"),
    ("retrieve/weigh.py", "_OTHER_YEAR = 0.3", "_OTHER_YEAR = 0.5"),
    ("retrieve/weigh.py", "_REACH, _FADING = 3, 0.6", "_REACH, _FADING = 4, 0.6"),
    ("retrieve/weigh.py", "_REACH, _FADING = 3, 0.6", "_REACH, _FADING = 3, 0.5"),
    ("retrieve/weigh.py", "_BM25_K, _BM25_B = 1.2, 0.75", "_BM25_K, _BM25_B = 1.2, 0.4"),
    ("retrieve/weigh.py", "_LEAST_RARITY = 0.3", "_LEAST_RARITY = 0.2"),
    ("retrieve/weigh.py", "_NEWEST_AMONG = 20", "_NEWEST_AMONG = 21"),
    ("retrieve/weigh.py", "_NOBODY_IN_PARTICULAR = 0.5", "_NOBODY_IN_PARTICULAR = 1.0"),
    ("retrieve/weigh.py", "_NEUTRAL_ROLE = 0.5", "_NEUTRAL_ROLE = 0.0"),
    ("retrieve/weigh.py", "_LEAST_COSINE = 0.05", "_LEAST_COSINE = 0.04"),
    ("retrieve/weigh.py", " | (signals.identifiers > 0.0)", ""),
    ("retrieve/weigh.py", "speaker: float = 0.30", "speaker: float = 0.20"),
    ("retrieve/weigh.py", "if len(question.named) == 1:", "if question.named:"),
    ("retrieve/weigh.py", "if strength <= 0.0 or", "if"),
    ("retrieve/weigh.py", "tellable = np.isfinite(spread) & (spread > _ALIKE)", "tellable = spread > _ALIKE"),
    ("retrieve/temporal.py", "ACTIVE_FROM = 0.3", "ACTIVE_FROM = 0.6"),
    ("retrieve/temporal.py", "SLOT_SIMILARITY = 0.50", "SLOT_SIMILARITY = 0.60"),
    ("retrieve/temporal.py", "LEAST_PICK = 0.10", "LEAST_PICK = 0.20"),
    ("retrieve/temporal.py", "0.6, 0.2, 0.2", "0.5, 0.3, 0.2"),
    ("retrieve/temporal.py", "_SATURATION = 1.5", "_SATURATION = 2.0"),
    ("retrieve/recovery.py", "WEAK_BELOW = 0.15", "WEAK_BELOW = 0.2"),
    ("retrieve/recovery.py", "VAGUE_TOP = 4", "VAGUE_TOP = 3"),
    ("retrieve/recovery.py", "< VAGUE_BELOW", "<= VAGUE_BELOW"),
    ("retrieve/hops.py", "HOP_SHARE = 0.5", "HOP_SHARE = 0.6"),
    ("retrieve/hops.py", "if hop < LEAST_HOP:", "if hop <= LEAST_HOP:"),
    # the gate
    ("gate/settings.py", "REFERENCE_THRESHOLD = 0.35", "REFERENCE_THRESHOLD = 0.36"),
    ("gate/settings.py", "abs(total - 1.0) > SUM_TOLERANCE", "abs(total - 1.0) > 0.1"),
    ("gate/signals.py", "REPEATED_AT = 0.80", "REPEATED_AT = 0.85"),
    ("gate/signals.py", "KEPT_FOR_FULL = 3", "KEPT_FOR_FULL = 4"),
    ("gate/signals.py", "cosine >= KEPT_AT", "cosine > KEPT_AT"),
    ("gate/signals.py", "DURABLE_NEIGHBOURS = 5", "DURABLE_NEIGHBOURS = 4"),
    ("gate/signals.py", "return min(amount / whole, 1.0)", "return amount / whole"),
    ("gate/score.py", "repetition = often * (1.0 - kept)", "repetition = often"),
    ("gate/score.py", "score >= settings.threshold and", "score > settings.threshold and"),
    ("gate/score.py", "(1.0 - technical) * conversational + technical * engineering", "conversational"),
    ("gate/calibrate.py", "while len(blocks) > 1 and", "if len(blocks) > 1 and"),
    ("gate/echo.py", "PASSAGE = 8", "PASSAGE = 5"),
    ("gate/echo.py", "< PASSAGE:", "<= PASSAGE:"),
    ("gate/regret.py", "float(outcome.hits > 0)", "float(outcome.durable)"),
    # documents
    ("ingest/partition.py", "if tokens <= limit:", "if tokens < limit:"),
    ("ingest/partition.py", "(-placed.node.tokens, placed.document", "(placed.node.tokens, placed.document"),
    ("ingest/partition.py", "        if limit < 0:\n", "        if limit <= 0:\n"),
    ("ingest/partition.py", "(BlockKind.FRONT_MATTER, BlockKind.LIST_ITEM)", "(BlockKind.LIST_ITEM,)"),
    (
        "ingest/partition.py",
        "kind is BlockKind.QUOTE or (kind is BlockKind.PARAGRAPH and promoted)",
        "kind is BlockKind.QUOTE",
    ),
    ("ingest/partition.py", '(_LAW, counter_id.encode("utf-8", "surrogatepass"), source)', "(_LAW, source)"),
    ("ingest/partition.py", "if room_bytes < 0 or", "if"),
    # what is wired
    ("gathering.py", 'isinstance(where, Equals) and where.field == "group"', "isinstance(where, Equals)"),
    ("gathering.py", " if mentions_exactly(record.text.lower(), identifier)]", "]"),
    ("recall.py", "if question.asks_when:", "if False:"),
    ("recall.py", "weights.latest * question.wants_latest", "0.0"),
    ("recall.py", 'parts |= {"fit": rest} if scale', 'parts |= {"fit": 0.0} if scale'),
    ("recall.py", "_WORDS_ALONE = 0.6", "_WORDS_ALONE = 1.0"),
    ("gating.py", "if not echoed:\n", "if True:\n"),
    ("gating.py", "(not echoed or says_enough(heard))", "True"),
    ("gating.py", 'record.metadata.get("role") == "user"', "True"),
    ("receipts.py", "count - self._keep)", "count - self._keep - 1)"),
    ("receipts.py", "or _holds(receipt, words)", ""),
    ("hosting.py", "held[as_kept] -= 1", "pass"),
    ("hosting.py", ' or message.get("excludeFromContext") is True', ""),
    ("serve/epochs.py", "if not holds(store, namespace, _name(session, resets)):", "if False:"),
    ("serve/links.py", "if there := [Remove(each) for each in keys if", "if there := [Remove(each) for each in () if"),
    ("serve/links.py", 'return "" if within is None else namespace', 'return ""'),
    ("serve/own/conversation.py", "if given_user(params.user_id) in (None, linked) else None", ""),
    ("serve/reference/records.py", "    if service.within is None:\n", "    if True:\n"),
    ("sessions.py", "return told(store, session) or _everybody_in(store, session)", "return told(store, session)"),
    ("sessions.py", "mine = known.hosted if within is None else", "mine ="),
    ("serve/epochs.py", "for number in range(resets, -1, -1)", "for number in range(resets + 1)"),
    (
        "serve/own/conversation.py",
        "meant = epochs.advance if params.fresh else epochs.current",
        "meant = epochs.current",
    ),
    ("serve/own/conversation.py", "for session in sessions[:_LOOKED_AT]:", "for session in sessions[:1]:"),
    ("usage.py", 'judged.get(ref, {}).get("durable") is False', "True"),
    # compaction: what is covered, by what, and only once
    ("compacting/uncovered.py", "if record.ref < ends_before]", "]"),
    ("compacting/writing.py", "[Expect(self._state, self._version), *writes]", "[*writes]"),
    ("compacting/writing.py", "for key in below]", "for key in below[1:]]"),
    ("compacting/covering.py", "again = self._planned()[0] if", "again = [] if"),
    ("compacting/making.py", "if kept.get(record.id) == turn_of(record).text", "if record.id in kept"),
    ("compacting/uncovered.py", "if index in turns.breaks else []", "if False else []"),
    ("compacting/uncovered.py", "row = [*older, *tail[:1]]", "row = [*older]"),
    ("compacting/covering.py", "self._writing.cover(node, below, guidance)", "self._writing.cover(node, below)"),
    ("compacting/writing.py", "*edges, self._next_state()]", "*edges]"),
    # guidance: a model only adds, is asked where the scanner is silent, and only if it is the one that was learned from
    ("compact/guidance.py", "if not evidence.promoted and _is_like_guidance", "if _is_like_guidance"),
    ("compact/weighing.py", "sentence[:SENTENCE_READ])", "sentence)"),
    ("elevating.py", "if not asked or self._embedder.space.fingerprint != weights.space:", "if not asked:"),
    ("elevating.py", "told = each.likeness if reason in _BY_LIKENESS else None", "told = None"),
    ("elevating.py", "if ts <= record.ts]", "]"),
    ("elevating.py", "[*earlier, *here]", "earlier"),
    ("elevating.py", "[*earlier, *here]", "here"),
    ("elevating.py", ">= SAME_MEANING", ">= 0.0"),
    ("elevating.py", "if max(shares, default=0.0) >= ENOUGH:", "if False:"),
    ("elevating.py", '            if cancelled():\n                raise CallCancelledError("compaction")\n', ""),
    (
        "excluding.py",
        "            finally:\n                self._erasures += 1\n",
        "            finally:\n                pass\n",
    ),
    ("excluding.py", "if epoch != self._erasures:", "if False:"),
    ("compact/taking_back.py", "if sign == 1.0", "if sign >= 0.0"),
    ("compact/taking_back.py", "about[max(place - 1, 0) : place + 2]", "about[place : place + 1]"),
    ("compact/passed_over.py", "-extracts.count", "extracts.count"),
    ("compact/passed_over.py", "least=min(figures", "least=max(figures"),
    ("compact/prior.py", "1 if clipped else 0", "1"),
    ("engines/lenient.py", "            if len(texts) > 1:\n", "            if False:\n"),
    ("engines/lenient.py", "except TextRefusedError as error", "except ArithmeticError as error"),
    ("store/sqlite/ann.py", "            self._outlived = True\n", "            pass\n"),
    (
        "store/sqlite/ann.py",
        "            if self._outlived:\n                self.path.unlink(missing_ok=True)\n",
        "            pass\n",
    ),
    ("store/sqlite/ann.py", "live.worn or not self.path.exists()", "live.worn"),
    ("store/sqlite/vectors.py", "        self.forget_files(refs)\n", ""),
    ("store/sqlite/vectors.py", '{_SUFFIX}*"):', '{_SUFFIX}"):'),
    ("compacting/writing.py", "            self._kept_back += guidance\n            return 0\n", "            pass\n"),
    ("compacting/writing.py", "*self._removals, *self._kept_back, *", "*self._kept_back, *self._removals, *"),
    ("compacting/writing.py", 'prior=prior if condensed.method == "abstractive" else ()', "prior=()"),
    (
        "compacting/writing.py",
        "with self._parts.excluding.writing(self._epoch):",
        "with self._parts.excluding.writing(self._parts.excluding.epoch):",
    ),
    ("compacting/folding.py", "turns=sum(node.turns for node in nodes)", "turns=len(nodes)"),
    ("compacting/folding.py", "ends=(nodes[0].first, nodes[-1].last)", "ends=(nodes[-1].first, nodes[0].last)"),
    ("compacting/folding.py", "level=1 + max(node.level for node in nodes)", "level=2"),
    ("compacting/covering.py", "if settled.isdisjoint(ids):", "if True:"),
    ("compacting/covering.py", "if last < records[0].ref]", "]"),
    # what summaries say: by whom, of what, and what holds now
    ("compacting/making.py", "View(sanitise(beginning_and_end(turn.text)).strip(), ", "View(turn.text.strip(), "),
    ("compacting/making.py", "turn.speaker or turn.role)", "turn.role)"),
    ("compact/views.py", "(alone and labelled(text)[0]) or speaks_for", "speaks_for"),
    ("compact/views.py", "or speaks_for(text, names) else text", "else text"),
    ("compact/voices.py", "if view.speaker is None:", "if True:"),
    ("compact/grounding.py", "span.kind in _EXACT and not said.holds(span)", "False"),
    ("compact/grounding.py", "any(parts <= date for date in self._dates)", "True"),
    ("compact/certificate.py", "certify_facts(facts(beginnings), summary)", "certify_facts(facts(sources), summary)"),
    ("compact/changes.py", "np.where(order < order[number], same, 0.0)", "same"),
    ("compact/extract.py", "(1.0 - OUTDATED * old) * np.where", "np.where"),
    ("compact/extract.py", "np.where(pretended | of_a_tool, 0.0, ", "np.where(False, 0.0, "),
    ("tailing.py", "all(call in called for turn in tail for call in turn.answers)", "True"),
    # condensing: strictly smaller, and whatever a summariser does
    ("condensing.py", "source_tokens=source_tokens,", "source_tokens=node.tokens,"),
    (
        "condensing.py",
        "except Exception as error:  # whatever a summariser",
        "except LibraVDBError as error:  # whatever",
    ),
    ("condensing.py", "model=with_model and self._model is not None)", "model=False)"),
    ("condensing.py", "self._model.warm_up(cancelled)", "self._model.warm_up()"),
    ("condensing.py", 'judged.summary.confidence if method == "abstractive" else None', "None"),
    ("compact/preserve.py", "SPACE_SHARE, MODEL_SHARE = 0.8, 0.2", "SPACE_SHARE, MODEL_SHARE = 0.7, 0.3"),
    ("compact/preserve.py", "/ len(known) >= settings.abstractive_from", "/ len(known) > settings.abstractive_from"),
    ("compact/preserve.py", "/ len(known) >= settings.abstractive_from", "/ len(known) >= 0.0"),
    (
        "compacting/making.py",
        "with_model = asks_a_model(scores, self.condenser.model_ready, self._settings)",
        "with_model = True",
    ),
    (
        "compacting/covering.py",
        "self._parts.settings.prior_tokens, self._parts.counter)",
        "100_000, self._parts.counter)",
    ),
    ("compacting/covering.py", "earlier[len(earlier) - shown.count :]", "earlier[: shown.count]"),
    ("compacting/covering.py", "            self.guidance += self._writing.keep(guidance)\n", ""),
    # lineage: exact, in order, of one session
    ("lineage.py", "sorted(placed.values(), key=lambda item: (item[0], item[1].ref))", "list(placed.values())"),
    ("lineage.py", "if placed[0] > start]", "if placed[0] >= start]"),
    ("lineage.py", "waiting += parents - above", "pass"),
    ("lineage.py", "if namespace in (None, node.namespace)]", "]"),
    ("lineage.py", 'AllOf((Equals("group", session), Not(Covered())))', "Not(Covered())"),
    ("lineage.py", 'AllOf((Equals("group", session), Not(Covered())))', 'Equals("group", session)'),
    ("verifying.py", "if not 0 < node.tokens < node.source_tokens:", "if False:"),
    ("verifying.py", "if node.turns != turns:", "if False:"),
    ("verifying.py", "if turn is None:\n        return f", 'if turn is None:\n        return "" and f'),
    (
        "compacting/writing.py",
        "if self._instead is not None:\n            self._instead +=",
        "if False:\n            self._instead +=",
    ),
    # forgetting: with a turn goes what was made from it
    ("forgetting.py", "above |= _told_of(store, namespace, record.group, above)", "pass"),
    ("forgetting.py", "names |= {key.id for key in found}", "pass"),
    ("forgetting.py", "return keys | lineage.ancestors(store, keys)", "return keys"),
    ("forgetting.py", "(record, *derived.summaries, *copied)", "(record, *derived.summaries[1:], *copied)"),
    ("forgetting.py", "(record, *derived.summaries, *copied)", "(record, *derived.summaries)"),
    ("forgetting.py", "Selection((*copied, *named), groups)", "Selection((*copied,), groups)"),
    ("copies.py", "not any(_is_namespace(names, each) for each in _longer(name, inner))", "True"),
    ("copies.py", 'record.metadata.get("sessionId") == session]', "True]"),
    ("notes.py", "if any(name != namespace for name in sessions.noted(store, session)):", "if False:"),
    ("notes.py", "== (namespace,):", "!= ():"),
    # secrets
    ("masking.py", "values | dict(known or {})", "{}"),
    ("masking.py", "if self.settings.keep_raw:", "if True:"),
    ("masking.py", "            said, values = mask(text, beside.values), dict(beside.values)\n", "            pass\n"),
    ("ingest/secrets/facts.py", "[name in NAMES for _, name in texts]", "[False for _ in texts]"),
    ("ingest/secrets/facts.py", "if not masking.by_names(facts):", "if True:"),
    ("authored.py", "self._masking.text(document.text)", "document.text"),
    ("context.py", "[self._masking.text(text) for message", "[text for message"),
    ("hosting.py", "said.role, masking.text(said.text)", "said.role, said.text"),
    (
        "arriving.py",
        "self._masking.content(draft.text[pins_at:], {}, known)",
        "self._masking.content(draft.text[pins_at:], {})",
    ),
    ("arriving.py", "if text == draft.text:", "if True:"),
    ("forgetting.py", "Selection(keys=(shard, *keys))", "Selection(keys=tuple(keys))"),
    ("forgetting.py", ", dreams_of(namespace))", ")"),
    ("forgetting.py", "        self._building.wait_for_those_under_way()\n", ""),
    ("receipts.py", "(namespace_of, summarised_namespace_of, guided_namespace_of)", "(namespace_of,)"),
    # the plan
    ("compact/plan.py", "end = min(bundle_starts[end], end)", "pass"),
    ("compact/plan.py", "min(max(tail_start, 0), len(turns))", "len(turns)"),
    ("compact/plan.py", "if turns[place] not in covered)", ")"),
    ("compact/plan.py", "indices[-1] if together else position", "position if together else position"),
    ("compact/plan.py", "_runs(roots[:-1], settings.fold_fan)", "_runs(roots, settings.fold_fan)"),
    ("compact/plan.py", "if len(run) >= LEAST_TURNS]", "]"),
    # the daemon: frames, parameters, order, reach
    ("journal.py", "surplus = self.count() + 1 -", "surplus = self.count() -"),
    ("journal.py", "newest_first=True", "newest_first=False"),
    ("serve/jsonrpc.py", "+ len(piece) > self.limit:", "+ len(piece) > self.limit + 1:"),
    ("serve/jsonrpc.py", "self._held, self._skipping = bytearray(), True", "self._skipping = True"),
    ("serve/jsonrpc.py", "for _ in range(MAX_DEPTH):", "for _ in range(MAX_DEPTH + 1):"),
    ("serve/jsonrpc.py", 'wants_answer="id" in frame', "wants_answer=given is not None"),
    ("serve/jsonrpc.py", 'message or "failed"', "message"),
    ("serve/jsonrpc.py", "if _separators(data) <= MAX_VALUES:", "if True:"),
    ("serve/jsonrpc.py", ".split(b'\"')[::2]", ".split(b'\"')"),
    ("serve/connection.py", "min(large, key", "max(large, key"),
    ("serve/connection.py", "        self._pace.sent(len(data))\n", ""),
    ("serve/connection.py", "            self._pace.called()\n", ""),
    ("serve/pace.py", ", float(self._rate))", ", 2.0 * self._rate)"),
    ("serve/workers.py", "        queue = self._queues.pop(client)\n", "        queue = self._queues[client]\n"),
    ("serve/workers.py", "max(1, count - 1) if lend else count", "count"),
    ("serve/connection.py", "_FIRST_FRAME if self._access is None else", "shared.frame_limit if False else"),
    ("serve/connection.py", "if size > _LONG_FRAME and self._stalled", "if size and self._stalled"),
    ("serve/jsonrpc.py", "parse_float=_finite", "parse_float=float"),
    ("serve/jsonrpc.py", "if isinstance(value, bool):\n        return False", "if False:\n        return False"),
    ("serve/fields.py", "and not given.strip()", "and not given"),
    ("serve/fields.py", "if hint is bool or isinstance(given, bool):", "if hint is bool:"),
    ("serve/fields.py", "and not given.is_integer()", "and False"),
    ("serve/fields.py", "if not -GREATEST <= given <= GREATEST:", "if not given <= GREATEST:"),
    ("serve/opening.py", "while not ended and not owned():", "while False:"),
    ("serve/opening.py", "raise self.failure or StoreClosedError(self._path)", "raise StoreClosedError(self._path)"),
    ("serve/opening.py", "self._then.append(tell)", "pass"),
    ("serve/own/condition.py", 'return "ok" if service.is_ready() else "starting"', 'return "ok"'),
    ("serve/reference/documents.py", "if root is not None:", "if False:"),
    ("serve/reference/records.py", 'milliseconds("metadata.ts", int(given))', "int(given)"),
    ("store/sqlite/fulltext.py", "last[0] == query and last[1] == sequence", "last[0] == query"),
    ("store/sqlite/shelving.py", "self._arriving -= counts", "pass"),
    ("store/sqlite/store.py", "max(self._completeness.missing(db, space, key), self._place.missing(key))", "0"),
    (
        "store/sqlite/store.py",
        "max(self._completeness.missing(db, space, key), self._place.missing(key))",
        "self._completeness.missing(db, space, key)",
    ),
    ("serve/dispatch.py", "line.popleft()", "line.pop()"),
    ("serve/dispatch.py", "return self._slow", "return self._writers"),
    ("serve/dispatch.py", "return self._thinkers", "return self._readers"),
    ("serve/metrics.py", "bisect_left(BOUNDS_S, seconds)", "bisect_left(BOUNDS_S, seconds * 2)"),
    ("serve/dispatch.py", "self._wary_until = ended + _WARY_S", "pass"),
    ("serve/dispatch.py", "call.order is not None or", "False or"),
    ("serve/dispatch.py", "or not self._service.is_ready()", "or False"),
    ("serve/exposition.py", 'replace("\\n", "\\\\n")', 'replace("", "")'),
    (
        "serve/http/guard.py",
        'name == "localhost" or name in self.names',
        'name.startswith("localhost") or name in self.names',
    ),
    ("serve/http/addressed.py", 'named_host(hosts[0].decode("latin-1")) is None', "False"),
    ("serve/http/addressed.py", '[(b"host", uri["authority"]), *headers]', 'scope["headers"]'),
    ("serve/http/addressed.py", 'uri["scheme"].lower() != b"http" or', "False or"),
    ("serve/http/addressed.py", "ipaddress.IPv6Address(match", "str(match"),
    ("serve/shapes.py", "is not NotRequired)", "is not Literal)"),
    ("serve/shapes.py", '"additionalProperties": self.of(get_args(hint)[1])', '"additionalProperties": False'),
    ("serve/results/conversation.py", "    linked: NotRequired[bool]", "    linked: bool"),
    ("serve/results/conversation.py", "    fresh: int\n", ""),
    ("serve/http/guard.py", "if site is not None and site not in _OWN_PAGE:", "if False:"),
    ("serve/http/guard.py", "if origin is not None and", "if origin and"),
    ("serve/http/guard.py", "(by := self.sign_ins.signed_in_by(value)) is None:", "(by := '') is None:"),
    ("serve/http/guard.py", "if fingerprint(token.secret) == by:", "if by:"),
    ("serve/http/guard.py", "replace(token.access, is_owner=False)", "token.access"),
    ("serve/signing.py", "if by and one.by == by]", "if False]"),
    ("serve/http/readiness.py", "self._now() - self._heard[0] >= HOLDS_S", "True"),
    ("serve/http/guard.py", 'if "authorization" not in headers and (value', "if (value"),
    ("serve/http/feed.py", "access.namespaces is None or self.reach <= access.namespaces", "True"),
    ("serve/http/feed.py", "if change.sequence <= until]", "]"),
    ("serve/http/hub.py", "if not is_allowed():", "if False:"),
    ("serve/signing.py", "self._once.pop(fingerprint(token), None)", "self._once.get(fingerprint(token))"),
    ("serve/signing.py", "if known is None or known.until < self._now():", "if known is None:"),
    ("serve/inspecting/lists.py", "return params.namespaces or EVERYTHING", "return frozenset()"),
    ("serve/inspecting/ranked.py", "replace(params, k=MOST_HITS)", "params"),
    ("serve/inspecting/prompts.py", "replace(receipt.offer, budget=params.budget)", "receipt.offer"),
    ("serve/inspecting/prompts.py", "| receipt_reach(", "& receipt_reach("),
    ("serve/inspecting/ranked.py", "parts[name] * (1.0 - MODULATION) * quality", "parts[name] * quality"),
    ("cli/openclaw_host.py", "if taken + _BLOCK > SPOOL_LIMIT:", "if taken > 2 * SPOOL_LIMIT:"),
    (
        "cli/openclaw_host.py",
        "SPOOL_LIMIT, _BLOCK = 128 * 1024 * 1024, 4096",
        "SPOOL_LIMIT, _BLOCK = 64 * 1024 * 1024, 4096",
    ),
    ("cli/openclaw_host.py", "if version < OLDEST:", "if version <= OLDEST:"),
    ("cli/openclaw_host.py", "for place in places:", "for place in places[1:]:"),
    ("serve/inspector/turn.js", "place.textContent = told", "place.innerHTML = told"),
    ("serve/inspector/turn.js", 'from "./erase.js"', 'from "https://cdn.example/erase.js"'),
    ("serve/inspector/index.html", "<body>", '<body onload="start()">'),
    ("serve/http/server.py", "(h11.IDLE, h11.SEND_BODY)", "(h11.IDLE,)"),
    ("serve/http/server.py", "self._bounds.write_s, self._cut_off", "3600, self._cut_off"),
    ("serve/http/server.py", "1, 0)", "0, 0)"),
    ("serve/http/server.py", "len(self.connections) > self._bounds.clients", "False"),
    ("serve/otel.py", "if failed:", "if False:"),
    (
        "overflow.py",
        "            finally:\n                self._stored()",
        "            finally:\n                pass",
    ),
    ("overflow.py", "if self._trigger <= 0:", "if False:"),
    ("overflow.py", "if self._piled[mine] >= self._trigger and", "if self._piled[mine] > self._trigger and"),
    ("overflow.py", "if waiting - left < self._trigger:", "if waiting - left <= self._trigger:"),
    ("overflow.py", "if waiting - left < self._trigger:", "if waiting < self._trigger:"),
    ("overflow.py", "if waiting - left < self._trigger:", "if False:"),
    ("overflow.py", "= settings.trigger_tokens", "= 500 if settings.trigger_tokens else 0"),
    ("overflow.py", " if not declined.of_summaries)", ")"),
    ("overflow.py", "left = min(self._left.get(mine, 0), waiting)", "left = self._left.get(mine, 0)"),
    ("serve/access.py", "not method.reach(service, params) <= self.namespaces", "not self.namespaces"),
    ("serve/access.py", "& 0o077", "& 0o007"),
    ("serve/access.py", "if method.owner_only and not self.is_owner:", "if False:"),
    ("serve/access.py", "is_owner=self.namespaces is None", "is_owner=True"),
    ("serve/bridge/codec.py", "value if math.isfinite(value) else repr(float(value))", "value"),
    (
        "serve/bridge/codec.py",
        "return {found.name: found.write(value)}",
        "return {self.several[0].name: found.write(value)}",
    ),
    ("serve/bridge/finding.py", "note.pid == pid and (is_own", "(is_own"),
    ("serve/bridge/finding.py", '(is_own or note.endpoint.startswith("unix:"))', "True"),
    ("serve/bridge/finding.py", 'if health.get("pid") != note.pid:', "if not health:"),
    ("serve/bridge/finding.py", 'if health.get("version") != __version__:', "if False:"),
    ("serve/bridge/importing.py", "if size >= most_bytes:", "if False:"),
    ("serve/bridge/keeping.py", "limit=min(limit, MOST_RECORDS)", "limit=limit"),
    ("serve/bridge/line.py", "message.removeprefix(INVALID_PARAMS_PREFIX)", "message"),
    ("serve/bridge/line.py", "if len(line) > _LARGEST:", "if False:"),
    ("serve/bridge/methods.py", "if unknown := given.keys() - own.keys():", "if unknown := set[str]():"),
    ("serve/access.py", 'if namespaces is None and "namespaces" in fields:', "if namespaces is None:"),
    ("serve/access.py", 'and each != "*"', ""),
    ("serve/calls.py", "call.access.check(seen, call.method, call.params)", "pass"),
    (
        "serve/own/where.py",
        "return frozenset({params.namespace})",
        "return frozenset({params.user_id or params.session})",
    ),
    ("serve/own/explaining.py", "return EVERYTHING", "return frozenset()"),
    ("serve/own/forgetting.py", "if not (params.all or turn or session):", "if False:"),
    ("serve/own/forgetting.py", "if params.all and (turn or session):", "if False:"),
    ("serve/own/keeping.py", 'and not name.startswith(".")', ""),
    (
        "serve/own/keeping.py",
        "name.isprintable() and not any(mark in name for mark in",
        "not any(mark in name for mark in",
    ),
    ("serve/own/conversation.py", "id=said.id or under_key", "id=under_key"),
    ("serve/own/conversation.py", 'under_key = f"{key}:{said.at}"', 'under_key = f"{said.at}"'),
    (
        "serve/client/core.py",
        'return "open" if now < self.retry_at else "half-open"',
        'return "open" if now <= self.retry_at else "half-open"',
    ),
    ("serve/client/core.py", "failures = self.failures + 1", "failures = 1"),
    ("serve/client/core.py", "SHORTEST_PAUSE_S + chance * (bound - SHORTEST_PAUSE_S)", "chance * bound"),
    ("serve/client/core.py", "self.circuit = self.circuit.tried(now, patience_s)", "pass"),
    ("serve/client/core.py", "self._waiting.pop(call_id, None)", "self._waiting.get(call_id)"),
    ("serve/client/core.py", "call.deadline <= now for", "call.deadline < now for"),
    ("serve/client/core.py", "if len(self._waiting) == 1 and not error.may_pass:", "if len(self._waiting) == 1:"),
    ("serve/client/core.py", "if isinstance(read, BadFrame):", "if False:"),
    (
        "serve/client/entries.py",
        "if _digest(payload) == data[start + _LENGTH : start + _HEADER] else None",
        "if payload else None",
    ),
    ("serve/client/entries.py", 'if data[start : start + 1] == b"\\n":', "if False:"),
    ("serve/client/spool.py", 'b"\\n" + data if torn else data', "data"),
    ("serve/client/spool.py", "if segment.stat().st_size > end:", "if False:"),
    ("serve/client/spool.py", "max(latest + 1, time.time_ns())", "time.time_ns()"),
    ("serve/client/spool.py", "max(latest + 1, time.time_ns())", "latest + 1"),
    ("serve/client/spool.py", "if held + more > self._limit:", "if held > self._limit:"),
    (
        "serve/client/delivering.py",
        "if not (yield from on_disk(desk.spool.pending)):\n        try:",
        "if True:\n        try:",
    ),
    ("serve/client/delivering.py", "if window and (order in orders or", "if window and ("),
    ("serve/client/delivering.py", "if not error.may_pass:\n                raise", "if False:\n                raise"),
    ("compact/clauses.py", "if passed - counted >= FEWEST and", "if"),
    ("compact/clauses.py", "at, counted = cut, passed", "at, counted = cut, 0"),
    ("elevating.py", "max(sums.values()) < AGAINST", "max(sums.values()) < 0.0"),
    ("elevating.py", " or [max(clauses, key=clauses.__getitem__)]", " or [rule]"),
    ("elevating.py", "if how >= HINT] or", "if how < HINT] or"),
    ("elevating.py", "        if found and found[-1][1] >= end:\n            found.pop()\n", ""),
    ("compact/weighing.py", "return _CHANCE * math.log(", "return 0.0 * math.log("),
    ("nimble.py", "        if begun:\n            until_ended()\n", ""),
    ("nimble.py", "        if go.get():\n", "        if go.get() or True:\n"),
    ("nimble.py", "bell.get(timeout=_NOTICE_S)", "bell.get()"),
    ("nimble.py", "            _go_behind_others()\n", ""),
    ("nimble.py", " and not _is_crowded()", ""),
    ("nimble.py", "[0] >= processors()", "[0] > processors()"),
    ("engines/places.py", "self._queue[0] is ticket and ", ""),
    ("engines/places.py", "self._count() - 1 if arriving else", "self._count() if arriving else"),
    ("engines/places.py", "max(1, self._count() - 1 if", "max(0, self._count() - 1 if"),
    ("engines/places.py", "default=None)", "default=None) and None"),
    (
        "engines/places.py",
        '        if work == "arriving" and now >= began + _PATIENCE_S:\n            return True\n',
        "",
    ),
    ("engines/places.py", "arriving = now < self._arriving_until", "arriving = True"),
    ("engines/places.py", "            self._working.at = before\n", "            pass\n"),
    ("engines/places.py", "            there.empty()\n", "            pass\n"),
    ("engines/session.py", "with places.one():", "if True:"),
    (
        "compacting/making.py",
        'with places.behind("later"):\n            self.condenser.prepare',
        "if True:\n            self.condenser.prepare",
    ),
    (
        "compacting/making.py",
        'with places.behind("later"):\n            vectors = ',
        "if True:\n            vectors = ",
    ),
    ("engines/places.py", "- {min(self._all)} if arriving else", "if arriving else"),
    ("engines/places.py", "self._bind(now < self._arriving_until)", "pass"),
    ("indexing.py", 'with places.behind("arriving"):', "if True:"),
    ("indexing.py", "self._elsewhere(texts) or read_texts", "read_texts"),
    # a process of its own: asked again when it dies, not waited for in vain, gone when nobody wants it
    ("apart/process.py", "_TRIES = 3", "_TRIES = 1"),
    (
        "apart/process.py",
        "                self._send(GiveUp(number))\n                raise TimeoutError",
        "                raise TimeoutError",
    ),
    ("apart/process.py", "            if given_up_at is None and cancelled():", "            if False:"),
    ("apart/process.py", "                self._tell(frame)\n", "                pass\n"),
    (
        "apart/process.py",
        "self._send(Failure(frame.number, CallCancelledError",
        "self._send(Answer(frame.number, CallCancelledError",
    ),
    (
        "apart/process.py",
        "                for heard in self._waiting.values():\n                    heard.put(None)\n",
        "",
    ),
    ("apart/process.py", "            self._pipe.end()\n", "            pass\n"),
    ("apart/serving.py", "                if frame.live:\n                    places.arrived()\n", ""),
    ("apart/serving.py", "ThreadPoolExecutor(_MOST_CALLS, ", "ThreadPoolExecutor(1, "),
    ("apart/serving.py", "        return EngineError(repr(error))\n", "        return error\n"),
    ("apart/serving.py", "                    self._given_up.add(frame.number)\n", "                    pass\n"),
    ("compacting/making_apart.py", "            self._read_here_until = time.monotonic() + _READ_HERE_S\n", ""),
    ("compacting/making_apart.py", ", patience_s=patience_s)", ")"),
    (
        "compacting/compactor.py",
        "self._parts.maker.read(texts) if self._busy else None",
        "self._parts.maker.read(texts)",
    ),
    # upkeep beside the commits
    ("store/sqlite/upkeep.py", "log_pages >= self._fold_at and", "False and"),
    ("store/sqlite/erasure.py", "    forget_words(db, texts)\n", ""),
    ("store/sqlite/fulltext.py", "if following is None or not following.startswith(word):", "if following is None:"),
    ("store/sqlite/background.py", "            except RuntimeError as error:", "            except OSError as error:"),
    ("assemble/fill.py", "sorted((known, rule), key=", "sorted((rule, known), reverse=True, key="),
    ("elevating.py", "for change in self._by_clause(turn.text, each)", "for change in [each]"),
    ("store/sqlite/upkeep.py", "self._commits >= _MERGE_EVERY and", "False and"),
    ("store/sqlite/upkeep.py", "            with self._writer.folding:\n", "            if True:\n"),
    ("store/sqlite/upkeep.py", "except (apsw.Error, OSError) as error:", "except OSError as error:"),
    ("store/sqlite/writer.py", "elif self._log_pages >= self._most_log_pages:", "elif False:"),
    ("store/sqlite/writer.py", "            with self.folding:\n", "            if True:\n"),
    ("store/sqlite/connections.py", '    db.pragma("user_version")\n', ""),
    ("store/sqlite/schema.py", "('automerge', 0)", "('automerge', 4)"),
    ("store/sqlite/writer.py", "self._sync(not all(", "self._sync(not any("),
    ("store/sqlite/writer.py", "self._sync(not all(ticket.work.may_wait for ticket in group))", "self._sync(True)"),
    ("compacting/writing.py", "        self._parts.store.sync()\n", "        return\n"),
    ("serve/client/delivering.py", "        claim.release()\n\n\ndef _let_go", "        pass\n\n\ndef _let_go"),
    ("serve/client/delivering.py", "return index, outcome.message", "return len(window), outcome.message"),
    ("serve/client/delivering.py", "or asked.params is entry.params:", "or True:"),
    ("serve/client/delivering.py", "batch.placed[done - 1].end", "batch.placed[0].end"),
    ("serve/client/verbs.py", "if not delivery.finished:", "if False:"),
    ("serve/client/verbs.py", "advancement_key=advancement_key, **whose", "**whose"),
)


@dataclass(frozen=True)
class Verdict:
    number: int
    survived: bool
    seconds: float
    note: str


def copy_source(place: Path) -> Path:
    """The package without its model, which is linked: no mutant touches it."""
    target = place / "libravdb_memory"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    (target / "engines" / "bundled").symlink_to(PACKAGE / "engines" / "bundled")
    return target


def judge(number: int, package: Path) -> Verdict:
    name, fragment, replacement = MUTANTS[number]
    file = package / name
    original = file.read_text()
    if original.count(fragment) != 1:
        return Verdict(number, True, 0.0, f"the fragment is there {original.count(fragment)} times")
    started = time.monotonic()
    file.write_text(original.replace(fragment, replacement))
    try:
        passed = run_tests(package, TESTS[name])
    finally:
        file.write_text(original)
    return Verdict(number, passed, time.monotonic() - started, "SURVIVED" if passed else "caught")


def run_tests(package: Path, tests: tuple[str, ...]) -> bool:
    environment = os.environ | {
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LIBRAVDB_HYPOTHESIS": "mutants",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(package.parent / "hypothesis"),
    }
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not long and not slow"]
    files = [str(ROOT / "tests" / test) for test in tests]
    command = [sys.executable, "-m", "pytest", *options, *files]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="mutants of files whose name contains this")
    arguments = parser.parse_args()
    chosen = [number for number, mutant in enumerate(MUTANTS) if arguments.only in mutant[0]]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="libravdb-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(arguments.jobs):
            copies.put(copy_source(Path(folder) / str(job)))

        def with_copy(act: Callable[[Path], T]) -> T:
            package = copies.get()
            try:
                return act(package)
            finally:
                copies.put(package)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            suites = sorted({TESTS[MUTANTS[number][0]] for number in chosen})
            sound = pool.map(lambda suite: with_copy(lambda package: run_tests(package, suite)), suites)
            if failing := [suite for suite, passed in zip(suites, sound, strict=True) if not passed]:
                print(f"these fail without any mutant: {failing}", file=sys.stderr)
                return 2
            judged = pool.map(lambda number: with_copy(lambda package: judge(number, package)), chosen)
            verdicts = [show(verdict) for verdict in judged]
    survivors = sum(verdict.survived for verdict in verdicts)
    caught, minutes = len(verdicts) - survivors, (time.monotonic() - started) / 60
    print(f"{counted(len(verdicts), 'mutant')}, {caught} caught, {survivors} survived, in {minutes:.1f} minutes")
    return 1 if survivors else 0


def show(verdict: Verdict) -> Verdict:
    name, fragment, replacement = MUTANTS[verdict.number]
    change = f"{fragment.strip()} -> {replacement.strip() or 'nothing'}".replace("\n", " ")
    print(f"{verdict.note:10} {verdict.seconds:5.1f}s  {name:22} {change}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
