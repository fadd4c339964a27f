/**
 * The one object that a command line names: by its id, or by a kind and a name.
 *
 *   portolan revert Deployment web -n shop     asks for the id: in the tables, or for a deleted object in the history
 */
import { PortolanError } from '../../base/errors.ts';
import { inPlace, orHidden, type Place } from '../remote/object-filter.ts';
import { kindAndNames } from './kind-and-names.ts';
import { cutNotice } from './recorded-changes.ts';
import { isObjectId } from './wanted-objects.ts';
import type { WriteGateway } from './written-items.ts';

/** @param mayBeGone an object that the history has alone counts too @throws PortolanError CONFIGURATION, NOT_FOUND */
export async function idOfObject(
  gateway: WriteGateway,
  given: readonly string[],
  place: Place,
  mayBeGone: boolean,
): Promise<string> {
  const words = kindAndNames(given);
  const [first, name] = words;
  if (first !== undefined && words.length === 1 && isObjectId(first)) return first;
  if (first === undefined || name === undefined || words.length > 2) {
    throw new PortolanError(
      'CONFIGURATION',
      'Name one object: its id, or a kind and a name, such as Deployment web -n shop or deploy/web -n shop.',
    );
  }
  const found = await gateway.idsOf(first, name, place);
  let notice = '';
  const cut = (): void => {
    notice = ` ${cutNotice} Give its id, or narrow them with --namespace and --cluster.`;
  };
  const gone = found.length === 0 && mayBeGone ? await gateway.recordedIdsOf(first, name, place, cut) : [];
  const [id, ...others] = [...found, ...gone];
  if (id === undefined) {
    const change = mayBeGone ? ', and no change of one is recorded' : '';
    const history = mayBeGone ? ` \`portolan history ${first} --since -7d\` lists the recorded changes.` : '';
    throw new PortolanError(
      'NOT_FOUND',
      `There is no ${first} ${name}${inPlace(place)}${change}, ${orHidden}${history}${notice}`,
    );
  }
  if (others.length === 0) return id;
  throw new PortolanError(
    'CONFIGURATION',
    `${others.length + 1} objects have the kind ${first} and the name ${name}: add --namespace or --cluster.`,
  );
}
