"""The data model of a recording, as plain data: what the reader builds and the reporters read.

The names are PyTorch's own (frame, compile id, graph, graph break, resume function, guard, recompile). A
value that was not recorded is None, never 0. Counts belong to one process; `Recording` adds them up.
"""

from ..shared.early_records import (
    CaptureDecision,
    GradientExchange,
    Import,
    Optimizer,
    ProcessEnd,
    ProcessInfo,
    ProcessState,
    Timeline,
)
from ..shared.records import ChangedSetting, FreezeNoted
from .caches import CacheLookup, CalledCollective, CountedLayer, LayerCount
from .compiles import (
    Bytecode,
    Compile,
    Compiling,
    Deferred,
    Frame,
    GeneratedKernels,
    HooksLeftOut,
    Instruction,
    Phase,
    ResumeFunction,
    Specialization,
    Stage,
    Symbol,
    TracedFunction,
    UnusedCompile,
)
from .exports import (
    CalledModule,
    ConstantSeen,
    DraftedObstacle,
    ExportComparison,
    ExportTrial,
    InputSeen,
    TracedExport,
)
from .graphs import (
    AotPair,
    AssignedBackend,
    CallSample,
    CallTimes,
    CudaGraphNoted,
    DeclinedBy,
    Graph,
    GraphModes,
    Node,
    OperatorSource,
    SavedTensor,
    TensorInfo,
    UnrolledLoop,
)
from .guards import (
    BreakExplanation,
    FailureKind,
    GraphBreak,
    Guard,
    GuardCheck,
    GuardFailure,
    GuardSet,
    RecompileReasons,
)
from .ids import UNKNOWN_FILE, CompileId, Place, StackFrame, function_of, resumed_function
from .interventions import (
    AGREES,
    DISAGREES,
    NOT_COMPARABLE,
    NOT_VERIFIED,
    VERIFY_OUTCOMES,
    AppliedOverride,
    ComparedValue,
    NotCompiled,
    Replaced,
    SemanticDifference,
    TracedAgain,
    TriedChange,
    VerifiedCall,
    VerifiedProgramCall,
    WrongNode,
)
from .run import (
    GROUPS,
    Caching,
    EquivalentRank,
    Exporting,
    Health,
    Interventions,
    Process,
    Profiling,
    Recording,
    Run,
    RunSettings,
    Runtime,
)
from .window import (
    EagerOperator,
    GraphPart,
    ProfileWindow,
    StepMemory,
    WindowKernel,
    WindowOperator,
    WindowPart,
    WindowSpan,
)
