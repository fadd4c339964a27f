/** Reads the documents of HTTP, event streams and WebSockets by src/graphql/document/documents.ts, which limits and charges them. */
import type { Plugin } from 'graphql-yoga';
import type { Documents } from '../../graphql/document/documents.ts';
import type { OperationContext } from '../../graphql/generation/generation.ts';
import type { AdmittedContext } from './entry-context.ts';

export function useDocuments(documents: Documents): Plugin<OperationContext> {
  return {
    onParse({ context, setParseFn }) {
      const { admitted } = context as unknown as AdmittedContext;
      setParseFn((source) => documents.parse(source, admitted));
    },
    onValidate({ setValidationFn }) {
      setValidationFn((schema, document) => documents.validate(schema, document));
    },
  };
}
