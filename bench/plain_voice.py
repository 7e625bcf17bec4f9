# pyright: basic
# The framework's own types are not complete enough for more.
"""The plainest voice bot: a livekit-agents AgentSession with Alicia's models, which stores nothing.

python bench/plain_voice.py LIVEKIT_URL API_KEY API_SECRET LLM_URL LLM_MODEL LLM_API_KEY AGENT_NAME
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE"] = "0"

import openai
from livekit import rtc
from livekit.agents import (
    Agent,
    AgentServer,
    AgentSession,
    JobContext,
    JobExecutorType,
    inference,
    llm,
    tts,
)
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, APIConnectOptions

from alicia.engine.prompt import SYSTEM
from alicia.speech.activity import Activity, load
from alicia.speech.hibari import Hibari
from alicia.speech.listener import Listener
from alicia.speech.moonshine import Moonshine
from alicia.speech.synthesiser import RATE, Manner


class Model(llm.LLM):
    """Any OpenAI-compatible server."""

    def __init__(self, url: str, model: str, api_key: str) -> None:
        super().__init__()
        self.name = model
        self.client = openai.AsyncOpenAI(
            base_url=url, api_key=api_key, http_client=openai.DefaultAsyncHttpxClient(trust_env=False)
        )

    def chat(self, *, chat_ctx: llm.ChatContext, tools: list[llm.Tool] | None = None, **_: object) -> "Words":
        return Words(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=DEFAULT_API_CONNECT_OPTIONS)


class Words(llm.LLMStream):
    """One answer."""

    async def _run(self) -> None:
        model = self._llm
        assert isinstance(model, Model)
        messages: Any = self._chat_ctx.to_provider_format("openai")[0]
        stream = await model.client.chat.completions.create(
            model=model.name, messages=messages, stream=True, max_tokens=200
        )
        # What is not wanted any more must not keep a model busy that serves one at a time.
        async with stream:
            async for chunk in stream:
                if chunk.choices and (text := chunk.choices[0].delta.content):
                    delta = llm.ChoiceDelta(role="assistant", content=text)
                    self._event_ch.send_nowait(llm.ChatChunk(id=chunk.id, delta=delta))


class Voice(tts.TTS):
    """The local voice."""

    def __init__(self, hibari: Hibari) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=RATE, num_channels=1)
        self.hibari = hibari

    def synthesize(
        self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> "Sound":
        return Sound(tts=self, input_text=text, conn_options=conn_options)


class Sound(tts.ChunkedStream):
    """One sentence."""

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        voice = self._tts
        assert isinstance(voice, Voice)
        output_emitter.initialize(request_id="1", sample_rate=RATE, num_channels=1, mime_type="audio/pcm")
        async for sound in voice.hibari.speak(self.input_text, Manner()):
            output_emitter.push(sound)
        output_emitter.flush()


def main(url: str, key: str, secret: str, llm_url: str, llm_model: str, llm_key: str, name: str) -> None:
    server = AgentServer(
        ws_url=url,
        api_key=key,
        api_secret=secret,
        host="127.0.0.1",
        port=0,
        job_executor_type=JobExecutorType.THREAD,
        num_idle_processes=1,
        load_fnc=lambda: 0.0,
    )

    async def answer_room(context: JobContext) -> None:
        moonshine, hibari = Moonshine(), Hibari()
        await asyncio.gather(moonshine.warm(), hibari.warm(), asyncio.to_thread(load))
        await context.connect()
        session: AgentSession[None] = AgentSession(
            stt=Listener(moonshine, Activity),
            vad=inference.VAD(),
            llm=Model(llm_url, llm_model, llm_key),
            tts=Voice(hibari),
            turn_handling={
                "turn_detection": inference.TurnDetector(version="v1-mini"),
                "interruption": {"mode": "vad"},
                "preemptive_generation": {"enabled": True},
            },
            aec_warmup_duration=None,
            user_away_timeout=None,
        )
        hush: Callable[[rtc.DataPacket], object] = lambda _: session.interrupt(force=True)  # noqa: E731
        context.room.on("data_received", hush)
        await session.start(Agent(instructions=SYSTEM), room=context.room, record=False)
        await context.room.local_participant.set_attributes({"bot": "here"})

    async def live() -> None:
        server.rtc_session(answer_room, agent_name=name)
        server.on("worker_registered", lambda *_: print("registered worker", flush=True))
        await server.run()

    asyncio.run(live())


if __name__ == "__main__":
    main(*sys.argv[1:])
