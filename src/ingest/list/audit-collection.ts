/**
 * Compares a collection's table with the server: lists the metadata of its objects at exactly the resourceVersion of the table.
 *
 * It changes nothing. A server that does not support metadata lists sends whole objects; they can be compared as well.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../../kube/client/rest-client.ts';
import type { ListedObject } from '../../store/types/incoming-object.ts';
import type { Audit, AuditResult } from '../../store/types/writer.ts';
import { type ListItem, ListSlicer } from '../bytes/list-slicer.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { inStore } from '../flow/failure.ts';

const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** The differences; null if there is nothing to compare. Rejects if the server cannot list at that version (any more). */
export async function auditCollection(context: ReflectorContext, stop: AbortSignal): Promise<AuditResult | null> {
  const slot = await context.lists.enter(context.resource.group, stop);
  try {
    await context.budget.take(context.handle.id, stop);
    const audit = inStore(() => context.writer.audit(context.handle));
    if (audit === null || audit.resourceVersion === '' || audit.resourceVersion === '0') return null;
    const { resourceVersion } = audit;
    const limit = context.settings.pageSize;
    let token = await checkPage(context, audit, { limit, resourceVersion, resourceVersionMatch: 'Exact' }, stop);
    while (token !== '') token = await checkPage(context, audit, { limit, continue: token }, stop);
    return await audit.finish();
  } finally {
    slot.leave();
  }
}

/** Reads one page; returns the next page's token, empty at the end. */
async function checkPage(context: ReflectorContext, audit: Audit, query: Query, signal: AbortSignal): Promise<string> {
  const { client, handle, resource, settings } = context;
  const path = collectionPath(resource, handle);
  const { body } = await client.stream(path, query, { signal, accept, bodyTimeoutMs: settings.listSilenceMs });
  body.on('error', () => {});
  const slicer = new ListSlicer(settings.maxItemBytes);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const items = [...slicer.push(chunk)].map(identityOf);
    inStore(() => audit.check(items));
    await nextTurn(undefined, { signal });
  }
  const { continueToken, resourceVersion } = slicer.end();
  if (resourceVersion !== audit.resourceVersion) {
    throw new ProtocolError('another version', `GET ${path} returned another version than requested.`);
  }
  return continueToken;
}

function identityOf({ text }: ListItem): ListedObject {
  const { metadata } = JSON.parse(text) as { metadata: Partial<ListedObject> };
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { namespace, name, uid, resourceVersion };
}
