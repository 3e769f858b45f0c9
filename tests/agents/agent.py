"""An agent with the official Python SDK; it takes and gives what agent.mjs does.

  python3 agent.py stdio <program> <arguments...>
  python3 agent.py http <url>
"""

import asyncio
import contextlib
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

TIMEOUT = 120.0


def transport(kind, where, *rest):
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=where, args=list(rest), env=dict(os.environ)))
    return streamable_http_client(where)


async def call(session, tool, given):
    result = await session.call_tool(tool, given, read_timeout_seconds=TIMEOUT)
    parts = result.content
    return {
        "failed": bool(result.is_error),
        "text": "\n".join(part.text for part in parts if part.type == "text"),
        "images": [{"mimeType": part.mime_type, "data": part.data} for part in parts if part.type == "image"],
    }


async def listed(session):
    return {"tools": [tool.model_dump(by_alias=True) for tool in (await session.list_tools()).tools]}


async def answer(session, request):
    try:
        tool = request.get("tool")
        result = await (call(session, tool, request["arguments"]) if tool else listed(session))
    except Exception as error:  # Whatever it is, the test wants to know.
        result = {"refused": str(error)}
    print(json.dumps({"id": request["id"], **result}), flush=True)


async def main():
    async with contextlib.AsyncExitStack() as stack:
        streams = await stack.enter_async_context(transport(*sys.argv[1:]))
        session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
        await session.initialize()
        print(json.dumps({"ready": True}), flush=True)
        answers = await stack.enter_async_context(asyncio.TaskGroup())
        while line := await asyncio.to_thread(sys.stdin.readline):
            answers.create_task(answer(session, json.loads(line)))


asyncio.run(main())
