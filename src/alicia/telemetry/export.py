"""Spans on their way to a collector, by OpenTelemetry's SDK and its standard variables.

Imported only where traces are configured: the SDK takes a third of a second.
"""

import time
from collections.abc import Mapping

from opentelemetry.context import Context as Surroundings
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from alicia.telemetry.tracing import Context


class _Recording:
    def __init__(self, span: Span) -> None:
        self._span = span
        context = span.get_span_context()
        self.context = Context(context.trace_id, context.span_id)

    def end(self, error: BaseException | None) -> None:
        if error is not None:
            # The error's kind, not its message: that may quote what was said.
            self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))
        self._span.end()


class Exporter:
    """Sends spans in batches from a thread of its own; `close` sends what is left.

    The provider is not made the process's own, or libraries would send their spans too, content and all.
    """

    def __init__(self, service: str, url: str) -> None:
        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before.
        resource = Resource({SERVICE_NAME: service}).merge(Resource.create())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(url)))
        self._tracer = self._provider.get_tracer("alicia")

    def start(
        self, name: str, parent: Context | None, attributes: Mapping[str, str | int], ago: float = 0.0
    ) -> _Recording:
        # Empty without a parent: spans that libraries have under way are none of ours.
        context = Surroundings()
        if parent is not None:
            remote = SpanContext(
                parent.trace_id,
                parent.span_id or 1,
                is_remote=True,
                trace_flags=TraceFlags(TraceFlags.SAMPLED if self._sampled(parent) else TraceFlags.DEFAULT),
            )
            context = set_span_in_context(NonRecordingSpan(remote), context)
        named = {f"alicia.{key}": value for key, value in attributes.items()}
        began = time.time_ns() - round(ago * 1e9)
        return _Recording(self._tracer.start_span(name, context, attributes=named, start_time=began))

    def _sampled(self, parent: Context) -> bool:
        """Whether the trace is exported: an envelope does not say, so its beginning is judged again.

        All samplers that OTEL_TRACES_SAMPLER may name go by the trace's id alone, so every process agrees.
        """
        return self._provider.sampler.should_sample(Surroundings(), parent.trace_id, "").decision.is_sampled()

    def close(self) -> None:
        self._provider.shutdown()
