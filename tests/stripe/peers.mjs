// A Stripe of others' behind a translation, and Stripe's own library: what `cargo test --test stripe` talks to.
//
// The Stripe of others knows charges and no payment intents, so `pi_x` is its charge `ch_x`, both ways. Nothing else of a
// request or an answer is touched but the length of a page, so that lists have several.
import http from 'node:http';
import { createRequire } from 'node:module';
import Stripe from 'stripe';

const { createExpressApp } = createRequire(import.meta.url)('stripe-stateful-mock');
const official = new Stripe('sk_test_official');
const PAGE = 3;

const listen = (server) => new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server.address().port)));
const mock = await listen(http.createServer(createExpressApp()));

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const toCharge = (text) => text.replace(/\bpayment_intent=pi_/g, 'charge=ch_');

function toPayment(value) {
  if (value?.object === 'list') value.data.forEach(toPayment);
  if (value?.object === 'refund') value.payment_intent = value.charge.replace(/^ch_/, 'pi_');
  return value;
}

async function forward(request, response) {
  const url = toCharge(request.url).replace(/\blimit=100\b/, `limit=${PAGE}`);
  const body = toCharge(await read(request));
  const headers = { ...request.headers, 'content-length': Buffer.byteLength(body) };
  delete headers['transfer-encoding'];
  const answer = await new Promise((ready, failed) => {
    const forwarded = http.request({ host: '127.0.0.1', port: mock, method: request.method, path: url, headers }, ready);
    forwarded.on('error', failed).end(body);
  });
  const text = JSON.stringify(toPayment(JSON.parse(await read(answer))));
  response.writeHead(answer.statusCode, { ...answer.headers, 'content-length': Buffer.byteLength(text) }).end(text);
}

const library = {
  '/official/sign': ({ secret, payload, timestamp }) => ({
    header: official.webhooks.generateTestHeaderString({ secret, payload, timestamp }),
  }),
  '/official/verify': ({ secret, payload, header }) => {
    try {
      return { type: official.webhooks.constructEvent(payload, header, secret).type };
    } catch (error) {
      return { error: error.type };
    }
  },
};

const server = http.createServer((request, response) => {
  const asked = library[request.url];
  const done = asked
    ? read(request).then((body) => response.end(JSON.stringify(asked(JSON.parse(body)))))
    : forward(request, response);
  done.catch((error) => response.writeHead(502).end(String(error)));
});
console.log(`http://127.0.0.1:${await listen(server)}`);
