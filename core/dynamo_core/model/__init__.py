"""What happened in a run, as plain data: the language that the reader and the reporters share.

The words are PyTorch's own (frame, compile id, graph, graph break, resume function, guard, recompile). A
value that was not recorded is None, never 0. Counts belong to one process; `Recording` adds them up.
"""

from .breaks import BreakExplanation, GraphBreak
from .caches import CacheLookup, CountedLayer, LayerCount
from .calls import CallSample, CallTimes
from .compiles import (
    Bytecode,
    Compile,
    Compiling,
    Frame,
    GeneratedKernels,
    Instruction,
    PutOff,
    ResumeFunction,
    Specialization,
    Stage,
    Symbol,
)
from .described import ProcessEnd, ProcessInfo, ProcessState, Run, RunSettings
from .exports import (
    CalledModule,
    ConstantSeen,
    DraftedObstacle,
    ExportComparison,
    ExportTrial,
    InputSeen,
    TracedExport,
)
from .flight_recorder import CalledCollective
from .graphs import DeclinedBy, Graph, GraphModes, Node, OperatorSource, Taking, TensorInfo, UnrolledLoop
from .guards import Guard, GuardCheck, GuardFailure, GuardSet, RecompileReasons
from .ids import UNKNOWN_FILE, CompileId, Place, StackFrame, function_of, resumed_function
from .interventions import (
    AppliedOverride,
    CaptureDecision,
    ChangedSetting,
    Freeze,
    NotCompiled,
    Replaced,
)
from .phases import Phase, TracedFunction
from .run import AlikeRank, Import, Process, Recording, Timeline
from .training import AotPair, Optimizer, SavedTensor
from .verification import (
    AGREES,
    DISAGREES,
    NOT_COMPARABLE,
    NOT_VERIFIED,
    VERIFY_OUTCOMES,
    ComparedValue,
    SemanticDifference,
    VerifiedCall,
    WrongNode,
)
from .window import (
    EagerOperator,
    GraphPart,
    ProfileWindow,
    WindowKernel,
    WindowOperator,
    WindowPart,
    WindowSpan,
)

__all__ = [
    "AGREES",
    "DISAGREES",
    "NOT_COMPARABLE",
    "NOT_VERIFIED",
    "UNKNOWN_FILE",
    "VERIFY_OUTCOMES",
    "AlikeRank",
    "AotPair",
    "AppliedOverride",
    "BreakExplanation",
    "Bytecode",
    "CacheLookup",
    "CallSample",
    "CallTimes",
    "CalledCollective",
    "CalledModule",
    "CaptureDecision",
    "ChangedSetting",
    "ComparedValue",
    "Compile",
    "CompileId",
    "Compiling",
    "ConstantSeen",
    "CountedLayer",
    "DeclinedBy",
    "DraftedObstacle",
    "EagerOperator",
    "ExportComparison",
    "ExportTrial",
    "Frame",
    "Freeze",
    "GeneratedKernels",
    "Graph",
    "GraphBreak",
    "GraphModes",
    "GraphPart",
    "Guard",
    "GuardCheck",
    "GuardFailure",
    "GuardSet",
    "Import",
    "InputSeen",
    "Instruction",
    "LayerCount",
    "Node",
    "NotCompiled",
    "OperatorSource",
    "Optimizer",
    "Phase",
    "Place",
    "Process",
    "ProcessEnd",
    "ProcessInfo",
    "ProcessState",
    "ProfileWindow",
    "PutOff",
    "RecompileReasons",
    "Recording",
    "Replaced",
    "ResumeFunction",
    "Run",
    "RunSettings",
    "SavedTensor",
    "SemanticDifference",
    "Specialization",
    "StackFrame",
    "Stage",
    "Symbol",
    "Taking",
    "TensorInfo",
    "Timeline",
    "TracedExport",
    "TracedFunction",
    "UnrolledLoop",
    "VerifiedCall",
    "WindowKernel",
    "WindowOperator",
    "WindowPart",
    "WindowSpan",
    "WrongNode",
    "function_of",
    "resumed_function",
]
