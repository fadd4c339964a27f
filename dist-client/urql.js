export * from './urql-cache.js';
export * from './index.js';
