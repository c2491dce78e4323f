import { registerHooks } from 'node:module';

/**
 * Loaded before a generator of clients (`node --import`): TypeScript 7 has no programming interface for code that is made, so
 * that generators get TypeScript 6 for it.
 */
registerHooks({
  resolve: (name, context, next) =>
    name === 'typescript'
      ? next('@typescript/typescript6', { ...context, parentURL: import.meta.url })
      : next(name, context),
});
