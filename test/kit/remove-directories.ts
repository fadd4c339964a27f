/** Runs in each test file before its own hooks are registered, so that this hook runs after them. */
import { afterAll } from 'vitest';
import { removeDirectories } from './temporary-directory.ts';

afterAll(removeDirectories);
