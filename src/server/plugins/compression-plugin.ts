/**
 * Compresses the answers of Yoga that have a whole body, and makes those to GET conditional. Streams stay as they are. Answers with
 * `vary` do too: their coding has been negotiated already.
 */
import type { Plugin } from 'graphql-yoga';
import { headOfText } from '../../operation/answers/answer-text.ts';
import { encodeBody, isCompressible } from '../negotiation/compression.ts';
import { entityTag, isNotModified, taggedHeaders } from '../negotiation/entity-tag.ts';

/** Must be the last plugin, so that it compresses what the others answer. */
export function useCompression(): Plugin {
  return {
    async onResponse({ request, response, setResponse, fetchAPI }) {
      const { status, statusText, headers } = response;
      const type = headers.get('content-type') ?? '';
      if (headers.has('vary') || !isCompressible(type)) return;
      const body = await response.text();
      let tagged: Readonly<Record<string, string>> = {};
      if (request.method === 'GET' && status === 200 && isJson(type)) {
        const tag = entityTag(headOfText(body) ?? body, type);
        tagged = taggedHeaders(tag);
        if (isNotModified(request.headers.get('if-none-match'), tag)) {
          return setResponse(new fetchAPI.Response(null, { status: 304, headers: tagged }));
        }
      }
      const coded = await encodeBody(body, Buffer.byteLength(body), request.headers.get('accept-encoding'));
      const described = { ...Object.fromEntries(headers), ...coded.headers, ...tagged };
      setResponse(new fetchAPI.Response(coded.body as BodyInit, { status, statusText, headers: described }));
    },
  };
}

function isJson(type: string): boolean {
  return /^application\/(graphql-response\+)?json\b/.test(type);
}
