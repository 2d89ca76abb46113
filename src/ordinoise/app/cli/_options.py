"""Types of arguments that several verbs share, with their help."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordinoise.app.verbs.request import (
    CorruptionRequest,
    EvaluationRequest,
    JudgeRequest,
    PredictionRequest,
    RatingsRequest,
    Request,
)

Json = Annotated[bool, Parameter(help="Print the result as JSON.")]
# Every field of the class becomes an option of the verb.
RequestOptions = Annotated[Request, Parameter(name="*")]
CorruptionOptions = Annotated[CorruptionRequest, Parameter(name="*")]
RatingsOptions = Annotated[RatingsRequest, Parameter(name="*")]
JudgeOptions = Annotated[JudgeRequest, Parameter(name="*")]
PredictionOptions = Annotated[PredictionRequest, Parameter(name="*")]
EvaluationOptions = Annotated[EvaluationRequest, Parameter(name="*")]
