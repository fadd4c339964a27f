/** What a JSON Schema and an API server say of a manifest, and who is right to differ. */
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { recordOr, records, textOr } from '../../src/base/json.ts';
import type { Resource } from '../../src/catalog/resources/resource.ts';
import { resourcePath } from '../../src/kube/http/resource-path.ts';
import { apiRequest } from './api-request.ts';
import type { ControlPlane } from './control-plane.ts';

type Json = Readonly<Record<string, unknown>>;
type Served = Pick<Resource, 'group' | 'version' | 'plural' | 'kind' | 'namespaced'>;

/** The validator of a schema, with all formats that editors check. */
export function validatorOf(schema: Json): ValidateFunction {
  // Without the check of union types and unknown keywords (x-kubernetes-…), the strictness of Ajv stays on.
  const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: false, logger: false });
  for (const word of unknownWords(schema)) ajv.addKeyword(word);
  formats.default(ajv);
  return ajv.compile(schema);
}

function unknownWords(schema: unknown): Set<string> {
  const found = new Set<string>(['doNotSuggest']);
  for (const [word] of JSON.stringify(schema).matchAll(/"x-kubernetes-[\w-]+"(?=:)/g))
    found.add(JSON.parse(word) as string);
  return found;
}

export interface ServerVerdict {
  readonly takes: boolean;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[];
}

/** The server's dry run with strict field validation. */
export async function dryRun(
  plane: Pick<ControlPlane, 'server' | 'caPem' | 'token'>,
  served: Served,
  manifest: Json,
): Promise<ServerVerdict> {
  const path = resourcePath(served, served.namespaced ? 'default' : undefined);
  const query = '?dryRun=All&fieldValidation=Strict';
  const send = () => apiRequest(plane, plane.token, `${path}${query}`, { method: 'POST', body: manifest });
  // The server may close an idle connection in the moment of the request.
  const answer = await send()
    .catch(send)
    .catch(() => null);
  // A panic of the server ends the connection.
  if (answer === null) return { takes: false, reason: 'NoAnswer', message: '', causes: [] };
  const status = recordOr(JSON.parse(answer.text));
  const causes = records(recordOr(status['details'])['causes']).map(({ reason, field, message }) => ({
    reason: textOr(reason),
    field: textOr(field),
    message: textOr(message),
  }));
  return { takes: answer.status < 300, reason: textOr(status['reason']), message: textOr(status['message']), causes };
}
