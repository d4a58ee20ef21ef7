// `@modelcontextprotocol/sdk`: the older generation of the protocol, as most clients of today have it.

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { authorization, flow, me, rejection, url } from './flow.mjs';

const [amount] = process.argv.slice(2);

async function connected(headers) {
    const client = new Client(me);
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport);
    assert.equal(transport.protocolVersion, '2025-11-25');
    return client;
}

const client = await connected(authorization);
await flow({
    list: async () => {
        const { tools } = await client.listTools();
        // From here on each answer is validated by the client itself; this shows that it is.
        for (const tool of tools) assert.equal(client.getToolOutputValidator(tool.name)({}).valid, false, tool.name);
        return tools;
    },
    call: (name, args) => client.callTool({ name, arguments: args }),
    unknown: async name => assert.equal((await rejection(client.callTool({ name, arguments: {} }))).code, -32602),
    without: async () => assert.equal((await rejection(connected({}))).code, 401),
}, Number(amount));
await client.close();
