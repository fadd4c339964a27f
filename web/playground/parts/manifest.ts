/**
 * The panel of manifests. A person chooses a kind and writes YAML. The editor completes, describes and marks it by the JSON Schema of the
 * kind. Then the panel plans an apply, and carries it out. It is the part manifest.js of the page.
 *
 *   kind -> resources { jsonSchema } -> editor     Plan -> apply(dryRun) -> its changes     Apply -> apply(plan), exactly these
 */
import { useMonaco } from '@graphiql/react';
import { configureMonacoYaml, type MonacoYaml } from 'monaco-yaml';
import { createElement as h, type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Fetcher } from '../fetcher.ts';
import { messageOf } from '../post.ts';

const kindsQuery = 'query Kinds { clusters { __typename } resources { cluster key kind verbs } }';
const schemaQuery = `query JsonSchema($kinds: [String!], $clusters: [String!]) {
  resources(kinds: $kinds, clusters: $clusters) { key group version kind namespaced jsonSchema }
}`;
/** @param prefix what the names of types begin with */
const applyMutation = (
  prefix: string,
): string => `mutation Apply($docs: [${prefix}ManifestInput!]!, $options: ${prefix}WriteOptions) {
  apply(docs: $docs, options: $options) {
    planId
    items { target { kind namespace name } result warnings changes { path before after isWithheld } errors { code message } }
  }
}`;

interface Kinds {
  readonly clusters: readonly { readonly __typename: string }[];
  readonly resources: readonly Listed[];
}

