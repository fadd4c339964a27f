export * from './fold-changes.js';
export * from './resumable.js';
