/**
 * The kubectl plugin: `kubectl portolan status` asks the gateway in the cluster of the kubeconfig.
 *
 *   kubectl portolan -n portolan status --failing
 *     -> kubectl port-forward to the gateway's Service
 *     -> portolan status --failing --url http://127.0.0.1:43123, with the user's own token in PORTOLAN_TOKEN
 *     -> the port-forward ends; the exit code is that of portolan status
 *
 * With --url there is no port-forward.
 * Invariant: the token of the kubeconfig is sent only through the port-forward, never to an address of --url.
 */
import { parseArgs } from 'node:util';
import { PortolanError } from '../../base/errors.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { variableOf } from '../../config/options.ts';
import { commandOptions } from '../../config/table/command-options.ts';
import { remote, writing } from '../../config/table/command-sets.ts';
import { ownToken } from '../../kube/credentials/own-token.ts';
import { openPortForward } from './port-forward.ts';

const help = `Usage: kubectl portolan [options] <command> [options of the command]

Runs a command of portolan against the gateway in the cluster of your kubeconfig, through kubectl port-forward.

Commands:
  status                  the state of ingest
  query '<document>'      the answer to a GraphQL document, as JSON
  watch '<document>'      the messages of a subscription, as JSON lines; also watch pods
  relations               the relations between kinds
  json-schema <kind>      the JSON Schema of the manifests of a kind
  plan, apply             the changes of manifests: shown, or carried out
  delete, restart, scale  the same for objects

Options:
  -n, --namespace <name>  the namespace of the gateway (default: that of the context). After a command that
                          writes, it belongs to the command
  --context <name>        the context of the kubeconfig
  --kubeconfig <path>     the kubeconfig
  --service <name>        the Service of the gateway (default: the one with the label app.kubernetes.io/name=portolan)
  --token <token>         the bearer token (default: PORTOLAN_TOKEN, or the token of the kubeconfig's user)
  --url <address>         the gateway's address; then there is no port-forward

kubectl portolan <command> --help prints the options of a command.
`;

/** The options of the plugin itself. The others belong to the command. */
const own = {
  namespace: { type: 'string', short: 'n' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  service: { type: 'string' },
  token: { type: 'string' },
  url: { type: 'string' },
} as const;
type Own = { readonly [K in keyof typeof own]?: string };

/** Runs the command by `run` and returns its exit code. */
export async function throughKubectl(
  args: readonly string[],
  run: (args: readonly string[]) => Promise<number>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const { given, rest, valueless } = split(args);
  if (valueless !== null) {
    throw new PortolanError('CONFIGURATION', `${valueless} needs a value; see kubectl portolan --help.`);
  }
  const [command] = rest;
  if (command === undefined || command === '--help' || command === '-h') {
    standardOutput.write(help);
    return command === undefined ? 1 : 0;
  }
  const isRemote = (remote as readonly string[]).includes(command);
  if (!isRemote && command !== '--version' && command !== '-v') {
    throw new PortolanError(
      'CONFIGURATION',
      `kubectl portolan has no command ${command}; it runs ${remote.join(', ')}. For other commands use portolan.`,
    );
  }
  const tokenVariable = variableOf(commandOptions.token.key);
  if (given.token !== undefined) environment[tokenVariable] = given.token;
  if (!isRemote || rest.includes('--help') || rest.includes('-h')) return run(rest);
  if (given.url !== undefined) return run([...rest, '--url', given.url]);
  const where = (['namespace', 'context', 'kubeconfig'] as const).flatMap((name) =>
    given[name] === undefined ? [] : [`--${name}`, given[name]],
  );
  const forward = await openPortForward({ where, service: given.service });
  try {
    if ((environment[tokenVariable] ?? '') === '') {
      const token = await ownToken({ ...given, env: environment });
      if (token !== null) environment[tokenVariable] = token.reveal();
    }
    // The certificate names the Service, not loopback. The API server has authenticated the other end: it leads to a Pod of the Service.
    if (forward.url.startsWith('https:')) trustTunnel(environment);
    return await run([...rest, '--url', forward.url]);
  } finally {
    await forward.close();
  }
}

/** Lets this process accept any certificate. From here on it connects only through the tunnel. */
function trustTunnel(environment: NodeJS.ProcessEnv): void {
  environment['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  // Node prints a warning about the variable; others are still printed.
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (!warning.message.includes('NODE_TLS_REJECT_UNAUTHORIZED')) for (const listener of listeners) listener(warning);
  });
}

/** The command of a command line and what follows it, without the options of the plugin; empty without a command. */
export function ofCommand(args: readonly string[]): readonly string[] {
  return split(args).rest;
}

/**
 * The plugin's options, wherever they are, and what is left for the command, in its order. After a command that writes, the namespace is
 * that of its objects.
 */
function split(args: readonly string[]): {
  readonly given: Own;
  readonly rest: readonly string[];
  /** An option of the plugin without its value. */
  readonly valueless: string | null;
} {
  const { tokens } = parseArgs({ args: [...args], options: own, strict: false, tokens: true });
  const taken = new Set<number>();
  const given: { -readonly [K in keyof Own]: string } = {};
  let valueless: string | null = null;
  let isWriting = false;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      // The first is the command: the values of the plugin's options are no positionals.
      if (taken.size === token.index && (writing as readonly string[]).includes(token.value)) isWriting = true;
      continue;
    }
    if (token.kind !== 'option' || !(token.name in own) || (isWriting && token.name === 'namespace')) continue;
    if (token.value === undefined) {
      valueless = token.rawName;
      continue;
    }
    given[token.name as keyof Own] = token.value;
    taken.add(token.index);
    if (!token.inlineValue) taken.add(token.index + 1);
  }
  return { given, rest: args.filter((_arg, index) => !taken.has(index)), valueless };
}
