"""The trials of `dynamo export`, as they are named in records: in which ways, and what came of one.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

# torch.export.export, without Dynamo and with it; then what looks further where one of them fails:
# torch.export.draft_export, and Dynamo with graph breaks allowed; and AOTInductor.
EXPORT, STRICT, DRAFT, COMPILE, AOTI = "export", "strict", "draft", "compile", "aoti"
KINDS = (EXPORT, STRICT, DRAFT, COMPILE, AOTI)

# RAISED: the module itself does, outside of any export. The last two are of a trial that was ended.
DONE, FAILED, RAISED, TOO_LONG, CRASHED = "done", "failed", "raised", "too long", "crashed"
OUTCOMES = (DONE, FAILED, RAISED, TOO_LONG, CRASHED)
