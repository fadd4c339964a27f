/**
 * The result of one check of `portolandoctor`.
 *
 *   ok         as it should be
 *   warning    it works now, and may not work later or not for everybody
 *   problem    it does not work
 *   not seen   it could not be looked at. The message says what was missing for it
 */

export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'problem' | 'not seen';
  /** One sentence or more. */
  readonly message: string;
  /** A command of a shell that mends it; null where there is none. */
  readonly command: string | null;
}

export function ok(message: string): Finding {
  return { verdict: 'ok', message, command: null };
}

export function warning(message: string, command: string | null = null): Finding {
  return { verdict: 'warning', message, command };
}

export function problem(message: string, command: string | null = null): Finding {
  return { verdict: 'problem', message, command };
}

export function notSeen(message: string, command: string | null = null): Finding {
  return { verdict: 'not seen', message, command };
}

/**
 * A command with names of a cluster in it, or with patterns of names, which are quoted. Null if one of them is neither: a shell might read it
 * as something else.
 */
export function commandOf(parts: TemplateStringsArray, ...names: readonly (string | number)[]): string | null {
  if (!names.every((name) => /^[a-z0-9*][\w.:=,/*-]{0,300}$/i.test(String(name)))) return null;
  const quoted = names.map((name) => (String(name).includes('*') ? `'${name}'` : name));
  return parts.reduce((text, part, index) => `${text}${quoted[index - 1] ?? ''}${part}`);
}
