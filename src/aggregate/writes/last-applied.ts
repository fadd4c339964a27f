/**
 * kubectl's last-applied annotation as the record keeps it: without data of Secrets and without redacted values.
 *
 *   nothing is withheld               the text as it came, so that kubectl finds it unchanged
 *   a member has a redacted value     the same JSON without these values
 *   a kind that is not in the tables  the member's apiVersion, kind and name: which of its values are redacted is not known
 *   no JSON of a set                  not kept
 */
import { isRecord, list, parsedJson, text } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { sealedText, visible, withhold } from '../../writes/diff/withheld-values.ts';
import { bounded } from './request-body.ts';

type Json = Readonly<Record<string, unknown>>;

/** Null where nothing of it can be kept. @throws PortolanError that means 400 for one beyond the bounds */
export function keptLastApplied(given: string | null, kinds: Pick<ServedKinds, 'kindOf'>): string | null {
  if (given === null) return null;
  const body = recordOf(bounded(parsedJson(given) ?? null));
  const spec = recordOf(body?.['spec']);
  if (body === null || spec === null) return null;
  const entries = list(memberOf(spec, 'flowList'));
  const kept = entries.map((entry) => keptEntry(entry, kinds));
  if (sealedText(entries) === sealedText(kept)) return given;
  return `${JSON.stringify({ ...body, spec: { ...spec, flowList: kept } })}\n`;
}

function keptEntry(entry: unknown, kinds: Pick<ServedKinds, 'kindOf'>): unknown {
  if (!isRecord(entry)) return null;
  const { apiVersion, kind, metadata } = entry;
  const version = text(apiVersion) ?? '';
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  const { name, namespace } = recordOf(metadata) ?? {};
  const found = kinds.kindOf(group, text(kind) ?? '');
  if (found === undefined) return { apiVersion, kind, metadata: { name, namespace } };
  const isSecret = group === '' && kind === 'Secret';
  return visible(withhold(entry as Json, isSecret ? ['data', 'stringData', ...found.redacted] : found.redacted));
}
