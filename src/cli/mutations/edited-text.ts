/**
 * `portolan edit`: the YAML of an object in the user's editor, and what came back.
 *
 *   object -> a file -> $KUBE_EDITOR, $EDITOR or vi -> unchanged: nothing to do
 *                                                   -> changed: a plan of `edit` -> refused: the editor again, with the reason on top
 *
 * Invariant: what the user wrote is never lost. The file is removed only after the edit is written, or if nothing was changed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import type { WriteGateway, Written } from './written-items.ts';

export interface EditedText {
  /** The arguments of the mutation; null if nothing was changed. */
  readonly args: Readonly<Record<string, unknown>> | null;
  /** Where the text is, until it is discarded. */
  readonly file: string;
  discard(): void;
}

interface Edit {
  readonly gateway: WriteGateway;
  readonly id: string;
  /** The options of the plan that checks the text. */
  readonly options: object;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const heading = [
  'The lines with # at the beginning of this file are left out. An empty file ends the edit.',
  'What others change meanwhile stays. The status is not edited.',
];

/** @throws PortolanError NOT_FOUND, CONFIGURATION if the editor cannot be run, BAD_USER_INPUT if the text is refused twice */
export async function editedText({ gateway, id, options, environment }: Edit): Promise<EditedText> {
  const yaml = await gateway.yamlOf(id);
  const folder = mkdtempSync(join(tmpdir(), 'portolan-edit-'));
  const file = join(folder, 'object.yaml');
  const discard = (): void => rmSync(dirname(file), { recursive: true, force: true });
  let refused = null as { readonly text: string; readonly why: string } | null;
  writeFileSync(file, `${comments(heading)}${yaml}`, { mode: 0o600 });
  for (;;) {
    await openEditor(file, environment);
    const text = withoutComments(textOf(file));
    if (text.trim() === '' || text === yaml) return { args: null, file, discard };
    if (refused?.text === text) {
      throw new PortolanError('BAD_USER_INPUT', `${refused.why} The edited text is in ${file}.`);
    }
    const args = { target: { id }, base: { yaml }, edited: { yaml: text } };
    const why = await refusalOf(() => gateway.write('edit', args, { dryRun: true, ...options }, () => {})).catch(
      (error: unknown) => {
        if (!(error instanceof PortolanError)) throw error;
        throw new PortolanError(error.code, `${error.message} The edited text is in ${file}.`, { cause: error });
      },
    );
    if (why === null) return { args, file, discard };
    refused = { text, why };
    writeFileSync(file, `${comments([...heading, why])}${text}`);
  }
}

/** The editor may have removed the file, or put something else there. @throws PortolanError CONFIGURATION */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = messageOf(error);
    throw new PortolanError(
      'CONFIGURATION',
      `Nothing was edited: what the editor left at ${file} cannot be read: ${why}.`,
      {
        cause: error,
      },
    );
  }
}

/** Why the text cannot be written; null if it can. */
async function refusalOf(plan: () => Promise<Written>): Promise<string | null> {
  try {
    const { items } = await plan();
    const reasons = items.flatMap(({ errors }) => errors.map(({ code, message }) => `${code}: ${message}`));
    return reasons.length === 0 ? null : reasons.join(' ');
  } catch (error) {
    if (error instanceof PortolanError && error.code === 'BAD_USER_INPUT') return error.message;
    throw error;
  }
}

function comments(lines: readonly string[]): string {
  return lines.map((line) => `# ${oneLine(line)}\n`).join('');
}

/** Without the comments at the beginning. */
function withoutComments(text: string): string {
  return text.replace(/^(?:#[^\n]*(?:\n|$))+/, '');
}

/** The editor may have arguments, so a shell reads its name, as in kubectl. */
async function openEditor(file: string, environment: Edit['environment']): Promise<void> {
  const editor = [environment['KUBE_EDITOR'], environment['EDITOR']].find((each) => (each ?? '') !== '') ?? 'vi';
  const command = `${editor} "$1"`;
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command, 'sh', file], { stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === 0) return;
  throw new PortolanError(
    'CONFIGURATION',
    `The editor ${editor} ended with the exit code ${code}: name another one with EDITOR. The text is in ${file}.`,
  );
}
