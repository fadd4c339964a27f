import { describe, expect, test } from 'vitest';
import { eventually } from '../../test/kit/eventually.ts';
import { type HandMade, handMadeSource } from '../../test/kit/hand-made-source.ts';
import { createYogaServer } from './yoga-server.ts';

function endpoint() {
  const made = handMadeSource();
  const yoga = createYogaServer({ source: made.source, log: made.log, tabs: [] });
  const ask = async (query: string) => {
    const response = await yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return { ...made, yoga, ask };
}

describe('generations', () => {
  test('the next operation runs on the next one, also when its text is in the caches', async () => {
    const { ask, swap } = endpoint();
    expect((await ask('{ greeting }')).body).toEqual({
      data: { greeting: 'hello' },
      extensions: { portolan: { generation: 'first', cost: expect.anything() } },
    });
    swap('renamed');
    expect((await ask('{ greeting }')).body).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
    expect((await ask('{ renamed }')).body).toMatchObject({
      data: { renamed: 'hello' },
      extensions: { portolan: { generation: 'renamed', cost: expect.anything() } },
    });
  });

  test('an operation in flight finishes on its own', async () => {
    const { ask, swap, release, leases } = endpoint();
    const answered = ask('{ held greeting }');
    await eventually(() => expect(leases.opened).toBe(1));
    swap('renamed');
    release();
    expect((await answered).body).toEqual({
      data: { held: 'released', greeting: 'hello' },
      extensions: { portolan: { generation: 'first', cost: expect.anything(), revision: 7 } },
    });
    expect(leases).toEqual({ opened: 1, ended: 1 });
  });

  test('without one the answer is CACHE_NOT_READY', async () => {
    const { ask, forget, logged } = endpoint();
    forget();
    expect((await ask('{ greeting }')).body).toMatchObject({
      errors: [{ message: expect.stringContaining('try again'), extensions: { code: 'CACHE_NOT_READY' } }],
    });
    expect(logged).toEqual([]);
  });
});

describe('requests', () => {
  test('a query may come by GET', async () => {
    const response = await endpoint().yoga.fetch('http://127.0.0.1/graphql?query={greeting}', {
      headers: { accept: 'application/json' },
    });
    expect(await response.json()).toMatchObject({ data: { greeting: 'hello' } });
  });

  test('two operations in one request are refused', async () => {
    const response = await endpoint().yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{"query":"{greeting}"},{"query":"{greeting}"}]',
    });
    expect(response.status).toBe(400);
  });
});

describe('the playground', () => {
  const page = async (queries: readonly string[], { source, log, ...rest }: HandMade = handMadeSource()) => {
    const tabs = queries.map((query, index) => ({ name: `example-${index}`, query }));
    const response = await createYogaServer({ source, log, tabs }).fetch('http://127.0.0.1/graphql', {
      headers: { accept: 'text/html' },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(rest.logged).toEqual([]);
    return await response.text();
  };

  /** The options that the page passes to its script. */
  const optionsOf = (html: string) =>
    JSON.parse(/PortolanPlayground\.start\(document\.querySelector\('#root'\),\n(.*)\n\);/.exec(html)?.[1] ?? 'null');

  test('loads nothing from anywhere else', async () => {
    const html = await page([]);
    expect(html).toContain('<title>Portolan</title>');
    const head = html.slice(0, html.indexOf('</head>'));
    const beginning = html.indexOf('<body');
    const body = html.slice(beginning, html.indexOf('<script>', beginning)) + html.slice(html.lastIndexOf('</script>'));
    for (const markup of [head, body]) {
      const addresses = [...markup.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g)];
      expect(
        addresses.map(([, address = '']) => address.slice(0, 40)).filter((each) => !each.startsWith('data:')),
      ).toEqual([]);
    }
    expect(html.match(/@import\s|url\(\s*["']?https?:/g) ?? []).toEqual([]);
    expect(html).not.toMatch(/unpkg\.com|jsdelivr\.net|cdnjs|googleapis\.com/);
  });

  test('is held by its rules to this gateway and to no frame; answers have no such rules', async () => {
    const { yoga } = endpoint();
    const rules = async (accept: string) => {
      const response = await yoga.fetch('http://127.0.0.1/graphql?query={greeting}', { headers: { accept } });
      await response.text();
      return response.headers.get('content-security-policy');
    };
    expect(await rules('text/html')).toContain("default-src 'none'");
    expect(await rules('text/html')).toContain("frame-ancestors 'none'");
    expect(await rules('text/html')).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(await rules('application/json')).toBeNull();
  });

  test('opens with the examples that the current schema can answer, exactly as they are', async () => {
    const made = handMadeSource();
    const queries = ['# How are you?\n{ greeting }\n', '{ renamed }', 'subscription { ticks }'];
    expect(optionsOf(await page(queries, made)).tabs).toEqual([queries[0], queries[2]]);
    made.swap('renamed');
    expect(optionsOf(await page(queries, made)).tabs).toEqual([queries[1], queries[2]]);
  });

  test('opens without examples before there is a schema', async () => {
    const made = handMadeSource();
    made.forget();
    expect(optionsOf(await page(['{ greeting }'], made))).toEqual({
      tabs: [],
      keptFor: '',
      explain: false,
      authenticates: false,
    });
  });

  test('an example cannot end the script it stands in, nor be taken for a pattern', async () => {
    const query = "# </script><b> $& $' $$\n{ greeting }";
    const html = await page([query]);
    expect(html).not.toContain('</script><b>');
    expect(optionsOf(html).tabs).toEqual([query]);
  });
});
