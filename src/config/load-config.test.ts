import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { sharedDirectory } from '../../test/kit/temporary-directory.ts';
import { loadConfig } from './load-config.ts';
import { flagOf, optionTable, variableOf } from './options.ts';
import type { OptionDefinition } from './table/option-definition.ts';

let folder: string;

beforeEach(() => {
  folder = sharedDirectory('config');
});

function file(text: string): string {
  const path = join(folder, 'portolan.yaml');
  writeFileSync(path, text);
  return path;
}

const load = (flags: object = {}, environment: Record<string, string> = {}, path?: string) =>
  loadConfig({ flags: { ...flags }, environment, file: path ?? file('') });

/** The message of the CONFIGURATION error. */
function refusal(...given: Parameters<typeof load>): string {
  try {
    load(...given);
  } catch (error) {
    expect(error).toMatchObject({ code: 'CONFIGURATION' });
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

describe('where a value comes from', () => {
  test('nothing is given: defaults', () => {
    expect(load()).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      context: [],
      eventsMaxAge: 6 * 3_600_000,
      changeLogMaxAge: 7 * 86_400_000,
      inCluster: false,
      logLevel: 'info',
    });
    expect(load().data).toBeUndefined();
  });

  test('flags win over the environment, the environment over the file, the file over defaults', () => {
    const path = file('port: 1\nreaders: 1\npods: 1\n');
    const environment = { PORTOLAN_PORT: '2', PORTOLAN_READERS: '2' };
    expect(load({ port: '3' }, environment, path)).toMatchObject({ port: 3, readers: 2, pods: 1, maxPageSize: 500 });
  });

  test('an empty variable and an empty key are as good as none', () => {
    expect(load({}, { PORTOLAN_PORT: '' }, file('port:\n'))).toMatchObject({ port: 4000 });
  });

  test('what Kubernetes sets for a Service called portolan is not meant', () => {
    expect(load({}, { PORTOLAN_PORT: 'tcp://10.96.0.17:4000' })).toMatchObject({ port: 4000 });
  });

  test('a file of the working directory counts only where it may be found, or is named', () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect(loadConfig({ flags: {}, environment: {}, mayFind: true })).toMatchObject({ port: 4000 });
      file('port: 5\n');
      expect(loadConfig({ flags: {}, environment: {}, mayFind: true })).toMatchObject({ port: 5 });
      expect(loadConfig({ flags: {}, environment: {} })).toMatchObject({ port: 4000 });
      expect(loadConfig({ flags: {}, environment: {}, file: 'portolan.yaml' })).toMatchObject({ port: 5 });
    } finally {
      process.chdir(before);
    }
  });
});

describe('values', () => {
  test.each([[['a,b', 'c']], ['a,b,c'], [['a', 'b', 'c']], [' a , b,, c ']])('%j is a list of three', (kinds) => {
    expect(load({ kinds })).toMatchObject({ kinds: ['a', 'b', 'c'] });
  });

  test('a list stands in a file as one name, or as several', () => {
    expect(load({}, {}, file('kinds: pods\nexclude: [a, b]\n'))).toMatchObject({
      kinds: ['pods'],
      exclude: ['a', 'b'],
    });
  });

  test('a comma inside the brackets or quotes of a path separates nothing', () => {
    const given = 'events=max(lastTimestamp, eventTime),pods=metadata.labels["a,b"]';
    const promote = ['events=max(lastTimestamp, eventTime)', 'pods=metadata.labels["a,b"]'];
    expect(load({ promote: given })).toMatchObject({ promote });
    expect(load({ promote })).toMatchObject({ promote });
    expect(load({}, { PORTOLAN_PROMOTE: given })).toMatchObject({ promote });
    expect(load({}, {}, file(`promote: '${given}'\n`))).toMatchObject({ promote });
    expect(load({}, {}, file(`promote: ['events=max(lastTimestamp, eventTime)']\n`))).toMatchObject({
      promote: promote.slice(0, 1),
    });
    expect(load({ redact: 'pods=spec.a["b,c"],pods=d' })).toMatchObject({ redact: ['pods=spec.a["b,c"]', 'pods=d'] });
  });

  test('the name of a context may have a comma, but not in the variable', () => {
    const contexts = (flags: object, environment = {}, path?: string) => load(flags, environment, path).context;
    expect(contexts({ context: 'a,b' })).toEqual(['a,b']);
    expect(contexts({ context: ['a,b', 'c'] })).toEqual(['a,b', 'c']);
    expect(contexts({}, { PORTOLAN_CONTEXT: 'a,b' })).toEqual(['a', 'b']);
    expect(contexts({}, {}, file('context: [a, "b,c"]\n'))).toEqual(['a', 'b,c']);
  });

  test.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['6h', 21_600_000],
    ['2d', 172_800_000],
  ])('%s lasts %d ms', (eventsMaxAge, milliseconds) => {
    expect(load({ eventsMaxAge })).toMatchObject({ eventsMaxAge: milliseconds });
  });

  test.each([
    ['256Mi', 256 * 2 ** 20],
    ['10Gi', 10 * 2 ** 30],
    ['10GiB', 10 * 2 ** 30],
    ['1Ti', 2 ** 40],
  ])('%s of disk are %d bytes', (maxDisk, bytes) => {
    expect(load({ maxDisk })).toMatchObject({ maxDisk: bytes });
  });

  test.each([
    ['https://console.example.com', 'https://console.example.com'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['HTTPS://Console.Example.com:443', 'https://console.example.com'],
    ['http://[::1]:5173', 'http://[::1]:5173'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['electron://altair', 'electron://altair'],
    ['vscode-webview://1a2b', 'vscode-webview://1a2b'],
  ])('the origin %s is written as browsers write it', (given, written) => {
    expect(load({}, { PORTOLAN_ALLOW_ORIGIN: `${given},http://other.example` })).toMatchObject({
      allowOrigin: [written, 'http://other.example'],
    });
  });

  test.each([
    [true, true],
    ['true', true],
    ['false', false],
  ])('the switch %j is %j', (still, value) => {
    expect(load({ still })).toMatchObject({ still: value });
  });
});

