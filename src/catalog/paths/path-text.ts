/** Paths in configuration files, as zod reads them. */
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { isDerived, type Path, parsePath } from '../tree/path.ts';

/** The path of a text. */
export const pathText = z.string().transform((text, context): Path => {
  try {
    return parsePath(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});

/** The path of a value that stands in the body of an object. */
export const bodyPath = pathText.refine((path) => !isDerived(path), {
  error: ({ input }) => `${(input as Path).text} is not in the object; give a path of its body`,
});
