/**
 * Compresses the answers of Yoga that have a whole body. Streams stay as they are. So do answers with `vary`: whoever made them has
 * negotiated their coding already.
 */
import type { Plugin } from 'graphql-yoga';
import { encodeBody, isCompressible } from '../negotiation/compression.ts';

/** Must be the last plugin, so that it compresses what the others answer. */
export function useCompression(): Plugin {
  return {
    async onResponse({ request, response, setResponse, fetchAPI }) {
      const { status, statusText, headers } = response;
      if (headers.has('vary') || !isCompressible(headers.get('content-type') ?? '')) return;
      const body = await response.text();
      const coded = await encodeBody(body, Buffer.byteLength(body), request.headers.get('accept-encoding'));
      const described = { ...Object.fromEntries(headers), ...coded.headers };
      setResponse(new fetchAPI.Response(coded.body as BodyInit, { status, statusText, headers: described }));
    },
  };
}
