"""The plainest bot on livekit-agents: answers data packets with a model's sentences, and stores nothing."""

import asyncio
import re
import threading
import time

from livekit import api, rtc
from livekit.agents import AgentServer, JobContext, JobExecutorType
from openai import AsyncOpenAI

from alicia import ids
from support.rooms import participant
from support.servers import LiveKitServer
from support.stack import Stack

NAME = "bare-bot"
STOP = re.compile(r"[.!?] ")


def _serve(livekit: LiveKitServer, model_url: str, ready: threading.Event, ended: threading.Event) -> None:
    server = AgentServer(
        ws_url=livekit.url,
        api_key=livekit.api_key,
        api_secret=livekit.api_secret,
        host="127.0.0.1",
        port=0,
        job_executor_type=JobExecutorType.THREAD,
        num_idle_processes=1,
        load_fnc=lambda: 0.0,
    )

    async def answer_room(context: JobContext) -> None:
        model = AsyncOpenAI(base_url=model_url, api_key="none")
        packets: asyncio.Queue[bytes] = asyncio.Queue()

        def received(packet: rtc.DataPacket) -> None:
            packets.put_nowait(packet.data)

        context.room.on("data_received", received)  # pyright: ignore[reportUnknownMemberType]
        await context.connect()
        await context.room.local_participant.set_attributes({"bot": "here"})
        while True:
            question = (await packets.get()).decode()
            stream = await model.chat.completions.create(
                model="scripted", messages=[{"role": "user", "content": question}], stream=True
            )
            text = ""
            async for chunk in stream:
                text += chunk.choices[0].delta.content or "" if chunk.choices else ""
                while found := STOP.search(text):
                    sentence, text = text[: found.end()], text[found.end() :]
                    await context.room.local_participant.publish_data(sentence, reliable=True)
            await context.room.local_participant.publish_data(text + "\n", reliable=True)

    async def live() -> None:
        server.rtc_session(answer_room, agent_name=NAME)
        running = asyncio.create_task(server.run())
        server.on("worker_registered", lambda *_: ready.set())  # pyright: ignore
        await asyncio.to_thread(ended.wait)
        await server.aclose()
        await running

    asyncio.run(live())


async def bare_bot(stack: Stack, livekit: LiveKitServer, turns: int) -> list[float]:
    """Seconds from a question to its first sentence."""
    ready, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=_serve, args=(livekit, stack.model.url, ready, ended))
    thread.start()
    try:
        await asyncio.to_thread(ready.wait, 60)
        room = ids.new(ids.ConversationId)
        async with api.LiveKitAPI(livekit.url, livekit.api_key, livekit.api_secret) as livekit_api:
            dispatch = api.RoomAgentDispatch(agent_name=NAME)
            await livekit_api.room.create_room(api.CreateRoomRequest(name=room, agents=[dispatch]))
        times: list[float] = []
        async with participant(livekit, room, "someone") as someone:
            await someone.sees_an_agent()
            for _ in range(turns + 10):
                began = time.perf_counter()
                await someone.send(b"Hello")
                packet = await someone.receive()
                times.append(time.perf_counter() - began)
                while not packet.data.endswith(b"\n"):
                    packet = await someone.receive()
        return times[10:]
    finally:
        ended.set()
        await asyncio.to_thread(thread.join, 30)
