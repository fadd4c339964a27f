/** The faults in the body of a list. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Faults } from './faults.ts';
import { piecesOf } from './faulty-wire.ts';
import { hideVersions } from './opaque-versions.ts';

/** The body after faults: the text to send, or undefined when this function has sent the response itself. */
export function faultyList(
  faults: Faults,
  resource: string,
  response: ServerResponse,
  pieces: Iterable<string>,
): Iterable<string> | undefined {
  if (!faults.active) return pieces;
  let text = [...pieces].join('');
  if (faults.on('F52', resource) && text.includes('"items":[]') && faults.take('F52', resource)) {
    text = text.replace('"items":[]', '"items":null');
  }
  if (faults.take('F53', resource)) text = hideVersions(text);
  const type = { 'Content-Type': 'application/json' };
  const cut = faults.take('F12', resource);
  if (cut) {
    // Contains the metadata and most items; only the end is missing.
    const part = text.slice(0, Math.floor(text.length * 0.8));
    if (cut.form === 'length') {
      response.writeHead(200, { ...type, 'Content-Length': Buffer.byteLength(text) });
      response.write(part, () => response.destroy());
    } else if (cut.form === 'chunk') {
      response.writeHead(200, type);
      response.write(part);
      response.socket?.write('no length\r\nno chunk\r\n');
    } else {
      response.writeHead(200, type).end(part);
    }
    return undefined;
  }
  if (faults.on('F54', resource)?.form === 'gzip' && faults.take('F54', resource)) {
    response.writeHead(200, { ...type, 'Content-Encoding': 'gzip' }).end(gzipSync(text));
    return undefined;
  }
  const bytes = faults.take('F38', resource)?.bytes;
  if (bytes === undefined) return [text];
  response.writeHead(200, type);
  for (const piece of piecesOf(text, bytes)) response.write(piece);
  response.end();
  return undefined;
}
