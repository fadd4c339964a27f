/** Reads the page of the playground. */

/** The options that the page passes to its script. */
export function pageOptionsIn(html: string): unknown {
  return JSON.parse(/<script type="application\/json" id="portolan-options">(.*)<\/script>/.exec(html)?.[1] ?? 'null');
}
