/** The form that asks for a bearer token, over the whole page. It is made when it is first needed. */
import { typedToken } from './caller-token.ts';
import { element } from './element.ts';

interface Question {
  /** Why a token is needed; empty if the person asked for the form. */
  readonly message: string;
  /** The text of the input at first. */
  readonly text: string;
  /** May the person close the form without a token? */
  readonly canCancel: boolean;
  /** Tries a token. Resolves to what is wrong with it, or to null if the gateway accepts it. */
  readonly attempt: (token: string) => Promise<string | null>;
}

export class TokenForm {
  readonly #behind: HTMLElement;
  #shown: HTMLElement | null = null;

  /** @param behind the form is shown over this element and its siblings, which cannot be used meanwhile. */
  constructor(behind: HTMLElement) {
    this.#behind = behind;
  }

  get isOpen(): boolean {
    return this.#shown !== null;
  }

  /** Shows the form until a token is accepted or the form is closed. */
  open({ message, text, canCancel, attempt }: Question): void {
    this.#close();
    const input = element('input', {
      id: 'portolan-token',
      type: 'password',
      required: true,
      autocomplete: 'off',
      spellcheck: false,
      value: text,
    });
    input.setAttribute('aria-describedby', 'portolan-token-help portolan-token-problem');
    const problem = element('p', { id: 'portolan-token-problem', role: 'alert' }, message);
    const proceed = element('button', { type: 'submit' }, 'Continue');
    const cancel = element('button', { type: 'button', hidden: !canCancel, onclick: () => this.#close() }, 'Cancel');
    const form = element(
      'form',
      { onsubmit: (event) => void submit(event) },
      element('h1', { id: 'portolan-token-title' }, 'Portolan needs a token'),
      element(
        'p',
        { id: 'portolan-token-help' },
        'Paste a bearer token that your cluster accepts. You see what your rights in the cluster allow. ' +
          'The token is kept for this tab only, until you forget it or close the tab.',
      ),
      element('p', {}, 'This command makes a token of a service account:'),
      element('pre', { tabIndex: 0 }, 'kubectl create token NAME --namespace NAMESPACE'),
      element('label', { htmlFor: input.id }, 'Bearer token'),
      input,
      problem,
      element('div', {}, proceed, cancel),
    );
    const submit = async (event: Event): Promise<void> => {
      event.preventDefault();
      const token = typedToken(input.value);
      proceed.disabled = true;
      const wrong = token === null ? 'A token is one word without spaces.' : await attempt(token);
      proceed.disabled = false;
      if (wrong === null) return this.#close();
      problem.textContent = wrong;
      input.setAttribute('aria-invalid', 'true');
      input.focus();
      input.select();
    };
    const shown = element('section', { className: 'portolan-access', role: 'dialog', ariaModal: 'true' }, form);
    shown.setAttribute('aria-labelledby', 'portolan-token-title');
    shown.onkeydown = ({ key }) => {
      if (key === 'Escape' && canCancel) this.#close();
    };
    this.#setInert(true);
    this.#behind.after(shown);
    this.#shown = shown;
    input.focus();
  }

  #close(): void {
    this.#shown?.remove();
    this.#shown = null;
    this.#setInert(false);
  }

  #setInert(inert: boolean): void {
    for (const each of this.#behind.parentElement?.children ?? []) (each as HTMLElement).inert = inert;
  }
}
