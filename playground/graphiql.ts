/**
 * Loads GraphiQL, and tells the parts that the page uses of it, of React and of the Monaco editor. The package that holds them has no
 * types for them.
 */
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { element } from './element.ts';

/** One request of GraphiQL. */
export interface FetcherRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface FetcherOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the result pane shows. */
export type Answer = Pick<ExecutionResult, 'data' | 'extensions'> & {
  readonly errors?: readonly { readonly message: string }[];
};

/** The answers to a subscription. */
export interface Observable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

export interface Observer {
  next(answer: Answer): void;
  error(error: unknown): void;
  complete(): void;
}

export type Fetcher = (request: FetcherRequest, options?: FetcherOptions) => Promise<Answer> | Observable;

/** A plugin of GraphiQL: a button at the left edge that opens a panel. */
export interface Plugin {
  readonly title: string;
  readonly icon: () => Element;
  readonly content: () => Element;
}

export interface Storage {
  readonly length: number;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  clear(): void;
}

interface Options {
  readonly title: string;
  readonly fetcher: Fetcher;
  readonly storage: Storage;
  /** May GraphiQL keep the headers of its header editor in the storage? Default: yes. */
  readonly shouldPersistHeaders?: boolean;
  readonly defaultTabs?: readonly { readonly query: string }[];
  onSchemaChange(schema: GraphQLSchema): void;
}

interface GraphiQL {
  renderYogaGraphiQL(root: unknown, options: Options): void;
}

/** The URL of a part of the page (src/server/playground/parts.ts). */
const urlOf = (part: string): string => `${location.pathname}?playground=${part}`;

const workers: Readonly<Record<string, string>> = { json: 'json-worker.js', graphql: 'graphql-worker.js' };

/** Resolves when GraphiQL and its styles are loaded. Rejects if the gateway does not send them. */
export async function loadGraphiql(): Promise<GraphiQL> {
  const globals = globalThis as unknown as { MonacoEnvironment: object; YogaGraphiQL: GraphiQL };
  globals.MonacoEnvironment = {
    // Then the editor is global.
    globalAPI: true,
    getWorkerUrl: (_module: string, label: string) => urlOf(workers[label] ?? 'editor-worker.js'),
  };
  await Promise.all([
    loaded(element('link', { rel: 'stylesheet', href: urlOf('graphiql.css') })),
    loaded(element('script', { src: urlOf('graphiql.js') })),
  ]);
  return globals.YogaGraphiQL;
}

function loaded(part: HTMLLinkElement | HTMLScriptElement): Promise<void> {
  return new Promise((resolve, reject) => {
    part.onload = () => resolve();
    part.onerror = () => reject(new Error('The editor could not be loaded from the gateway. Load the page again.'));
    document.head.append(part);
  });
}

/** A React element. */
export type Element = unknown;

interface React {
  createElement(type: string | (() => Element), props: object | null, ...children: readonly unknown[]): Element;
  useSyncExternalStore<T>(subscribe: (changed: () => void) => () => void, read: () => T): T;
}

/** React is loaded when a panel is first shown, not when this module is. */
export const react = (): React => (globalThis as unknown as { readonly React: React }).React;

export interface Position {
  readonly lineNumber: number;
  readonly column: number;
}

export interface Model {
  getValue(): string;
  getOffsetAt(position: Position): number;
  getPositionAt(offset: number): Position;
}

interface Range {
  readonly startLineNumber: number;
  readonly startColumn: number;
  readonly endLineNumber: number;
  readonly endColumn: number;
}

export interface CompletionItem {
  readonly label: string;
  readonly detail: string;
  readonly kind: number;
  readonly insertText: string;
  readonly insertTextRules: number;
  readonly filterText: string;
  readonly sortText: string;
  readonly range: { readonly insert: Range; readonly replace: Range };
}

export interface Monaco {
  readonly languages: {
    readonly CompletionItemKind: { readonly Field: number };
    readonly CompletionItemInsertTextRule: { readonly InsertAsSnippet: number };
    registerCompletionItemProvider(
      language: string,
      provider: {
        readonly triggerCharacters: readonly string[];
        provideCompletionItems(
          model: Model,
          position: Position,
        ): Promise<{ readonly suggestions: readonly CompletionItem[] }>;
      },
    ): void;
  };
}

/** The editor is there when GraphiQL is loaded. */
export const editor = (): Monaco => (globalThis as unknown as { readonly monaco: Monaco }).monaco;
