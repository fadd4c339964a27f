/**
 * The errors of stored values that do not fit the schema of their field (src/catalog/values/displayed-value.ts).
 *
 * An execution has at most `mostErrors` of them (each message of a subscription is one), because each row of a page may have several. One
 * more error has the number of errors that are left out. It stands at the field of the first one. The number is read when the error is
 * written, after the execution.
 *
 *   1,000 misfits    100 errors at their fields, and 'The stored values of more fields do not fit …: 900.'
 */
import { PortolanError } from '../../base/errors.ts';
import { describeMisfit, type OnMisfit } from '../../catalog/values/displayed-value.ts';

const mostErrors = 100;

/** One for each execution, by its context value. */
const counters = new WeakMap<object, OnMisfit>();

/**
 * Makes an error of a misfit, or null for one too many. The executor puts the error at the field where it is the value.
 * @param context the context value of the execution
 */
export function misfitErrors(context: object): OnMisfit {
  return (misfit) => {
    const known = counters.get(context) ?? counter();
    counters.set(context, known);
    return known(misfit);
  };
}

function counter(): OnMisfit {
  let count = 0;
  return (misfit) => {
    count += 1;
    if (count > mostErrors + 1) return null;
    if (count === mostErrors + 1) return new LeftOut(() => count - mostErrors);
    const { stored, wanted } = describeMisfit(misfit);
    return new PortolanError(
      'VALUE_MISFIT',
      `The stored value is of the type ${stored}, and the field takes ${wanted}; \`raw\` and \`value(path:)\` show the value.`,
      { details: { stored } },
    );
  };
}

/** Its message and details are those of the time when they are read. */
class LeftOut extends PortolanError {
  constructor(count: () => number) {
    const text = (): string =>
      `The stored values of more fields do not fit, from this one on: ${count()}. They are null without an error.`;
    super('VALUE_MISFIT', text(), {
      details: {
        get leftOut() {
          return count();
        },
      },
    });
    Object.defineProperty(this, 'message', { get: text });
  }
}
