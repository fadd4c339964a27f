/** Monaco and its modes for GraphQL and JSON: what GraphiQL imports when it is rendered. It is the part editor.js of the
 * page. */

// @ts-expect-error: GraphiQL changes this module of Monaco in Firefox. It has no types.
export { MouseTargetFactory } from 'monaco-editor/esm/vs/editor/browser/controller/mouseTarget.js';

import 'monaco-editor/esm/vs/basic-languages/yaml/yaml.contribution.js';

export * from 'monaco-graphql/esm/monaco-editor.js';
export { initializeMode } from 'monaco-graphql/lite';
