import { invalidFields } from '../../platform/errors.ts';
import { BAD_TEXT, unfit } from '../../platform/storable.ts';
import type { App } from '../types.ts';

/** Refuses, in path, query and body alike, what cannot be stored. */
export function registerStorable(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const faults = [request.params, request.query, request.body]
      .flatMap((part) => unfit(part))
      // texts in arguments of MCP are refused by the tool, which a model is told of
      .filter(({ code }) => code !== BAD_TEXT || request.url !== '/mcp');
    done(faults.length > 0 ? invalidFields(faults) : undefined);
  });
}
