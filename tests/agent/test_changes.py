"""What the API changes reaches the devices of a running conversation through its agent."""

from alicia.protocol.envelope import decode
from alicia.protocol.messages import Configuration, Erasure, StartAnswer, Tombstone, UserMessage
from support.device import device
from support.stack import Stack


async def test_a_new_title_reaches_every_device(stack: Stack, user: str) -> None:
    async with (
        stack.caller(user) as api,
        device(stack, user) as one,
        device(stack, user, one.id) as other,
    ):
        changed = await api.patch(
            f"/conversations/{one.id}", json={"title": "Walks", "preferences": {"voice": "heart"}}
        )
        assert changed.status_code == 200
        for each in (one, other):
            told = await each.hears(Configuration, lambda body: body.title == "Walks")
            assert (told.preferences, told.status) == ({"voice": "heart"}, "active")
        stack.model.say("Still here.", when="Hello?")
        await other.ask("Hello?")


async def test_an_erased_message_is_told_and_no_prompt_knows_it(stack: Stack, user: str) -> None:
    stack.model.say("I see.", when="xylophone")
    async with stack.caller(user) as api, device(stack, user) as alone:
        asked = await alone.say("My xylophone.")
        answer_id = await alone.answered(asked)
        at = f"/conversations/{alone.id}/messages"
        assert (await api.delete(f"{at}/{asked.id}")).status_code == 204
        erasure = await alone.hears(Erasure)
        assert asked.id in erasure.ids
        assert answer_id not in erasure.ids
        assert alone.all(Erasure) == [erasure]
        stack.model.say("What about it?", when="again")
        await alone.ask("Say it again.")
        assert "xylophone" not in str(stack.model.newest("Say it again.").messages)


async def test_a_device_that_was_away_learns_of_an_erasure_when_it_returns(stack: Stack, user: str) -> None:
    stack.model.say("I see.", when="xylophone")
    async with device(stack, user) as first:
        asked = await first.say("My xylophone.")
        await first.answered(asked)
        held, conversation_id = list(first.log), first.id
    async with stack.caller(user) as api:
        gone = await api.delete(f"/conversations/{conversation_id}/messages/{asked.id}")
        assert gone.status_code == 204
    async with device(stack, user, conversation_id, log=held) as back:
        erasure = await back.hears(Erasure)
        assert asked.id in erasure.ids
    async with device(stack, user, conversation_id) as new:
        assert b"xylophone" not in b"".join(new.log)
        tombstones = [decode(data) for data in new.log if isinstance(decode(data).body, Tombstone)]
        assert tombstones
        assert new.all(UserMessage) == []
        assert len(new.all(StartAnswer)) == 1
