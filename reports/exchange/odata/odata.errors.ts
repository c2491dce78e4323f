import { EstateError } from '../../../platform/errors.ts';

/** The refusal of a query option that cannot be read or does not fit the model; `at` counts characters from 0. */
export function invalidQuery(option: string, message: string, at?: number): EstateError {
  const place = at === undefined ? '' : ` (at character ${at + 1})`;
  return new EstateError('odata_invalid_query', `${option}: ${message}${place}`, {
    extra: { target: option, ...(at === undefined ? {} : { position: at + 1 }) },
  });
}

/** The refusal of what OData knows and this service does not offer. */
export function notOffered(target: string, message: string, at?: number): EstateError {
  const place = at === undefined ? '' : ` (at character ${at + 1})`;
  return new EstateError('odata_not_implemented', `${target}: ${message}${place}`, {
    extra: { target, ...(at === undefined ? {} : { position: at + 1 }) },
  });
}
