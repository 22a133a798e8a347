"""Names that the launcher, the engine and the reader share: variables, files, records, `dynamo export`.

Imported at the start of every observed Python process, so this module imports nothing.
"""

# Environment variables that reach the observed processes.
RECORDING_VARIABLE = "DYNAMO_RUN_RECORDING"
SETTINGS_VARIABLE = "DYNAMO_RUN_SETTINGS"

# Files of a recording, beside the streams.
RUN_FILE = "dynamo_run.json"
RUN_FORMAT, RUN_VERSION = "dynamo-recording", 1
PYTHON_PROCESSES_FILE = "dynamo_python_processes.txt"
ENGINE_FAILURE_PREFIX = "dynamo_engine_failed_"

# torch's own name for a structured trace (torch/_logging/_internal.py: LOG_PREFIX); tlparse knows it.
STREAM_PREFIX = "dedicated_log_torch_trace_"
STREAM_SUFFIX = ".log"
CALLS_PREFIX = "dynamo_calls_"
CALLS_SUFFIX = ".bin"
STACK_PREFIX = "dynamo_stack_"
STACK_SUFFIX = ".txt"
UPLOAD_LIST_PREFIX = "dynamo_uploaded_"
UPLOAD_LIST_SUFFIX = ".json"
UPLOADER_LOCK = "dynamo_uploader"
DIGEST_PREFIX = "dynamo_digest_"
DIGEST_SUFFIX = ".json"
PROFILE_PREFIX = "dynamo_profile_"
PROFILE_SUFFIX = ".json.gz"


def beside_stream(stream: str, prefix: str, suffix: str) -> str:
    """The name of another file of a stream's process, in the same folder."""
    return prefix + stream.removeprefix(STREAM_PREFIX).removesuffix(STREAM_SUFFIX) + suffix


# The folder in a recording for the trials of `dynamo export`, and the files with which the launcher and the
# copies of the program's processes synchronize.
EXPORT_FOLDER = "dynamo_export"
EXPORT_RUNNING = "running.lock"
EXPORT_TURN = "turn.lock"
EXPORT_ENDED = "program_has_ended"
EXPORT_STOP = "stop"
EXPORT_CALL_SUFFIX = ".call"  # inputs of a call, removed once they are read

# The arguments of a graph's call, in the folder of `save_inputs`: the number of the call, or "raised".
SAVED_INPUTS = "{pid}-{graph}-{call}.pt"
SAVED_CALLS = 2  # the first ones, as many as `--verify` compares of a graph
FIRST_CALLS = 8  # of a function are all compared by `--verify`, then the 16th, 32nd, …

# Artifact records of our own in a stream. Their payloads are JSON objects.
PROCESS_START = "dynamo_process_start"
TIMELINE = "dynamo_timeline"
IMPORTED = "dynamo_imported"
PROCESS_STATE = "dynamo_process_state"
PROCESS_END = "dynamo_process_end"
CAPTURE_DECISION = "dynamo_capture_decision"
PROBE_FAILED = "dynamo_probe_failed"
FRAME = "dynamo_frame"
FX_GRAPH = "dynamo_fx_graph"
GRAPH_COMPILED = "dynamo_graph_compiled"
GRAPH_TAKEN = "dynamo_graph_taken"
GRAPH_RETURNED = "dynamo_graph_returned"
BACKWARD_COMPILED = "dynamo_backward_compiled"
BYTECODE = "dynamo_bytecode"
RESUME_FUNCTION = "dynamo_resume_function"
GUARDS = "dynamo_guards_structure"
GRAPH_BREAK = "dynamo_graph_break"
TRACING_TIME = "dynamo_tracing_time"
PROFILE_WINDOW = "dynamo_profile_window"
OVERRIDE = "dynamo_override"
CONFIG_CHANGED = "dynamo_config_changed"
NOTEBOOK_CELL = "dynamo_notebook_cell"
FROZEN = "dynamo_frozen"
NOT_COMPILED = "dynamo_not_compiled"
COMPILE_BEGUN = "dynamo_compile_begun"
FRAME_DEFERRED = "dynamo_put_off"
CALLS_AT_LIMIT = "dynamo_calls_at_limit"
VERIFIED = "dynamo_verified"
PROGRAM_CALL_VERIFIED = "dynamo_program_call"
CHANGE_TRIED = "dynamo_change_tried"
OPTIMIZER = "dynamo_optimizer"
AOT_PAIR = "dynamo_aot_pair"
STEP_MARKS = "dynamo_step_marks"
SEMANTICS = "dynamo_semantics"
CUDA_GRAPH = "dynamo_cuda_graph"
GRADIENT_EXCHANGE = "dynamo_gradient_exchange"
CACHES = "dynamo_caches"
COMPILE_RESULT_UNUSED = "dynamo_compile_result_unused"
LINES_TRACED = "dynamo_lines_traced"
HOOKS_NOT_CALLED = "dynamo_hooks_not_called"
CACHE_BYPASSED_BY = "dynamo_cache_bypassed_by"
CACHE_KEY_PARTS = "dynamo_cache_key_parts"
CACHE_BUNDLE = "dynamo_cache_bundle"
MODULES_CALLED = "dynamo_modules_called"
MODULE_TO_EXPORT = "dynamo_module_to_export"
EXPORT_TRIED = "dynamo_export_tried"
EXPORT_COMPARED = "dynamo_export_compared"

# The kinds of trials of `dynamo export`: torch.export.export, without Dynamo and with it; where one of them
# fails, torch.export.draft_export and Dynamo with graph breaks allowed; and AOTInductor.
EXPORT, STRICT, DRAFT, COMPILE, AOTI = "export", "strict", "draft", "compile", "aoti"
KINDS = (EXPORT, STRICT, DRAFT, COMPILE, AOTI)

# The outcomes of a trial. RAISED: the module itself raises, without export. TOO_LONG, CRASHED: it was ended.
DONE, FAILED, RAISED, TOO_LONG, CRASHED = "done", "failed", "raised", "too long", "crashed"
OUTCOMES = (DONE, FAILED, RAISED, TOO_LONG, CRASHED)

# What `--verify` calls differences of rounding: by casts that Inductor leaves out, and others.
MORE_EXACT, ROUNDED_OTHERWISE = "more exact than written", "rounded otherwise"
GRADIENT = "gradient of "  # begins the path of a difference in one
BEFORE = "of the call before, "  # begins the path of a difference in what the call before has returned
