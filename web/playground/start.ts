/** The module of the page itself. It asks for the caller, then loads GraphiQL. */
import { CallerAccess } from './caller-access.ts';
import { element } from './element.ts';
import { messageOf } from './post.ts';
import type { PageOptions } from './show-graphiql.ts';
import { localCaller } from './start-token.ts';

/** Of the gateway. The parts of the page (src/server/playground/parts.ts) have it too, whatever a proxy made of its path. */
const endpoint = new URL(location.pathname, location.href).href;
const urlOf = (part: string): string => `${endpoint}?playground=${part}`;
const failed = 'The editor could not be loaded from the gateway. Load the page again.';

void start();

/** Shows GraphiQL when the gateway accepts the caller. */
async function start(): Promise<void> {
  const [root, given] = ['root', 'portolan-options'].map((id) => document.getElementById(id));
  if (root == null || given == null) throw new Error('the page has not the elements of its script');
  const options = JSON.parse(given.textContent ?? '') as PageOptions;
  const access = options.authenticates ? new CallerAccess(endpoint, root, sessionStorage) : null;
  const keptFor = access === null ? options.keptFor : await access.enter();
  const progress = element('p', { className: 'portolan-loading', role: 'status' }, 'Loading the editor …');
  root.before(progress);
  try {
    const [{ showGraphiql }] = await Promise.all([loadModule(), loadStyles()]);
    showGraphiql(root, endpoint, access ?? localCaller(location, history, sessionStorage), { ...options, keptFor });
    progress.remove();
  } catch (error) {
    progress.textContent = messageOf(error);
    progress.role = 'alert';
  }
}

function loadModule(): Promise<typeof import('./show-graphiql.ts')> {
  return import(urlOf('graphiql.js')).catch((cause: unknown) => {
    throw new Error(failed, { cause });
  });
}

function loadStyles(): Promise<void> {
  return new Promise((resolve, reject) => {
    const onload = (): void => resolve();
    const onerror = (): void => reject(new Error(failed));
    document.head.append(element('link', { rel: 'stylesheet', href: urlOf('graphiql.css'), onload, onerror }));
  });
}
