import { type ErrorCode, EstateError } from '../../../platform/errors.ts';

/** The `scimType` values of RFC 7644, 3.12, that are used here. */
const kinds = {
  invalidFilter: 'scim_invalid_filter',
  invalidPath: 'scim_invalid_path',
  invalidSyntax: 'scim_invalid_syntax',
  invalidValue: 'scim_invalid_value',
  mutability: 'scim_mutability',
  noTarget: 'scim_no_target',
  uniqueness: 'scim_uniqueness',
} as const;

export type ScimErrorKind = keyof typeof kinds;

/** An error of the SCIM interface. */
export function scimError(kind: ScimErrorKind, detail: string): EstateError {
  return new EstateError(kinds[kind], detail);
}

/** The `scimType` of an error; undefined if RFC 7644 defines none. */
export function scimTypeOf(code: ErrorCode): ScimErrorKind | undefined {
  if (code === 'email_taken') return 'uniqueness';
  if (code === 'bad_body') return 'invalidSyntax';
  return Object.entries(kinds).find(([, known]) => known === code)?.[0] as ScimErrorKind | undefined;
}
