import { invalidFields } from '../../platform/errors.ts';
import { BAD_TEXT, storageErrors } from '../../platform/storable.ts';
import type { App } from '../types.ts';

/** Refuses text in path, query and body that PostgreSQL cannot store. */
export function registerStorable(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const errors = [request.params, request.query, request.body]
      .flatMap((part) => storageErrors(part))
      // MCP tools check their arguments themselves, so that the model gets the error
      .filter(({ code }) => code !== BAD_TEXT || request.url !== '/mcp');
    done(errors.length > 0 ? invalidFields(errors) : undefined);
  });
}
