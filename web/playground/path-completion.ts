/** Completion of path arguments in the editor. The paths of a kind come from `resources { fields }`, once for each schema. */
import type { GraphQLSchema } from 'graphql';
import type { editor, IDisposable, languages, Position } from 'monaco-editor';
import type { Fetcher } from './fetcher.ts';
import { objectInterface, type PathArgument, pathArgumentAt } from './path-argument.ts';
import { commonFields, type PathField, suggestPaths } from './path-suggestions.ts';

const fieldsQuery = 'query PathCompletion($kinds: [String!]!) { resources(kinds: $kinds) { fields { path type } } }';

type Monaco = typeof import('monaco-editor');

interface FieldsOfResource {
  readonly fields: readonly PathField[];
}

export class PathCompletion {
  readonly #fetcher: Fetcher;
  #schema: GraphQLSchema | null = null;
  /** Fields of a kind by its word. */
  readonly #fields = new Map<string, Promise<readonly PathField[]>>();

  constructor(fetcher: Fetcher) {
    this.#fetcher = fetcher;
  }

  register({ languages }: Monaco): IDisposable {
    return languages.registerCompletionItemProvider('graphql', {
      triggerCharacters: ['"', '.', '[', '('],
      provideCompletionItems: async (model, position) => ({
        suggestions: await this.#complete(languages, model, position),
      }),
    });
  }

  /** Paths are read again, because their kinds may have changed. */
  setSchema(schema: GraphQLSchema): void {
    this.#schema = schema;
    this.#fields.clear();
  }

  async #complete(
    { CompletionItemKind, CompletionItemInsertTextRule }: Monaco['languages'],
    model: editor.ITextModel,
    position: Position,
  ): Promise<languages.CompletionItem[]> {
    const text = model.getValue();
    const offset = model.getOffsetAt(position);
    const argument = this.#schema === null ? null : pathArgumentAt(this.#schema, text, offset);
    if (argument === null) return [];
    const start = model.getPositionAt(argument.start);
    const end = model.getPositionAt(offset + (/^[^"\\\n\r]*(?=")/.exec(text.slice(offset))?.[0].length ?? 0));
    const range = (to: Position) => ({
      startLineNumber: start.lineNumber,
      startColumn: start.column,
      endLineNumber: to.lineNumber,
      endColumn: to.column,
    });
    const suggestions = suggestPaths(await this.#fieldsOf(argument), argument.written);
    return suggestions.map(({ label, insert, type }, index) => ({
      label,
      detail: type,
      kind: CompletionItemKind.Field,
      insertText: insert,
      insertTextRules: CompletionItemInsertTextRule.InsertAsSnippet,
      filterText: label.replaceAll('"', String.raw`\"`),
      sortText: String(index).padStart(6, '0'),
      range: { insert: range(position), replace: range(end) },
    }));
  }

  async #fieldsOf({ type, kinds }: PathArgument): Promise<readonly PathField[]> {
    if (type !== objectInterface) return this.#fieldsOfKind(type);
    // The words of a pattern may name every kind, whose fields would be many. Then, as without words, what all objects have.
    if (kinds.length > 0 && !kinds.some((word) => word.includes('*'))) {
      return commonFields(await Promise.all(kinds.map((word) => this.#fieldsOfKind(word))));
    }
    const [any] = this.#possibleTypes();
    const fields = any === undefined ? [] : await this.#fieldsOfKind(any);
    return fields.filter(({ path }) => /^(?:metadata\.|apiVersion$|kind$)/.test(path));
  }

  #possibleTypes(): readonly string[] {
    const type = this.#schema?.getType(objectInterface);
    if (this.#schema == null || type === undefined || !('getInterfaces' in type)) return [];
    return this.#schema.getPossibleTypes(type as never).map(({ name }) => name);
  }

  #fieldsOfKind(word: string): Promise<readonly PathField[]> {
    const known = this.#fields.get(word);
    if (known !== undefined) return known;
    const reading = this.#read(word);
    this.#fields.set(word, reading);
    return reading;
  }

  /** The fields of a kind in all clusters; none if the kind is unknown. A failed request is tried again by the next completion. */
  async #read(word: string): Promise<readonly PathField[]> {
    const answer = await this.#fetcher({ query: fieldsQuery, variables: { kinds: [word] } });
    const data =
      'subscribe' in answer ? null : (answer.data as { readonly resources: readonly FieldsOfResource[] } | null);
    if (data == null) this.#fields.delete(word);
    const resources = data?.resources ?? [];
    const byPath = new Map(resources.flatMap(({ fields }) => fields).map((field) => [field.path, field]));
    return [...byPath.values()];
  }
}