/** A kind of one cluster. */
interface Listed {
  readonly cluster: string;
  readonly key: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

interface Described {
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly jsonSchema: object | null;
}

interface Change {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly isWithheld: boolean;
}

interface Item {
  readonly target: { readonly kind: string; readonly namespace: string | null; readonly name: string | null };
  readonly result: string;
  readonly warnings: readonly string[];
  readonly changes: readonly Change[];
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

interface Outcome {
  readonly isPlan: boolean;
  /** The text that was sent, and the cluster: others need another plan. */
  readonly yaml: string;
  readonly cluster: string | undefined;
  readonly planId: string | null;
  readonly items: readonly Item[];
  readonly problems: readonly string[];
}

type Applied = Pick<Outcome, 'planId' | 'items'>;

const modelUri = 'portolan://manifest/manifest.yaml';

/** Monaco has one service for YAML. */
let service: MonacoYaml | null = null;

export function ManifestPanel({ fetcher }: { readonly fetcher: Fetcher }): ReactElement {
  const [chosenCluster, setCluster] = useState<string | null>(null);
  const [word, setWord] = useState('');
  const [problem, setProblem] = useState('');
  const { listed, prefix } = useKinds(fetcher, setProblem);
  const { place, yaml, hasEditor } = useEditor();
  const choose = useChoice(fetcher, listed, setProblem);
  const clusters = [...new Set(listed.map(({ cluster }) => cluster))];
  const cluster = chosenCluster ?? clusters[0];
  const { outcome, isBusy, send } = useOutcome(fetcher, prefix, yaml, cluster);
  const isSame = outcome?.yaml === yaml && outcome.cluster === cluster;
  const plan = outcome?.isPlan === true && isSame ? outcome.planId : null;
  const isRefused = outcome?.items.some(({ errors }) => errors.length > 0) ?? false;
  return h(
    'section',
    { className: 'portolan-manifest', 'aria-label': 'Manifest' },
    h('div', { className: 'graphiql-doc-explorer-title' }, 'Manifest'),
    clusters.length < 2
      ? null
      : clusterChoice(clusters, cluster, (name) => {
          setCluster(name);
          void choose(word, name);
        }),
    h('input', {
      list: 'portolan-kinds',
      placeholder: 'a kind, such as deployments.apps',
      'aria-label': 'Kind',
      // A choice needs the editor, and the kinds.
      disabled: !hasEditor || listed.length === 0,
      onChange: ({ target }: Changed) => {
        setWord(target.value);
        void choose(target.value, cluster);
      },
    }),
    h(
      'datalist',
      { id: 'portolan-kinds' },
      ...[...kindsOf(listed, cluster)].map(([key, kind]) => h('option', { key, value: key }, kind)),
    ),
    problem === '' ? null : h('p', { role: 'alert' }, problem),
    h('div', { className: 'portolan-manifest-editor', ref: place }),
    h(
      'div',
      { className: 'portolan-manifest-actions' },
      button('Plan', isBusy || yaml.trim() === '', () => void send({ dryRun: true }, true)),
      button('Apply this plan', isBusy || plan === null || isRefused, () => void send({ plan }, false)),
    ),
    outcome === null ? null : h('div', { 'aria-label': 'Outcome', role: 'status' }, ...outcomeOf(outcome)),
  );
}

/** The kinds that can be patched, and what the names of types begin with. */
function useKinds(fetcher: Fetcher, setProblem: (text: string) => void): { listed: readonly Listed[]; prefix: string } {
  const [listed, setListed] = useState<readonly Listed[]>([]);
  const [prefix, setPrefix] = useState('');
  useEffect(() => {
    void ask<Kinds>(fetcher, kindsQuery).then(({ data, problems }) => {
      setPrefix(data?.clusters[0]?.__typename.replace(/Cluster$/, '') ?? '');
      setListed((data?.resources ?? []).filter(({ verbs }) => verbs.includes('patch')));
      setProblem(problems.join(' '));
    });
  }, [fetcher, setProblem]);
  return { listed, prefix };
}

/** The editor below `place`, and its text. */
function useEditor() {
  const monaco = useMonaco((state) => state.monaco);
  const place = useRef<HTMLDivElement>(null);
  const [yaml, setYaml] = useState('');
  const [hasEditor, setHasEditor] = useState(false);
  useEffect(() => {
    if (monaco === undefined || place.current === null) return undefined;
    service ??= configureMonacoYaml(monaco, { validate: true, hover: true, completion: true });
    const uri = monaco.Uri.parse(modelUri);
    const model = monaco.editor.getModel(uri) ?? monaco.editor.createModel('', 'yaml', uri);
    setYaml(model.getValue());
    const editor = monaco.editor.create(place.current, {
      model,
      automaticLayout: true,
      minimap: { enabled: false },
      lineNumbers: 'off',
      folding: false,
      tabSize: 2,
      fixedOverflowWidgets: true,
      quickSuggestions: { other: true, comments: false, strings: true },
      ariaLabel: 'Manifest',
    });
    setHasEditor(true);
    const changes = model.onDidChangeContent(() => setYaml(model.getValue()));
    return () => {
      changes.dispose();
      editor.dispose();
    };
  }, [monaco]);
  return { place, yaml, hasEditor };
}

/** Gives the editor the schema of a kind, and a manifest to go on from. */
function useChoice(fetcher: Fetcher, listed: readonly Listed[], setProblem: (text: string) => void) {
  const monaco = useMonaco((state) => state.monaco);
  /** The text that a choice wrote: another one is a person's. */
  const written = useRef<string>('');
  /** Counts the choices: the answer to an older one may come later. */
  const choices = useRef(0);
  return async (key: string, of: string | undefined): Promise<void> => {
    choices.current += 1;
    const choice = choices.current;
    const isOver = (): boolean => choice !== choices.current;
    if (monaco === undefined || !listed.some((each) => each.key === key && each.cluster === of)) return;
    try {
      const variables = { kinds: [key], clusters: [of] };
      const { data, problems } = await ask<{ resources: readonly Described[] }>(fetcher, schemaQuery, variables);
      if (isOver()) return;
      setProblem(problems.join(' '));
      const chosen = data?.resources.find(({ jsonSchema }) => jsonSchema !== null);
      if (chosen === undefined) return;
      const uri = `portolan://schema/${key}.json`;
      await service?.update({ schemas: [{ uri, fileMatch: ['*'], schema: chosen.jsonSchema as never }] });
      if (isOver()) return;
      const model = monaco.editor.getModel(monaco.Uri.parse(modelUri));
      if (model?.getValue().trim() === '' || model?.getValue() === written.current) {
        written.current = beginning(chosen);
        model.setValue(written.current);
      }
    } catch (error) {
      if (!isOver()) setProblem(messageOf(error));
    }
  };
}

/** Plans or applies the text. */
function useOutcome(fetcher: Fetcher, prefix: string, yaml: string, cluster: string | undefined) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (options: object, isPlan: boolean): Promise<void> => {
    setBusy(true);
    try {
      const variables = { docs: [{ yaml, cluster }], options };
      const { data, problems } = await ask<{ apply: Applied | null }>(fetcher, applyMutation(prefix), variables);
      const { planId = null, items = [] } = data?.apply ?? {};
      setOutcome({ isPlan, yaml, cluster, planId, items, problems });
    } catch (error) {
      setOutcome({ isPlan, yaml, cluster, planId: null, items: [], problems: [messageOf(error)] });
    } finally {
      setBusy(false);
    }
  };
  return { outcome, isBusy, send };
}

function clusterChoice(
  clusters: readonly string[],
  cluster: string | undefined,
  choose: (name: string) => void,
): ReactElement {
  return h(
    'select',
    {
      'aria-label': 'Cluster',
      value: cluster,
      onChange: ({ target }: Changed) => choose(target.value),
    },
    ...clusters.map((name) => h('option', { key: name, value: name }, name)),
  );
}

interface Changed {
  readonly target: { readonly value: string };
}

/** The kinds of the cluster, by key. */
function kindsOf(listed: readonly Listed[], of: string | undefined): ReadonlyMap<string, string> {
  return new Map(listed.filter(({ cluster }) => cluster === of).map(({ key, kind }) => [key, kind]));
}

function button(text: string, disabled: boolean, onClick: () => void): ReactElement {
  return h('button', { type: 'button', className: 'graphiql-button', disabled, onClick }, text);
}

/** A manifest of the kind, to go on from. */
function beginning({ group, version, kind, namespaced }: Described): string {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const namespace = namespaced ? '\n  namespace: default' : '';
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: example${namespace}\n`;
}

function outcomeOf({ items, problems, isPlan }: Outcome): readonly ReactNode[] {
  return [
    ...problems.map((text) => h('p', { key: text, role: 'alert' }, text)),
    ...items.map(({ target, result, warnings, changes, errors }, index) =>
      h(
        'div',
        { key: index },
        h('b', null, `${target.kind} ${[target.namespace, target.name].filter((part) => part !== null).join('/')}: `),
        isPlan && errors.length === 0 ? `would be ${result}` : result,
        h(
          'ul',
          null,
          ...errors.map(({ code, message }, at) => h('li', { key: `e${at}`, role: 'alert' }, `${code}: ${message}`)),
          ...warnings.map((text, at) => h('li', { key: `w${at}` }, text)),
          ...changes.map((change) =>
            h('li', { key: change.path }, h('code', null, change.path), `: ${differenceOf(change)}`),
          ),
        ),
      ),
    ),
  ];
}

function differenceOf({ before, after, isWithheld }: Change): string {
  return isWithheld ? 'withheld' : `${shown(before)} -> ${shown(after)}`;
}

function shown(value: unknown): string {
  return value === null || value === undefined ? 'none' : JSON.stringify(value);
}

async function ask<T>(
  fetcher: Fetcher,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly data: T | null; readonly problems: readonly string[] }> {
  const answer = await fetcher({ query, variables });
  if ('subscribe' in answer) return { data: null, problems: [] };
  return { data: (answer.data ?? null) as T | null, problems: (answer.errors ?? []).map(({ message }) => message) };
}
