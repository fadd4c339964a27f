/**
 * The caller of a gateway with authentication.
 *
 *   page loads -> the gateway accepts the kept token, or a request without one (a proxy or a certificate names the caller) -> entered
 *              -> it does not: form -> the token is accepted and kept -> entered
 *   entered    -> a request is refused, or the person wants another token: form -> the new token is kept, and the page loads again
 *              -> the person forgets the token: it is removed, and the page loads again
 *
 * A page that loads again has nothing of what another caller saw.
 */
import { CallerToken, subjectOf } from './caller-token.ts';
import { element } from './element.ts';
import type { Caller } from './fetcher.ts';
import { post } from './post.ts';
import { TokenForm } from './token-form.ts';

/** The gateway's opinion of a token. */
type Opinion =
  | { readonly accepted: true; readonly clusters: string }
  | { readonly accepted: false; readonly isRefused: boolean; readonly message: string };

export class CallerAccess implements Caller {
  readonly #endpoint: string;
  readonly #root: HTMLElement;
  readonly #token: CallerToken;
  readonly #form: TokenForm;

  /** @param root the element of GraphiQL. */
  constructor(endpoint: string, root: HTMLElement, storage: globalThis.Storage) {
    this.#endpoint = endpoint;
    this.#root = root;
    this.#token = new CallerToken(storage);
    this.#form = new TokenForm(root);
  }

  authorization(): string | null {
    const { text } = this.#token;
    return text === null ? null : bearer(text);
  }

  refused(message: string): void {
    if (!this.#form.isOpen) this.#askForAnother(message);
  }

  /** Resolves when the gateway accepts the caller, to a text that tells this caller and these clusters from others. */
  async enter(): Promise<string> {
    const opinion = await this.#ask(this.#token.text);
    if (opinion.accepted) return this.#entered(opinion.clusters);
    const isFirst = opinion.isRefused && this.#token.text === null;
    if (opinion.isRefused) this.#token.forget();
    return new Promise((resolve) => {
      this.#form.open({
        // A first question for the token is not an error.
        message: isFirst ? '' : opinion.message,
        text: this.#token.text ?? '',
        canCancel: false,
        attempt: (token) => this.#attempt(token, (clusters) => resolve(this.#entered(clusters))),
      });
    });
  }

  #askForAnother(message: string): void {
    const attempt = (token: string): Promise<string | null> => this.#attempt(token, () => location.reload());
    this.#form.open({ message, text: '', canCancel: true, attempt });
  }

  /** Keeps the token if the gateway accepts it. */
  async #attempt(token: string, accepted: (clusters: string) => void): Promise<string | null> {
    const opinion = await this.#ask(token);
    if (!opinion.accepted) return opinion.message;
    this.#token.keep(token);
    accepted(opinion.clusters);
    return null;
  }

  async #ask(token: string | null): Promise<Opinion> {
    const headers: Record<string, string> = token === null ? {} : { authorization: bearer(token) };
    const { status, answer } = await post(this.#endpoint, { query: '{ clusters { name } }' }, headers);
    if (status !== 200) {
      const message = answer.errors?.[0]?.message ?? `The gateway answers with status ${status}.`;
      return { accepted: false, isRefused: status === 401, message };
    }
    const { clusters = [] } = (answer.data ?? {}) as { readonly clusters?: readonly { readonly name: string }[] };
    return { accepted: true, clusters: clusters.map(({ name }) => name).join(',') };
  }

  /** Shows whose token is in use. Without a token there is nothing to forget. */
  #entered(clusters: string): string {
    const { text } = this.#token;
    if (text === null) return clusters;
    const subject = subjectOf(text);
    const replace = (): void => this.#askForAnother('');
    const forget = (): void => {
      this.#token.forget();
      location.reload();
    };
    this.#root.before(
      element(
        'header',
        { className: 'portolan-caller' },
        element('span', {}, subject === null ? 'Requests are sent with your token.' : `Token of ${subject}`),
        element('button', { type: 'button', onclick: replace }, 'Use another token'),
        element('button', { type: 'button', onclick: forget }, 'Forget the token'),
      ),
    );
    return subject === null ? clusters : `${clusters} ${subject}`;
  }
}

function bearer(token: string): string {
  return `Bearer ${token}`;
}
