/** `portolan relations`: the relations of a running gateway with their counts, as a table, as JSON, or as declarations. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { PortolanError } from '../../base/errors.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { textTable } from '../../base/text/text-table.ts';
import type { Config } from '../../config/options.ts';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';

const query = `{ resources { key group kind relations {
  name to reverse origin way paths references missing declaration } } }`;

const relation = z.object({
  name: z.string(),
  to: z.string().nullable(),
  reverse: z.string().nullable(),
  origin: z.enum(['CONFIGURED', 'SHIPPED', 'ANNOTATION', 'INFERRED']),
  way: z.enum(['REFERENCE', 'OWNER', 'SELECTOR']),
  paths: z.array(z.string()),
  references: z.number().nullable(),
  missing: z.number().nullable(),
  declaration: z.record(z.string(), z.unknown()),
});
const shape = z.object({
  resources: z.array(z.object({ key: z.string(), group: z.string(), kind: z.string(), relations: z.array(relation) })),
});

interface RelationRow extends z.output<typeof relation> {
  /** `Pod`, `Deployment.apps` */
  readonly from: string;
}

/** Prints to `output`. @throws PortolanError UPSTREAM_UNAVAILABLE when the gateway cannot be reached, or has no schema yet. */
export async function relations(
  { suggest, json, ...remote }: RemoteConfig & Pick<Config, 'suggest' | 'json'>,
  output: { write(text: string): unknown } = standardOutput,
): Promise<number> {
  const data = await new GatewayClient(remote).ask(query, shape);
  if (data === null)
    throw new PortolanError('UPSTREAM_UNAVAILABLE', 'The gateway is still starting; try again in a moment.');
  const rows = merged(
    data.resources.flatMap(({ group, kind, relations: own }) =>
      own.map((each) => ({ ...each, from: group === '' ? kind : `${kind}.${group}` })),
    ),
  );
  if (suggest) output.write(suggestion(rows.filter(({ origin }) => origin === 'INFERRED')));
  else if (json) output.write(`${JSON.stringify(rows, null, 2)}\n`);
  else output.write(table(rows));
  return 0;
}

/** One row for a relation of several clusters. */
function merged(rows: readonly RelationRow[]): readonly RelationRow[] {
  const found = new Map<string, RelationRow>();
  const sum = (a: number | null, b: number | null): number | null => (a === null ? b : a + (b ?? 0));
  for (const row of rows) {
    const key = `${row.from} ${row.name}`;
    const known = found.get(key);
    const counts = {
      references: sum(known?.references ?? null, row.references),
      missing: sum(known?.missing ?? null, row.missing),
    };
    found.set(key, { ...(known ?? row), ...counts });
  }
  return [...found.values()].sort((a, b) => (`${a.from} ${a.name}` < `${b.from} ${b.name}` ? -1 : 1));
}

const titles = ['KIND', 'RELATION', 'TO', 'REVERSE', 'ORIGIN', 'REFERENCES', 'MISSING', 'BY'];

function table(rows: readonly RelationRow[]): string {
  const cells = rows.map(({ from, name, to, reverse, origin, references, missing, way, paths }) => [
    from,
    name,
    to ?? 'any kind',
    reverse ?? '-',
    origin.toLowerCase(),
    references === null ? '-' : String(references),
    missing === null ? '-' : String(missing),
    way === 'OWNER' ? 'owner reference' : way === 'SELECTOR' ? `selector ${paths.join(', ')}` : paths.join(', '),
  ]);
  const inferred = rows.filter(({ origin }) => origin === 'INFERRED').length;
  return `${textTable([titles, ...cells])}${rows.length} relations, ${inferred} inferred.\n`;
}

/** The inferred relations as a file for `--relations`. */
function suggestion(rows: readonly RelationRow[]): string {
  const lines = rows.map(({ declaration, references, missing }) => {
    const found = (references ?? 0) - (missing ?? 0);
    const share = references === null || references === 0 ? '' : ` (${Math.round((100 * found) / references)} %)`;
    const written = stringify(declaration, { collectionStyle: 'flow', lineWidth: 0 }).trim();
    return `  # ${references ?? 0} references, ${found} to objects that exist${share}\n  - ${written}\n`;
  });
  return `# Relations that Portolan inferred. Keep those that are right, and add \`reverse\` for a field in the other direction.
relations:${lines.length === 0 ? ' []\n' : `\n${lines.join('')}`}`;
}
