/** `portolan shadow`: installs and uninstalls what sets need in a cluster, as the user of the kubeconfig. */
import { PortolanError } from '../../base/errors.ts';
import { standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import type { Config } from '../../config/options.ts';
import { connect } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { installDefinition, installedSets, uninstallDefinition } from '../../sets/definition.ts';
import { shadowRecordCrdText } from '../../sets/record/shadow-record-crd.ts';
import { isConfirmed } from '../mutations/confirmation.ts';
import { oneClusterOf } from '../options/clusters-of.ts';

interface ShadowFlags {
  readonly action: string;
  /** Print the definition instead. */
  readonly print: boolean;
  readonly yes: boolean;
}

interface Streams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown };
}

/** Sets that are named before the question. */
const mostNamed = 20;

/** @returns the exit code: 1 if the question was answered with no. @throws PortolanError CONFIGURATION for flags that do not fit */
export async function shadow(
  config: Pick<Config, 'kubeconfig' | 'context' | 'inCluster'>,
  { action, print, yes }: ShadowFlags,
  streams: Streams = { input: process.stdin, output: standardOutput, errors: standardError },
): Promise<number> {
  const say = (line: string): void => void streams.errors.write(`portolan: ${oneLine(line)}\n`);
  if (action !== 'install' && action !== 'uninstall') {
    throw new PortolanError('CONFIGURATION', `Say install or uninstall, not ${JSON.stringify(action)}.`);
  }
  if (print) {
    if (action === 'install') streams.output.write(shadowRecordCrdText());
    else throw new PortolanError('CONFIGURATION', '--print is for install.');
    return 0;
  }
  const isAsked = action === 'uninstall' && !yes;
  if (isAsked && streams.input.isTTY !== true) {
    throw new PortolanError(
      'CONFIGURATION',
      'Standard input is no terminal, so nobody can be asked: --yes uninstalls without a question.',
    );
  }
  const connection = await connect(oneClusterOf(config, 'shadow'));
  try {
    const client = new RestClient(connection);
    if (action === 'install') {
      await installDefinition(client);
      say('ShadowRecord is installed. Callers who apply sets need the rights in docs/sets.md.');
      return 0;
    }
    const sets = await installedSets(client);
    if (sets === null) {
      say('ShadowRecord is not installed.');
      return 0;
    }
    say(`${sets.length} sets are forgotten. Their members stay, without label and ownerReference of the set.`);
    for (const { metadata } of sets.slice(0, mostNamed)) {
      const { namespace, name } = metadata as { readonly namespace?: unknown; readonly name?: unknown };
      say(`  ${String(namespace)}/${String(name)}`);
    }
    if (sets.length > mostNamed) say(`  and ${sets.length - mostNamed} more`);
    if (isAsked && !(await isConfirmed(streams))) {
      say('Nothing was done.');
      return 1;
    }
    await uninstallDefinition(client);
    say('ShadowRecord is uninstalled.');
    return 0;
  } catch (error) {
    throw explainConnectionFailure(error, connection);
  } finally {
    await connection.close();
  }
}
