// `@modelcontextprotocol/client`: either generation of the protocol, as the first argument says.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { authorization, flow, me, rejection, url } from './flow.mjs';

const [version, amount] = process.argv.slice(2);
const mode = version === '2025-11-25' ? 'legacy' : { pin: version };

async function connected(headers) {
    const client = new Client(me, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    return client;
}

/** Shows that the client validates answers itself: what no answer holds is missed. */
async function judges(client, tool) {
    const toolDefinition = { ...tool, outputSchema: { ...tool.outputSchema, required: ['no such member'] } };
    const call = { name: tool.name, arguments: { order_id: 'ord_8F3K2' } };
    assert.match((await rejection(client.callTool(call, { toolDefinition }))).message, /output schema/);
}

const client = await connected(authorization);
await flow({
    list: async () => {
        const { tools } = await client.listTools();
        await judges(client, tools.find(tool => tool.name.endsWith('___get_order_summary')));
        return tools;
    },
    call: (name, args) => client.callTool({ name, arguments: args }),
    unknown: async name => assert.equal((await rejection(client.callTool({ name, arguments: {} }))).code, -32602),
    without: async () => assert.equal((await rejection(connected({}))).status, 401),
}, Number(amount));
await client.close();
