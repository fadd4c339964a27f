/** What docs/clients.md shows is what the example, the commands and the gateway have. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { urqlConfig } from '../../src/graphql/client/client-config.ts';
import { scalarTypes } from '../../src/graphql/client/codegen-config.ts';
import { leastBytes } from '../../src/server/negotiation/compression.ts';
import { demoGateway } from '../kit/demo-gateway.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

/** Lines without their indentation, so that a part of a file can be shown by itself. */
const flat = (text: string): string => text.replace(/^[ \t]+/gm, '').trim();

describe('the page', () => {
  const sources = [
    ...['src/gateway.ts', 'src/Pods.tsx', 'src/Nodes.tsx', 'package.json'].map((name) => `docs/examples/react/${name}`),
    'docs/examples/live.js',
    ...['answers/relay.test.ts', 'clients/urql-driver.ts', 'clients/apollo-driver.ts'].map((name) => `test/${name}`),
  ].map((name) => flat(readFileSync(join(root, name), 'utf8')));
  const shown = [...sources, flat(urqlConfig().replace(/^\/\/ ?/gm, ''))];

  test('shows code that the example or a command has', () => {
    // Vite's proxy has a test of its own (react.browser.test.ts).
    const code = [...blocks('ts'), ...blocks('graphql')].filter((text) => !/proxy:|@semanticNonNull/.test(text));
    expect(code.length).toBeGreaterThan(6);
    expect(code.filter((text) => !shown.some((source) => source.includes(flat(text))))).toEqual([]);
  });

  test('names files that are there', () => {
    const names = [...page.matchAll(/`((?:docs|src)\/[\w./-]+\.\w+|codegen\.ts)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(6);
    for (const name of names) {
      expect(readFileSync(join(root, name.startsWith('docs/') ? '' : 'docs/examples/react', name), 'utf8')).not.toBe(
        '',
      );
    }
  });

  test('has the type of every scalar for each generator, and the threshold of compression', () => {
    const rows = [...page.matchAll(/^\| ([\w, ]+) \| `([^`]+)` \|/gm)];
    const types = rows.flatMap(([, names = '', type = '']) =>
      names.split(', ').map((name) => [name, type.replaceAll('\\|', '|')]),
    );
    expect(Object.fromEntries(types)).toEqual(scalarTypes);
    const [tada = ''] = blocks('typescript');
    const scalars = [...tada.matchAll(/^ {4}(\w+): (.+);$/gm)].map(([, name, type]) => [name, type]);
    expect(Object.fromEntries(scalars)).toEqual(scalarTypes);
    const [go = ''] = blocks('yaml');
    expect([...go.matchAll(/^ {2}(\w+): \{ type: /gm)].map(([, name]) => name).toSorted()).toEqual(
      Object.keys(scalarTypes).toSorted(),
    );
    expect(page).toContain(`Answers of ${leastBytes.toLocaleString('en')} bytes or more`);
  });
});

describe('on the demo', () => {
  const gateway = demoGateway({ pods: 60, churn: true });

  test('the answer to a page that is not allowed is the one shown', async () => {
    const headers = { 'content-type': 'application/json', origin: 'http://localhost:8080' };
    const body = JSON.stringify({ query: '{ pods { totalCount } }' });
    const answer = await fetch(gateway.url, { method: 'POST', headers, body });
    expect(answer.status).toBe(403);
    expect(blocks('json').map((text) => text.trim())).toContain(await answer.text());
  });

  test('the program without a client library follows the Pods', async () => {
    const child = spawn(process.execPath, [join(root, 'docs/examples/live.js')], {
      env: { ...process.env, PORTOLAN_URL: gateway.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line.startsWith('LIVE')) break;
    }
    expect(lines[0]).toMatch(/^SNAPSHOT: \d+ changes, \d+ Pods$/);
    expect(lines.find((line) => line.startsWith('SYNCED'))).toMatch(/^SYNCED: 0 changes, [1-9]\d* Pods$/);
    expect(lines.at(-1)).toMatch(/^LIVE: [1-9]\d* changes, [1-9]\d* Pods$/);
  });
});
