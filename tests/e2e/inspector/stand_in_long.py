"""The invented store with everything in thousands."""

from __future__ import annotations

from tests.e2e.inspector.stand_in_data import Form, World, whole_turn

BLOCKS, ITEMS = 5000, 4000


class Long(World):
    """A document of thousands of blocks, from one line to a screenful, and prompts of thousands of items."""

    def document(self, params: Form) -> Form:
        told = super().document(params)
        blocks = [{**told["blocks"][at % 5 + 1], **_block(at)} for at in range(BLOCKS)]
        return {**told, "blocks": blocks}

    def documents(self, params: Form) -> Form:
        told = super().documents(params)
        places = [{"document": "AGENTS.md", "line": 1 + at, "node": at, "text": f"Rule {at}."} for at in range(BLOCKS)]
        twice = [{"rule": f"rule {at}", "places": places[at : at + 2]} for at in range(0, 3000, 2)]
        often = {"rule": "said in every block", "places": places}
        names = [{**told["documents"][1], "name": f"note-{at}.md"} for at in range(1500)]
        return {
            **told,
            "documents": [*told["documents"], *names],
            "contradictions": [{**told["contradictions"][0], "action": f"squash {at}"} for at in range(1500)],
            "duplicates": [often, *twice],
        }

    def receipt_view(self, params: Form) -> Form:
        view = super().receipt_view(params)
        number = int(params["receiptId"].rpartition("-")[2])
        item = next(one for one in view["items"] if one["tier"] == "recalled")
        text, items = "# Memory\n", []
        for at in range(ITEMS):
            said = f"Item {at + number} was remembered."
            text += "\n"
            items.append(
                {**item, "id": f"i{at + number}", "text": said, "start": len(text), "end": len(text) + len(said)}
            )
            text += said
        offered = {key: value for key, value in item.items() if key not in ("tokens", "start", "end")}
        rejected = [
            {**offered, "id": f"r{at}", "text": f"Rejected {at}.", "reason": "budget", "margin": float(at + 1)}
            for at in range(ITEMS)
        ]
        gone = [{"tier": "recalled", "id": one["id"], "sessionId": "s"} for one in rejected]
        left = gone if params.get("budget") else []
        return {**view, "text": text, "items": items, "rejections": rejected, "left": left}

    def memory_expand(self, params: Form) -> Form:
        begin = int(params.get("after") or 0)
        said = whole_turn(self.said["ada", "billing-migration"][0])
        items = [{**said, "id": f"e{at}", "text": f"Turn {at}. " + "More. " * (at % 40)} for at in range(3000)]
        end = begin + params["limit"]
        cursor = str(end) if end < len(items) else None
        return {**super().memory_expand(params), "items": items[begin:end], "cursor": cursor}


def _block(at: int) -> Form:
    text = f"- Rule {at} must hold.\n" + "  It goes on for a while, as rules do. " * (at * 7 % 23)
    text += "\n    and has code" * (at % 97 == 0) * 30
    mark = {"modality": "obligatory", "start": text.index("must"), "end": text.index("must") + 4}
    return {"id": f"b{at}", "ordinal": at, "line": 1 + 3 * at, "text": text, "marks": [mark]}
