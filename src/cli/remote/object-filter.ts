/** Parts of a GraphQL filter for the flags of a command line. */
import { PortolanError } from '../../base/errors.ts';
import { exactObject } from './exact-json.ts';

/** Where objects are. */
export interface Place {
  readonly namespace?: string;
  readonly cluster?: string;
}

/** The conditions on where objects are. */
export function placeFilter({ namespace, cluster }: Place): object {
  return {
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    ...(cluster === undefined ? {} : { clusters: [cluster] }),
  };
}

/** Where objects are looked for, as a part of a sentence. */
export function inPlace({ namespace, cluster }: { readonly [part in keyof Place]: Place[part] | undefined }): string {
  const where = [
    ...(namespace === undefined ? [] : [`in the namespace ${namespace}`]),
    ...(cluster === undefined ? [] : [`in the cluster ${cluster}`]),
  ];
  return where.length === 0 ? '' : ` ${where.join(' ')}`;
}

/** The end of a sentence about an object that was not found. */
export const orHidden = 'or you may not see it: check the name, --namespace and --cluster.';

/** The filter in the value of a flag. @param flag such as `--where` @throws PortolanError CONFIGURATION for text that is no object */
export function filterOf(flag: string, json: string): object {
  const filter = exactObject(json);
  if (filter !== null) return filter;
  throw new PortolanError(
    'CONFIGURATION',
    `${flag} must be a JSON object, such as {"metadata": {"name": {"startsWith": "web-"}}}; quote it for the shell.`,
  );
}
