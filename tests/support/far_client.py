"""Asks one question from another host and prints the log: `python far_client.py URL TOKEN QUESTION`."""

import asyncio
import json
import sys

import alicia
from alicia.protocol.envelope import encode


async def main(url: str, token: str, question: str) -> None:
    async with alicia.connect(url, token=token, store=":memory:", history=True) as conversation:
        async for event in conversation.ask(question):
            print(json.dumps({"event": type(event).__name__}), flush=True)
        print(json.dumps({"id": conversation.id, "log": [encode(each).hex() for each in conversation.log]}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