describe('refusals name what, where and why', () => {
  test.each([
    [{ port: 'http' }, '--port is "http" but must be a whole number from 0 to 65535.'],
    [{ port: '65536' }, '--port is "65536" but must be a whole number from 0 to 65535.'],
    [{ port: '' }, '--port is "" but must be a whole number from 0 to 65535.'],
    [{ port: ' ' }, '--port is " " but must be a whole number from 0 to 65535.'],
    [{ port: '-1' }, '--port is "-1" but must be a whole number from 0 to 65535.'],
    [{ port: '0x10' }, '--port is "0x10" but must be a whole number from 0 to 65535.'],
    [{ changeLogMaxAge: '59s' }, '--change-log-max-age is "59s" but must be at least 1m.'],
    [
      { changeLogMax: '15Mi' },
      '--change-log-max is "15Mi" but must be a whole number with Mi, Gi or Ti, such as 10Gi, and at least 16Mi.',
    ],
    [{ eventsMaxAge: '6' }, '--events-max-age is "6" but must be a whole number with ms, s, m, h or d, such as 6h.'],
    ...['10', '10GB', '255Mi', '1.5Gi', '-1Gi'].map((maxDisk): [Record<string, string>, string] => [
      { maxDisk },
      `--max-disk is "${maxDisk}" but must be a whole number with Mi, Gi or Ti, such as 10Gi, and at least 256Mi.`,
    ]),
    [{ logLevel: 'loud' }, '--log-level is "loud" but must be debug, info, warn, error or silent.'],
    [{ host: '' }, '--host is "" but must not be empty.'],
    ...[
      '*',
      'localhost:5173',
      'http://localhost:5173/',
      'https://*.example.com',
      'https://a.example/console',
      'https://a.example?x',
      'https://u@a.example',
      'ws://localhost:5173',
      'http://',
      'http://a b',
      'http://a.example:99999',
      'null',
    ].map((allowOrigin): [Record<string, string>, string] => [
      { allowOrigin },
      `--allow-origin is ["${allowOrigin}"] but must be exact origins without a path, such as https://console.example.com or http://localhost:5173.`,
    ]),
  ])('the flag %j', (flags, message) => expect(refusal(flags)).toBe(message));

  test('a variable', () => {
    expect(refusal({}, { PORTOLAN_STILL: 'yes' })).toBe('PORTOLAN_STILL is "yes" but must be true or false.');
  });

  test.each([
    ['port: true', 'port in PATH is true but must be a whole number from 0 to 65535.'],
    ['port: 4000.5', 'port in PATH is 4000.5 but must be a whole number from 0 to 65535.'],
    ['eventsMaxAge: 6', 'eventsMaxAge in PATH is 6 but must be a whole number with ms, s, m, h or d, such as 6h.'],
    ['kinds: [1]', 'kinds in PATH is [1] but must be text.'],
  ])('the file has %s', (text, message) => {
    const path = file(text);
    expect(refusal({}, {}, path)).toBe(message.replace('PATH', path));
  });

  test('a key that is no option', () => {
    const path = file('prot: 4000');
    expect(refusal({}, {}, path)).toContain(`${path} has the key prot`);
  });

  test.each(['port: 1\nport: 2', 'port: [', '\t- x: {'])('a file that is not YAML: %j', (text) => {
    const message = refusal({}, {}, file(text));
    expect(message).toContain('is not YAML');
    expect(message).not.toContain('\n');
  });

  test.each(['- port', 'port', '4000'])('a file that holds no keys: %j', (text) => {
    expect(refusal({}, {}, file(text))).toContain('must hold options by name');
  });

  test('a file that is named and not there', () => {
    expect(refusal({}, {}, join(folder, 'none.yaml'))).toContain('cannot be read');
  });
});

describe('the table', () => {
  const options: readonly OptionDefinition[] = Object.values(optionTable);

  test('each entry stands under its own key, with a sentence and a default that passes its check', () => {
    for (const [key, option] of Object.entries(optionTable) as [string, OptionDefinition][]) {
      expect(option.key).toBe(key);
      expect(option.help).toMatch(/[.]$/);
      expect(option.schema.safeParse(undefined).success).toBe(true);
      expect(option.commands.length).toBeGreaterThan(0);
    }
  });

  test('no two share a flag or a variable', () => {
    expect(new Set(options.map(({ key }) => flagOf(key))).size).toBe(options.length);
    expect(new Set(options.map(({ key }) => variableOf(key))).size).toBe(options.length);
  });

  test('names of flags and variables follow from the key', () => {
    expect(flagOf('eventsMaxAge')).toBe('--events-max-age');
    expect(variableOf('eventsMaxAge')).toBe('PORTOLAN_EVENTS_MAX_AGE');
  });
});
