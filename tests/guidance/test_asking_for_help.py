"""People who ask for help say what they want, use and try: none of it is guidance for later."""

from __future__ import annotations

from tests.guidance.turns_of_their_own import shards_of

MOST_FALSE = 0.05
ASKING = """
I'm working on a recipe converter and the cup sizes come out wrong. Could you look at the rounding?
I'm building a bird feeder with a camera. I want to make sure the lens doesn't fog up, what should I check?
We moved our newsletter to another provider and half of the images are gone, how do I find out why?
I've got a FastAPI service with three routes, and I'd like to add caching to the slowest one.
I'm learning the cello and my left hand gets tired after ten minutes. What am I doing wrong?
Can you help me phrase a reply to my landlord? I want to sound friendly but firm.
I'm using Inkscape for the poster, but the export looks blurry on the big screen.
I'd like to compare two mortgages. The first has a fixed rate, the second one doesn't.
My goal is to run ten kilometres by autumn, and I've just started with two.
I want to write a small Lisp interpreter in Zig, where would you begin?
I've tried three sourdough starters and none of them rises. I'm considering buying one.
I'm trying to get the average response time below 80 ms, currently it's at 140 ms with Redis in front.
I have a table with 40 columns and I want to know which ones matter for churn.
I'm setting up a home network with two access points, and I want both to use the same name.
Could you explain the difference between a mutex and a semaphore? I keep mixing them up.
I'm planning a surprise party for my sister and I'd like to keep it under 300 euros.
I started with SQLite because it's small, but I'm wondering if it was the right choice.
I want to make sure my slides are readable from the last row, can you check the font sizes?
I'm Marta, I run a tiny pottery studio and I want to sell online.
I've added retries to the uploader, however some files still arrive twice.
I'd like the chart to show months on the x axis, how do I do that in ggplot?
I'm preparing for an exam on thermodynamics, and entropy makes no sense to me.
I need to send 2,000 invitations by Friday, is there a quick way to do it?
I'm thinking about switching from Bash to Python for our backup scripts, what do you think?
We're using GitLab with two runners, and the second one is never picked up.
I want to understand why my tomatoes crack, I water them every evening.
I've written a regex for phone numbers and it also matches dates. Here it is:
I'm not sure if I should use a join or a subquery here. It works either way.
I'd like to improve my Spanish before we move to Valencia next year.
I'm deploying with Ansible for the first time, and I want to avoid breaking the staging machine.
Thanks, that helped! I'll try the second option and tell you how it went.
That makes sense. I'll keep the first version and come back to the layout later.
I've finished the migration on Tuesday, and all 412 tests pass now.
I'm curious how others solve this, especially with small teams.
Can you summarise the article for me? I only need the part about tariffs.
I'm trying to keep the binary under 5 MB, and the icons alone take two of them.
I want to give a talk about lichens at our local library. Which pictures would you show?
I'm looking for a name for my boat, something with the wind in it.
I've got two job offers and I can't decide, could you list what speaks for each?
I'm writing a letter to my grandmother, and I'd like it to sound warm.
""".strip().splitlines()


def test_hardly_anybody_who_asks_for_help_is_taken_to_have_given_a_rule() -> None:
    kept = shards_of(ASKING)
    assert len(kept) <= MOST_FALSE * len(ASKING), list(kept)
