import { type ErrorCode, EstateError } from '../../../platform/errors.ts';

/** An error about a query option; `at` counts characters of its text from 0. */
const queryError =
  (code: ErrorCode) =>
  (option: string, message: string, at?: number): EstateError => {
    const place = at === undefined ? '' : ` (at character ${at + 1})`;
    return new EstateError(code, `${option}: ${message}${place}`, {
      extra: { target: option, ...(at === undefined ? {} : { position: at + 1 }) },
    });
  };

/** The error of a query option that cannot be parsed or does not match the model. */
export const invalidQuery = queryError('odata_invalid_query');

/** The error of an OData feature that this service does not support. */
export const notSupported = queryError('odata_not_implemented');
