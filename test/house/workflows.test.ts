/**
 * The workflows of .github: least rights, pinned actions, no text of strangers in scripts, and everything that they name exists. Also
 * docs/verify.md: its commands name the workflows that sign.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { blocksOf, readPage } from '../kit/written-page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = '.github/workflows';
const names = readdirSync(join(root, folder));
const scripts = Object.keys(JSON.parse(readPage('package.json')).scripts);

const permissions = z.record(z.string(), z.enum(['read', 'write']));
const step = z.strictObject({
  ...{ name: z.string().optional(), id: z.string().optional(), if: z.string().optional() },
  ...{ uses: z.string().optional(), run: z.string().optional() },
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const job = z.looseObject({
  permissions,
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  'timeout-minutes': z.number().optional(),
  steps: z.array(step).min(1).optional(),
});
const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions,
  concurrency: z.looseObject({ group: z.string() }),
  jobs: z.record(z.string(), job),
});
type Workflow = z.output<typeof workflow>;

const read = (name: string): Workflow => workflow.parse(parse(readPage(`${folder}/${name}`)));
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);

/** The jobs that may write, and what. Everything else only reads. */
const writers: Readonly<Record<string, readonly string[]>> = {
  'image.yml push': ['packages', 'id-token', 'attestations'],
  'chart.yml push': ['packages', 'id-token', 'attestations'],
  'release.yml image': ['packages', 'id-token', 'attestations'],
  'release.yml chart': ['packages', 'id-token', 'attestations'],
  'release.yml npm': ['id-token'],
  'release.yml release': ['contents', 'id-token', 'attestations'],
  'codeql.yml analyze': ['security-events'],
  'scorecard.yml analyze': ['security-events', 'id-token'],
};

test('there are the workflows of a change, a release and the analyses', () => {
  const expected = 'chart ci codeql image kind-e2e release scorecard'.split(' ').map((name) => `${name}.yml`);
  expect(names.toSorted()).toEqual(expected);
});

describe.each(names)('%s', (name) => {
  const text = readPage(`${folder}/${name}`);
  const flow = read(name);
  const steps = stepsOf(flow);

  test('has no rights but those of its jobs, and no trigger with the rights of the repository for a fork', () => {
    expect(flow.permissions).toEqual({});
    const writing = Object.entries(flow.jobs).flatMap(([id, { permissions: granted }]) => {
      const found = Object.keys(granted).filter((key) => granted[key] === 'write');
      return found.length === 0 ? [] : [[`${name} ${id}`, found]];
    });
    const allowed = Object.entries(writers).filter(([key]) => key.startsWith(`${name} `));
    expect(Object.fromEntries(writing)).toEqual(Object.fromEntries(allowed));
    const risky = ['pull_request_target', 'workflow_run', 'issue_comment'];
    expect(Object.keys(flow.on).filter((trigger) => risky.includes(trigger))).toEqual([]);
    // A fork's pull request gets no job that may write packages or releases.
    const isForChanges = 'pull_request' in flow.on;
    const publishing = Object.values(flow.jobs).filter((each) => 'packages' in each.permissions);
    expect(publishing.every((each) => !isForChanges || each['if'] === 'inputs.publish')).toBe(true);
  });

  test('pins each action by its commit, with the version beside it', () => {
    const used = [...text.matchAll(/^\s+(?:- )?uses: (.+)$/gm)].map(([, line = '']) => line);
    expect(used.length).toBeGreaterThan(0);
    const pinned = /^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(used.filter((line) => !pinned.test(line) && !existsSync(join(root, line)))).toEqual([]);
  });

  test('puts no expression into a script, and keeps no credentials in the checkout', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
    const checkouts = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect(checkouts.filter((each) => each.with?.['persist-credentials'] !== false)).toEqual([]);
    expect(text).not.toMatch(/secrets\./);
  });

  test('ends: jobs have a time limit, and a newer run takes the place of an older one', () => {
    const limitless = Object.values(flow.jobs).filter((each) => each.uses === undefined && !each['timeout-minutes']);
    expect(limitless).toEqual([]);
    expect(flow.concurrency.group).toMatch(/-\$\{\{ github\.ref \}\}$/);
  });

  test('names scripts, files, workflows, steps and jobs that exist', () => {
    const run = steps.map((each) => each.run ?? '').join('\n');
    const wantedScripts = [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script);
    expect(wantedScripts.filter((script) => !scripts.includes(script))).toEqual([]);
    const files = [
      ...[...run.matchAll(/(?<![\w./-])(?:\.ci|deploy|test|src|sim|docs)\/[\w./-]*\w/g)].map(([file]) => file),
      ...steps.flatMap(({ with: given }) => (typeof given?.['file'] === 'string' ? given['file'] : [])),
    ];
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    for (const each of Object.values(flow.jobs)) {
      for (const need of [each.needs ?? []].flat()) expect(Object.keys(flow.jobs)).toContain(need);
      if (each.uses === undefined) continue;
      const called = read(each.uses.replace('./.github/workflows/', ''));
      const call = (called.on['workflow_call'] ?? {}) as { readonly inputs?: object };
      expect('workflow_call' in called.on).toBe(true);
      expect(Object.keys(each.with ?? {})).toEqual(Object.keys(call.inputs ?? {}));
      // A called workflow has at most the rights of the caller.
      for (const inner of Object.values(called.jobs)) expect(each.permissions).toMatchObject(inner.permissions);
    }
    const ids = new Set(steps.flatMap(({ id }) => id ?? []));
    const wantedIds = [...text.matchAll(/steps\.(\w+)\.outputs/g)].map(([, id = '']) => id);
    expect(wantedIds.filter((id) => !ids.has(id))).toEqual([]);
  });
});

