"""Traces of jobs for OpenTelemetry: a job is a trace, sent over OTLP/HTTP once it has ended."""

from .job_spans import JobSpan, SeenEvent, job_spans, span_id, trace_id
from .trace_exporter import TraceExporter, trace_address

__all__ = ["JobSpan", "SeenEvent", "TraceExporter", "job_spans", "span_id", "trace_address", "trace_id"]
