/** The events of GraphQL over Server-Sent Events, in both of its modes. */

/** Of every stream. Proxies that compress would hold events back; `none` keeps them from it. */
export const eventHeaders = { 'content-encoding': 'none', 'cache-control': 'no-cache' };

/** Before the JSON of a result. */
export const nextEvent = 'event: next\ndata: ';
/** Before the data of the end of an operation. */
export const completeEvent = 'event: complete\ndata:';
export const eventEnd = '\n\n';
/** A comment. Proxies see traffic, and browsers see the head of the answer. */
export const ping = ':\n\n';
export const pingMs = 12_000;
