// A person with Chromium, and all that the browser would complain of.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { test } from 'node:test';
import { chromium } from 'playwright-core';

export const home = process.env.PAGE_URL;
const SCREENSHOTS = process.env.SCREENSHOTS;
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };

await mkdir(SCREENSHOTS, { recursive: true });
// Playwright makes a new user data folder each time.
export const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
        '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
    ],
});

/** A test in which a person does something, and nothing that the browser would complain of happens. */
export function story(name, tell, options = {}) {
    test(name, { timeout: 30_000 }, async () => {
        const context = await browser.newContext({ viewport: WIDE, ...options });
        context.setDefaultTimeout(10_000);
        // Where the policy is off, Chromium asks for an icon, which the policy would not have it show.
        const quiet = options.bypassCSP ? /^\/(proposals\/.*|favicon\.ico)$/ : /^\/proposals\//;
        const complaints = await listen(context, quiet);
        try {
            const page = await context.newPage();
            await tell(page, complaints);
            // Whatever the browser had to say by now has arrived before this answer.
            await page.title();
            assert.deepEqual(complaints, []);
        } finally {
            await context.close();
        }
    });
}

/** Console messages, errors, dialogs, violations of the policy, and requests to anybody else. */
async function listen(context, quiet) {
    const complaints = [];
    await context.exposeBinding('violated', (_, what) => complaints.push(`policy: ${what}`));
    await context.addInitScript(() => document.addEventListener(
        'securitypolicyviolation',
        event => globalThis.violated(`${event.effectiveDirective} ${event.blockedURI}`),
    ));
    context.on('console', message => {
        // Chromium mentions the status of each page that is a refusal; stories look at what such a page says.
        const refusal = /^Failed to load resource: the server responded with a status of 4/.test(message.text())
            && quiet.test(new URL(message.location().url).pathname);
        if (!refusal) complaints.push(`console: ${message.text()} ${message.location().url}`);
    });
    context.on('weberror', error => complaints.push(`error: ${error.error()}`));
    context.on('dialog', async dialog => {
        complaints.push(`dialog: ${dialog.message()}`);
        await dialog.dismiss();
    });
    const known = [home, new URL(process.env.GATEWAY_URL).origin];
    context.on('request', request => {
        if (!known.includes(new URL(request.url()).origin)) complaints.push(`request: ${request.url()}`);
    });
    return complaints;
}

/** Opens an address of the page, and signs in on the way as this persona. */
export async function signIn(page, persona, path = '/') {
    await page.goto(home + path);
    await page.getByRole('button', { name: persona, exact: true }).click();
    await page.waitForURL(home + path);
    await see(page.getByText(`Signed in as ${persona}`));
}

/** Opens a proposal as this persona. */
export const open = (page, persona, proposal) => signIn(page, persona, `/proposals/${proposal}`);

/** Waits until a person sees it. */
export const see = locator => locator.waitFor({ state: 'visible' });

/** The button of this name; it may not be there. */
export const button = (page, name) => page.getByRole('button', { name, exact: true });

/** That the page offers none of these. */
export async function offersNone(page, ...names) {
    for (const name of names) assert.equal(await button(page, name).count(), 0, `the page offers: ${name}`);
}

/** What a list of facts says under a label. */
export const fact = (page, label) =>
    page.getByRole('term').filter({ hasText: new RegExp(`^${label}$`) }).locator('+ dd');

/** Keeps how a page looks, on a wide screen and on a narrow one, where it must fit. */
export async function keep(page, name) {
    for (const size of [WIDE, NARROW]) {
        await page.setViewportSize(size);
        const path = `${SCREENSHOTS}/${name}-${size.width}.png`;
        await page.screenshot({ path, fullPage: true });
        await fits(page, size.width);
    }
    await page.setViewportSize(WIDE);
}

/** That nothing has to be scrolled sideways, and that every control is large enough for a finger. */
async function fits(page, width) {
    const { scrollWidth, clientWidth } = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return { scrollWidth, clientWidth };
    });
    assert(scrollWidth <= clientWidth, `${scrollWidth} px of text in ${clientWidth} px`);
    assert.equal(clientWidth, width);
    for (const control of await page.locator('button, .button, label').all()) {
        const { height } = await control.boundingBox();
        assert(height >= 44, `${await control.innerText()}: ${height} px`);
    }
}
