// The world behind the page: an agent that prepares and submits, and an administrator of the orders.

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { DATABASE_URL, GATEWAY_TOKEN, GATEWAY_URL } = process.env;

const agent = new Client({ name: 'countersign-browser', version: '1.0.0' });
const headers = { Authorization: `Bearer ${GATEWAY_TOKEN}` };
await agent.connect(new StreamableHTTPClientTransport(new URL(GATEWAY_URL), { requestInit: { headers } }));

/** Ends the agent's connection. */
export const leave = () => agent.close();

/** Prepares a refund as acme-agent, and gives the proposal's id. */
export async function prepare(order_id, amount_minor, reason_code = 'damaged') {
    const args = { order_id, amount_minor, currency: 'EUR', reason_code };
    const call = { name: 'PrepareRefund___prepare_refund', arguments: args };
    const { isError, structuredContent } = await agent.callTool(call);
    assert(!isError, `nothing was prepared for ${order_id}`);
    return structuredContent.proposal_id;
}

/** Submits as the agent; gives the answer, or what it was refused with: `{ code }`. */
export async function submit(proposal_id) {
    const args = { proposal_id, idempotency_key: `browser-${proposal_id}` };
    const result = await agent.callTool({ name: 'SubmitRefund___submit_refund', arguments: args });
    return result.isError ? { code: JSON.parse(result.content[0].text).error.code } : result.structuredContent;
}

/** The code that a submit is refused with. */
export const refused = async proposal => (await submit(proposal)).code;

/** Waits until the provider has made a refund. */
export async function refunded({ code, operation_id }) {
    assert.equal(code, undefined);
    const name = 'GetRefundStatus___get_refund_status';
    for (const end = Date.now() + 20_000; ;) {
        const { structuredContent } = await agent.callTool({ name, arguments: { operation_id } });
        if (structuredContent.state === 'succeeded') return;
        assert(Date.now() < end, `the refund stays ${structuredContent.state}`);
        await setTimeout(100);
    }
}

/** One request to the database, past every tool: the local engine takes any signature. */
async function database(operation, request) {
    const response = await fetch(DATABASE_URL, {
        method: 'POST',
        headers: {
            'x-amz-target': `DynamoDB_20120810.${operation}`,
            'content-type': 'application/x-amz-json-1.0',
            'x-amz-date': '20300101T000000Z',
            authorization: 'AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, '
                + 'SignedHeaders=host, Signature=00',
        },
        body: JSON.stringify({ TableName: 'ledger', ...request }),
    });
    const answer = await response.text();
    assert(response.ok, `${operation}: ${answer}`);
    return JSON.parse(answer);
}

const key = order => ({ pk: { S: `order#acme#${order}` } });

/** An order like `ord_8F3K2`, paid with the same payment, under another id and with other attributes. */
export async function order(id, changes = {}) {
    const { Item } = await database('GetItem', { Key: key('ord_8F3K2') });
    delete Item.customer_note;
    await database('PutItem', { Item: { ...Item, ...key(id), order_id: { S: id }, ...changes } });
    return id;
}

/** Moves the terms of an order, as an administrator does who changes where its money goes. */
export const moveTerms = id => database('UpdateItem', {
    Key: key(id),
    UpdateExpression: 'SET terms_version = terms_version + :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
});

/** Says that the provider contradicts a refund of an order. */
export const freeze = id => database('UpdateItem', {
    Key: key(id),
    UpdateExpression: 'SET conflicts = :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
});

/** Stops all refunds, or releases them, as an operator does. */
export async function hold(held) {
    const now = { N: String(Math.floor(Date.now() / 1000)) };
    const Item = { pk: { S: 'control#refunds' }, ...(held ? { held_at: now, reason: { S: 'a test' } } : { released_at: now }) };
    await database('PutItem', { Item });
}
