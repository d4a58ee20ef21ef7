// The MCP Inspector's command line, a process a call. It validates nothing, so the flow's own validator judges alone.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { authorization, flow, url } from './flow.mjs';

const [amount] = process.argv.slice(2);
const [header] = Object.entries(authorization).map(([name, value]) => ['--header', `${name}: ${value}`]);
const PROGRAM = fileURLToPath(new URL('node_modules/.bin/mcp-inspector', import.meta.url));

/** The answer on standard output, and the Inspector's own error on standard error. */
function inspect(...args) {
    const all = ['--cli', url, '--transport', 'http', '--format', 'json', '--quiet', '--stored-auth-only', ...args];
    return new Promise((resolve, reject) => execFile(PROGRAM, all, (failed, stdout, stderr) => {
        if (!stdout && !stderr) return reject(failed ?? new Error('the Inspector said nothing'));
        resolve({ result: stdout && JSON.parse(stdout).result, error: stderr && JSON.parse(stderr).error });
    }));
}

const call = (name, args) =>
    inspect(...header, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));

await flow({
    list: async () => {
        const lists = [];
        for (const era of ['legacy', 'modern']) {
            lists.push(await inspect(...header, '--protocol-era', era, '--method', 'tools/list', '--strict'));
        }
        assert.deepEqual(lists[0].result.tools, lists[1].result.tools, 'both generations list the same');
        assert.deepEqual(lists.map(list => list.error), ['', ''], 'the Inspector finds fault with a schema');
        return lists[0].result.tools;
    },
    call: async (name, args) => (await call(name, args)).result,
    // It looks a tool up in the list before it calls, so that the endpoint never hears of one that is not there.
    unknown: async name => assert.equal((await call(name, {})).error.code, 'tool_not_found'),
    without: async () => assert.equal((await inspect('--method', 'tools/list')).error.code, 'auth_required'),
}, Number(amount));
