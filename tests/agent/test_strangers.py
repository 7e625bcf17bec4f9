"""What does not belong into a conversation is answered or ignored, and harms nothing."""

import os

import httpx2
from msgspec.structs import replace

from alicia import ids
from alicia.protocol.envelope import MAX_BYTES, Envelope, encode
from alicia.protocol.messages import AssistantSentence, Configuration, ErrorMessage, UserMessage
from alicia.storage.pool import Pool
from support.device import device
from support.rooms import Participant, participant
from support.servers import LiveKitServer
from support.stack import Stack
from support.tables import journal, rows


async def tell(someone: Participant, envelope: Envelope) -> None:
    await someone.send(encode(envelope))


def message(conversation_id: ids.ConversationId, text: str, stanza_id: int = 1) -> Envelope:
    body = UserMessage(conversation_id=conversation_id, id=ids.new(ids.MessageId), content=text)
    return Envelope(stanza_id=stanza_id, conversation_id=conversation_id, type=body.CODE, body=body)


async def test_the_api_gives_nobody_a_way_into_anothers_conversation(stack: Stack, user: str) -> None:
    async with device(stack, user) as owner, httpx2.AsyncClient(timeout=30) as http:
        for name, conversation_id in (("mallory", owner.id), (user, ids.new(ids.ConversationId))):
            async with stack.caller(name) as api:
                answer = await api.post("/tokens", json={"conversationId": conversation_id})
            assert answer.status_code == 404
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"] == "There is no such conversation."
        refused = await http.post(f"{stack.url}/api/v1/tokens", json={})
        assert refused.status_code == 401


async def test_a_participant_of_another_user_is_neither_heard_nor_told(
    stack: Stack, user: str, livekit: LiveKitServer, pool: Pool
) -> None:
    async with (
        device(stack, user) as owner,
        participant(livekit, owner.id, "mallory:phone") as stranger,
    ):
        await tell(stranger, message(owner.id, "I am not the owner"))
        opening = Configuration(conversation_id=owner.id, last_sequence_seen=0)
        await tell(stranger, Envelope(stanza_id=2, conversation_id=owner.id, type=12, body=opening))
        await owner.ask("I am the owner")
        assert await journal(pool, owner.id) == owner.log
        assert [body.content for body in owner.all(UserMessage)] == ["I am the owner"]
        assert stranger.packets.empty()


async def test_a_forged_conversation_id_reaches_no_other_conversation(
    stack: Stack, user: str, pool: Pool
) -> None:
    async with device(stack, f"{user}-victim") as victim, device(stack, user) as forger:
        await victim.ask("Mine")
        await forger.send(message(victim.id, "Forged", stanza_id=forger.session.clock + 1))
        assert (await forger.hears(ErrorMessage)).code == 201
        await forger.ask("Still welcome in my own")
        assert await journal(pool, victim.id) == victim.log


async def test_an_envelope_of_nearly_a_mebibyte_is_taken_and_a_larger_one_refused(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say("That was long.", always=True)
    async with device(stack, user) as writer:
        large = message(writer.id, "x" * 900_000, stanza_id=writer.session.clock + 1)
        await writer.room.stream(encode(large), to=writer.agents)
        await writer.until(lambda: writer.all(AssistantSentence))
        stored = await rows(
            pool, "SELECT length(contents) FROM alicia_messages WHERE id = %s", getattr(large.body, "id", "")
        )
        assert stored == [(900_000,)]
        too_large = encode(replace(large, stanza_id=writer.session.clock + 1)) + b"x" * (MAX_BYTES - 900_000)
        await writer.room.stream(too_large, to=writer.agents)
        assert (await writer.hears(ErrorMessage)).code == 105
        await writer.ask("Still there?")


async def test_ten_thousand_packets_of_garbage_cost_neither_memory_nor_the_conversation(
    stack: Stack, user: str, pool: Pool
) -> None:
    async with device(stack, user) as noisy:
        await noisy.ask("Before")
        before = stack.agent.memory
        for number in range(10_000):
            await noisy.room.send(os.urandom(200) if number % 2 else encode(message(noisy.id, "x"))[:-3])
        after = await noisy.say("After")
        # It may have found the inbox full; then it was dropped, as any client expects that may happen.
        await noisy.insist()
        answer_id = await noisy.answered(after)
        assert (await noisy.closed(answer_id)).status == "completed"
        assert await journal(pool, noisy.id) == noisy.log
        assert stack.agent.memory - before < 64 * 2**20
