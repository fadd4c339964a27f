/** Enforces the limits on documents (src/graphql/document/document-limits.ts). */
import type { Plugin } from 'graphql-yoga';
import {
  type DocumentLimits,
  defaultLimits,
  depthAndAliases,
  parseWithin,
} from '../../graphql/document/document-limits.ts';

export function useLimits(limits: DocumentLimits = defaultLimits): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parseWithin(source, options, limits));
    },
    onValidate({ addValidationRule }) {
      addValidationRule(depthAndAliases(limits));
    },
  };
}
