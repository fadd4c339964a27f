/**
 * A kubeconfig of somebody else: it came as text, from a Secret for instance, or it was found. It may hold only inline data.
 *
 * Who can write it must not gain the rights of this process: it can name no file to read and no command to run.
 */
import { list, record } from '../../base/json.ts';
import { type KubeconfigEntries, kubeconfigEntries } from './kubeconfig-entries.ts';
import { kubeconfigText } from './kubeconfig-text.ts';

/** Plain data, so that another thread can receive it. */
export interface InlineKubeconfig {
  readonly text: string;
  /** Its source, for messages: `the Secret portolan/east`. */
  readonly source: string;
}

/** Members that name a file or a command. */
const refused = {
  clusters: ['certificate-authority'],
  users: ['exec', 'auth-provider', 'tokenFile', 'client-certificate', 'client-key'],
} as const;

/** @throws Error that says what cannot be used. */
export function readInline({ text }: InlineKubeconfig): KubeconfigEntries {
  const raw = kubeconfigText(text);
  const found = reachOf(raw);
  if (found !== null) {
    const isPem = found.startsWith('c');
    throw new Error(`it has ${found}, and only inline data is allowed: use ${isPem ? `${found}-data` : 'a token'}`);
  }
  return kubeconfigEntries(raw, '/');
}

/** The first member that names a file or a command; null where there is only inline data. */
export function reachOf(raw: Readonly<Record<string, unknown>>): string | null {
  for (const [section, members] of Object.entries(refused)) {
    for (const entry of list(raw[section])) {
      const settings = record(record(entry)?.[section.slice(0, -1)]) ?? {};
      const found = members.find((member) => settings[member] !== undefined);
      if (found !== undefined) return found;
    }
  }
  return null;
}
