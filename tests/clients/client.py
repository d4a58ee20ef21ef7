"""PyPI `mcp`: the same flow as `flow.mjs`, in one generation of the protocol and then in the other."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import time

import httpx2
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

URL = os.environ["GATEWAY_URL"]
AUTHORIZATION = {"Authorization": f"Bearer {os.environ['GATEWAY_TOKEN']}"}
READ = "GetOrderSummary___get_order_summary"
PREPARE = "PrepareRefund___prepare_refund"
SUBMIT = "SubmitRefund___submit_refund"
STATUS = "GetRefundStatus___get_refund_status"


def client(version: str, headers: dict[str, str], statuses: list[int]) -> Client:
    """A client that is not yet connected, and that notes the status of each answer."""

    async def note(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    http = httpx2.AsyncClient(headers=headers, event_hooks={"response": [note]}, timeout=30)
    mode = "legacy" if version == "2025-11-25" else "auto"
    return Client(streamable_http_client(URL, http_client=http), mode=mode)


async def main(version: str, amount: int) -> None:
    async with client(version, AUTHORIZATION, []) as agent:
        assert agent.protocol_version == version, agent.protocol_version
        await flow(agent, amount)
    statuses: list[int] = []
    try:
        async with client(version, {}, statuses) as stranger:
            await stranger.list_tools()
    except Exception:  # The status is what matters; the client wraps it in errors of several kinds.
        assert set(statuses) == {401}, statuses
    else:
        raise AssertionError("an endpoint without a token let the client in")


async def flow(agent: Client, amount: int) -> None:
    """Runs the whole flow for a refund of `amount`, which no other client may use: equal ones are taken for one."""
    tools = (await agent.list_tools()).tools
    for tool in tools:
        complete(tool.model_dump(by_alias=True))
    listed = {tool.name: Draft202012Validator(tool.output_schema) for tool in tools}
    assert {READ, PREPARE, SUBMIT, STATUS} <= listed.keys(), listed.keys()
    await judges(agent)

    async def succeed(name: str, arguments: dict) -> dict:
        result = await agent.call_tool(name, arguments)
        assert not result.is_error, (name, result)
        listed[name].validate(result.structured_content)
        assert json.loads(result.content[0].text) == result.structured_content, "the text mirrors the structure"
        return result.structured_content

    async def fail(name: str, arguments: dict, code: str) -> None:
        result = await agent.call_tool(name, arguments)
        assert result.is_error and result.structured_content is None, (name, result)
        assert json.loads(result.content[0].text)["error"]["code"] == code, (name, result)

    assert (await succeed(READ, {"order_id": "ord_8F3K2"}))["currency"] == "EUR"
    refund = {"order_id": "ord_8F3K2", "amount_minor": amount, "currency": "EUR", "reason_code": "damaged"}
    proposal = (await succeed(PREPARE, refund))["proposal_id"]
    submission = {"proposal_id": proposal, "idempotency_key": f"clients-of-others-{amount}"}
    await fail(SUBMIT, submission, "approval_required")

    approve(proposal)
    first = await succeed(SUBMIT, submission)
    assert (first["proposal_id"], first["amount_minor"], first["replayed"]) == (proposal, amount, False), first
    again = await succeed(SUBMIT, submission)
    assert (again["operation_id"], again["replayed"]) == (first["operation_id"], True), again
    end = time.monotonic() + 20
    while (status := await succeed(STATUS, {"operation_id": first["operation_id"]}))["state"] != "succeeded":
        assert time.monotonic() < end, status
        await asyncio.sleep(0.1)

    await fail(READ, {"order_id": "#"}, "invalid_input")
    await fail(PREPARE, {**refund, "amount_minor": 0}, "invalid_input")
    try:
        await agent.call_tool("SubmitRefund___approve", {})
    except MCPError as error:
        assert error.code == -32602, error
    else:
        raise AssertionError("a tool that does not exist was called")


def complete(tool: dict) -> None:
    """Whether a tool says all that a client may ask of it."""
    assert tool["title"] and tool["description"], tool
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        assert schema["type"] == "object" and schema["properties"], tool
    for hint in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"):
        assert isinstance(tool["annotations"][hint], bool), (hint, tool)


async def judges(agent: Client) -> None:
    """Shows that the client validates answers itself: an empty one does not pass."""
    try:
        await agent.session.validate_tool_result(READ, CallToolResult(content=[], structured_content={}))
    except RuntimeError:
        return
    raise AssertionError("the client takes any structure")


def approve(proposal: str) -> None:
    """A person's decision, by the command line."""
    local, folder = os.environ["GATEWAY_LOCAL"], os.environ["GATEWAY_FOLDER"]
    command = [local, "--folder", folder, "approve", proposal, "--as", "acme-approver", "--yes"]
    subprocess.run(command, check=True, capture_output=True)


# It warns that a session's end is answered with 202, which the protocol leaves open.
logging.getLogger("mcp").setLevel(logging.ERROR)
first_amount = int(sys.argv[1])
asyncio.run(main("2025-11-25", first_amount))
asyncio.run(main("2026-07-28", first_amount + 1))
