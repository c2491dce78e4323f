import { EstateError } from '../../../platform/errors.ts';

/** The error of a query option that cannot be parsed or does not match the model; `at` counts characters from 0. */
export function invalidQuery(option: string, message: string, at?: number): EstateError {
  const place = at === undefined ? '' : ` (at character ${at + 1})`;
  return new EstateError('odata_invalid_query', `${option}: ${message}${place}`, {
    extra: { target: option, ...(at === undefined ? {} : { position: at + 1 }) },
  });
}

/** The error of an OData feature that this service does not support. */
export function notSupported(target: string, message: string, at?: number): EstateError {
  const place = at === undefined ? '' : ` (at character ${at + 1})`;
  return new EstateError('odata_not_implemented', `${target}: ${message}${place}`, {
    extra: { target, ...(at === undefined ? {} : { position: at + 1 }) },
  });
}
