// What every client does: lists, reads, prepares, is refused, submits, repeats, waits, and meets each kind of error.
//
// A client is `{ list, call, unknown, without }`. `call` gives `{ isError, structuredContent, content }` or throws;
// `unknown` and `without` give how the client reports a tool that does not exist, and an endpoint without a token.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import Ajv from 'ajv/dist/2020.js';

const { GATEWAY_LOCAL, GATEWAY_FOLDER, GATEWAY_URL, GATEWAY_TOKEN } = process.env;

export const url = GATEWAY_URL;
export const authorization = { Authorization: `Bearer ${GATEWAY_TOKEN}` };
export const me = { name: 'countersign-clients', version: '1.0.0' };

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const TOOLS = {
    read: 'GetOrderSummary___get_order_summary',
    prepare: 'PrepareRefund___prepare_refund',
    submit: 'SubmitRefund___submit_refund',
    status: 'GetRefundStatus___get_refund_status',
};

/** Runs the whole flow for a refund of `amount`, which no other client may use: equal ones are taken for one. */
export async function flow(client, amount) {
    const tools = await client.list();
    const listed = new Map(tools.map(tool => [tool.name, tool]));
    for (const tool of tools) complete(tool);
    for (const name of Object.values(TOOLS)) assert(listed.has(name), `${name} is not listed`);
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const schemas = new Map(tools.map(tool => [tool.name, ajv.compile(tool.outputSchema)]));

    const succeed = async (name, args) => {
        const result = await client.call(name, args);
        assert(!result.isError, `${name}: ${JSON.stringify(result)}`);
        const fits = schemas.get(name);
        assert(fits(result.structuredContent), `${name}: ${JSON.stringify(fits.errors)}`);
        assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, 'the text mirrors the structure');
        return result.structuredContent;
    };
    const fail = async (name, args, code) => {
        const result = await client.call(name, args);
        assert.equal(result.isError, true, `${name}: ${JSON.stringify(result)}`);
        assert.equal(result.structuredContent, undefined, 'structure on a failure hides it from strict clients');
        assert.equal(JSON.parse(result.content[0].text).error.code, code);
    };

    const order = await succeed(TOOLS.read, { order_id: 'ord_8F3K2' });
    assert.equal(order.currency, 'EUR');
    const refund = { order_id: 'ord_8F3K2', amount_minor: amount, currency: 'EUR', reason_code: 'damaged' };
    const { proposal_id } = await succeed(TOOLS.prepare, refund);
    const submission = { proposal_id, idempotency_key: `clients-of-others-${amount}` };
    await fail(TOOLS.submit, submission, 'approval_required');

    approve(proposal_id);
    const first = await succeed(TOOLS.submit, submission);
    assert.deepEqual([first.proposal_id, first.amount_minor, first.replayed], [proposal_id, amount, false]);
    const again = await succeed(TOOLS.submit, submission);
    assert.deepEqual([again.operation_id, again.replayed], [first.operation_id, true]);
    assert.equal(await settled(succeed, first.operation_id), 'succeeded');

    await fail(TOOLS.read, { order_id: '#' }, 'invalid_input');
    await fail(TOOLS.prepare, { ...refund, amount_minor: 0 }, 'invalid_input');
    await client.unknown('SubmitRefund___approve');
    await client.without();
}

/** Whether a tool says all that a client may ask of it. */
function complete(tool) {
    assert(tool.title && tool.description, `${tool.name} has no title or no description`);
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
        assert.equal(schema?.type, 'object', tool.name);
        assert(Object.keys(schema.properties).length > 0, tool.name);
    }
    for (const hint of HINTS) assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name}: ${hint}`);
}

/** A person's decision, by the command line. */
function approve(proposal) {
    const args = ['--folder', GATEWAY_FOLDER, 'approve', proposal, '--as', 'acme-approver', '--yes'];
    execFileSync(GATEWAY_LOCAL, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

async function settled(succeed, operation_id) {
    for (const end = Date.now() + 20_000; ;) {
        const { state } = await succeed(TOOLS.status, { operation_id });
        if (state === 'succeeded' || Date.now() > end) return state;
        await setTimeout(100);
    }
}

/** The error with which a promise is rejected. */
export async function rejection(promise) {
    const error = await promise.then(() => undefined, error => error);
    assert(error, 'nothing was refused');
    return error;
}
