"""What is read from files: folders of Markdown, Obsidian vaults and dream diaries.

`diary`, `tags` and `selection` are pure. `scan` reads a root, `loader` and `dreams` bring what changed into the store,
`watch` keeps doing so. Law: a file that cannot be read, a link that leads nowhere or a root that is gone never stops
the others; it is reported.
"""