const actionlint = spawnSync('actionlint', ['--version']).error === undefined;
test.skipIf(!actionlint)('actionlint, which this test needs on PATH, has nothing to say', () => {
  execFileSync('actionlint', ['-color=false', ...names.map((name) => join(folder, name))], { cwd: root });
});

test('one action has one version', () => {
  const versions = new Map<string, Set<string>>();
  for (const name of names) {
    for (const [, action = '', version = ''] of readPage(`${folder}/${name}`).matchAll(
      /uses: ([\w-]+\/[\w-]+)[^@]*@(.+)/g,
    )) {
      versions.set(action, new Set([...(versions.get(action) ?? []), version]));
    }
  }
  expect([...versions].filter(([, found]) => found.size > 1)).toEqual([]);
});

describe('docs/verify.md', () => {
  const page = readPage('docs/verify.md');
  const commands = blocksOf(page, 'sh').join('\n').replaceAll('\\\n', ' ').split('\n');

  test('verifies what the workflows sign, with the workflow that signs it', () => {
    const signed = names.flatMap((name) => {
      const { jobs } = read(name);
      return Object.values(jobs).flatMap((each) =>
        (each.steps ?? []).flatMap(({ run = '' }) => {
          const [, target = ''] = /cosign sign --yes "(\S+)@\$DIGEST"/.exec(run) ?? [];
          const environment = (each['env'] ?? {}) as Readonly<Record<string, string>>;
          const image = target.replace(/\$([A-Z]+)/g, (_, variable: string) => environment[variable] ?? '?');
          return target === '' ? [] : `${image} ${name}`;
        }),
      );
    });
    const verified = commands.flatMap((command) => {
      const [, image, name] =
        /^cosign verify (\S+):\$VERSION .*--certificate-identity \$REPOSITORY\/\.github\/workflows\/(\S+)@refs\/tags\/v\$VERSION/.exec(
          command,
        ) ?? [];
      return image === undefined ? [] : `${image} ${name}`;
    });
    expect(signed).toHaveLength(2);
    expect(verified.toSorted()).toEqual(signed.toSorted());
  });

  test('verifies attestations by workflows that make them', () => {
    const signers = commands.flatMap(
      (command) => /--signer-workflow portolan-dev\/portolan\/(\S+)/.exec(command)?.[1] ?? [],
    );
    expect(new Set(signers)).toEqual(new Set(['image', 'chart', 'release'].map((name) => `${folder}/${name}.yml`)));
    for (const path of signers) expect(readPage(path)).toMatch(/uses: actions\/attest@/);
  });
});
