/** Paths given as options, checked before anything starts. */
import { messageOf, PortolanError } from '../base/errors.ts';
import { parsePath } from '../catalog/tree/path.ts';

/** @throws PortolanError CONFIGURATION naming the option and what is wrong with the path. */
export function checkPaths(flag: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      parsePath(path);
    } catch (error) {
      throw new PortolanError('CONFIGURATION', `${flag}: ${messageOf(error)}`, { cause: error });
    }
  }
}
